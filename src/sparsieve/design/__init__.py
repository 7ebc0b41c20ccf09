"""What X can do: dense, sparse and lazily scaled designs behind one interface."""

from .base import DesignMatrix
from .convert import as_design, standardised
from .deflated import Deflated, blanked, deflated
from .dense import DenseDesign
from .double import in_double
from .scaled import Scaled
from .sparse import SparseDesign

__all__ = [
    "Deflated",
    "DenseDesign",
    "DesignMatrix",
    "Scaled",
    "SparseDesign",
    "as_design",
    "blanked",
    "deflated",
    "in_double",
    "standardised",
]
