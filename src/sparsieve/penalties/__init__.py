"""Penalties on the rows of a coefficient matrix, one file each, and the l0 surrogates."""

from .base import GroupPenalty, Penalty, critical_strength, require, row_norms
from .exclusive import ExclusiveL21
from .l1inf import L1Inf
from .l20 import L20
from .l21 import L21
from .mcp import MCP
from .sparse_group import SparseGroup
from .squared_l21 import SquaredL21
from .surrogates import SURROGATES, Surrogate, surrogate
from .top_k import TopKGap

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
