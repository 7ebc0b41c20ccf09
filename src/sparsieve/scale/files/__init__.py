"""X in files larger than memory, read in blocks of rows."""
