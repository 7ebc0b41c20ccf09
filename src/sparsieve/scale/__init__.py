"""X that is not an array in memory: in files, on GPUs, on clusters.

The core imports none of this. A type of X is served by what an entry point of the group
``sparsieve.designs`` names for the package that the type comes from.
"""
