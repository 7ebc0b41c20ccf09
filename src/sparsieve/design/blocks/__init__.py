"""X in blocks of rows, wherever they lie: moments, Gram matrices and products, block by block."""
