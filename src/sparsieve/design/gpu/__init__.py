"""X on a GPU, or streamed to one."""
