"""X on a GPU, or streamed to one, and what runs beside it there."""
