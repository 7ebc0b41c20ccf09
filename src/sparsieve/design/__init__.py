"""What X can do: dense, sparse and lazily scaled designs behind one interface."""

from .base import DesignMatrix
from .blocked import RowBlockedDesign
from .coded import Coded, code_sizes
from .condense import can_condense, condensed
from .convert import as_design, standardised
from .deflated import Deflated, blanked, deflated
from .dense import DenseDesign
from .double import in_double
from .fetched import without_samples
from .foreign import foreign_design
from .ranking import falling, leading, ranks
from .rows import contiguous_rows, own_passes
from .scaled import Scaled
from .sparse import SparseDesign

__all__ = [
    "Coded",
    "Deflated",
    "DenseDesign",
    "DesignMatrix",
    "RowBlockedDesign",
    "Scaled",
    "SparseDesign",
    "as_design",
    "blanked",
    "can_condense",
    "code_sizes",
    "condensed",
    "contiguous_rows",
    "deflated",
    "falling",
    "foreign_design",
    "in_double",
    "leading",
    "own_passes",
    "ranks",
    "standardised",
    "without_samples",
]
