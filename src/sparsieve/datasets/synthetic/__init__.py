"""Synthetic data whose relevant features are known.

Relevant features sit at random columns (``relevant`` gives their indices, sorted); the others are
standard normal noise. Classes are as equal in size as n_samples allows. The same ``random_state``
gives the same data.
"""
