"""X in the chunks of a Dask cluster."""
