"""The commands ``sparsieve study`` and ``sparsieve reproduce``."""
