"""Selectors that fit a model, one file per published method."""

__all__: list[str] = []
