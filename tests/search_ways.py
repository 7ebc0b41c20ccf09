"""The ways of the exact search, which data alone would choose between."""

from sparsieve.solvers.exact import branch_and_bound as exact

# All supports, leaps and bounds to the end, the relaxation, a mixture.
WAYS = [
    {},
    {"MAX_ENUMERATED": 0, "MAX_LEAVES": 1},
    {"MAX_ENUMERATED": 0, "MAX_LEAVES": 1, "WEAK_BOUND_SHARE": -1.0, "LEAPS_MAX_FEATURES": 0},
    {"MAX_ENUMERATED": 0, "MAX_LEAVES": 4, "WEAK_BOUND_SHARE": -1.0},
]


def search_as(way, monkeypatch):
    """Make exact searches go this way."""
    for name, value in WAYS[way % len(WAYS)].items():
        monkeypatch.setattr(exact, name, value)
