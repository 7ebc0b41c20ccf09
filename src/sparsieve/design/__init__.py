"""What X can do: dense, sparse and lazily scaled designs behind one interface."""

from .base import DesignMatrix
from .blocks.class_codes import Coded, code_sizes
from .blocks.lazy_gram import can_condense, to_condense, without_samples
from .blocks.row_blocks import RowBlockedDesign
from .dense import DenseDesign
from .ranking import best_first, falling, leading, ranks
from .sparse import SparseDesign
from .standardise import as_design, external_design, standardise_columns
from .views import Deflated, Scaled, blank_columns, deflate, in_double, own_passes

__all__ = [
    "Coded",
    "Deflated",
    "DenseDesign",
    "DesignMatrix",
    "RowBlockedDesign",
    "Scaled",
    "SparseDesign",
    "as_design",
    "best_first",
    "blank_columns",
    "can_condense",
    "code_sizes",
    "deflate",
    "external_design",
    "falling",
    "in_double",
    "leading",
    "own_passes",
    "ranks",
    "standardise_columns",
    "to_condense",
    "without_samples",
]
