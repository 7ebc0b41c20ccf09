"""Negative log-likelihoods: logistic, multinomial, counts and survival."""

__all__: list[str] = []
