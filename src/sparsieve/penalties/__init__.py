"""Penalties on the rows of a coefficient matrix, one file each, and the l0 surrogates."""

from .base import GroupPenalty, Penalty, critical_strength, require, row_norms
from .concave import L20, MCP, SURROGATES, Surrogate, TopKGap, surrogate
from .convex import L21, ExclusiveL21, L1Inf, SparseGroup, SquaredL21

#: Penalties that selectors know by name: a new one is its file and a line here.
GROUP_PENALTIES: dict[str, type[GroupPenalty]] = {
    "l21": L21,
    "mcp": MCP,
    "sparse-group": SparseGroup,
}

__all__ = [
    "GROUP_PENALTIES",
    "L20",
    "L21",
    "MCP",
    "SURROGATES",
    "ExclusiveL21",
    "GroupPenalty",
    "L1Inf",
    "Penalty",
    "SparseGroup",
    "SquaredL21",
    "Surrogate",
    "TopKGap",
    "critical_strength",
    "require",
    "row_norms",
    "surrogate",
]
