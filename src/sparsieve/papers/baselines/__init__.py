"""What the papers compared their methods with, one file per method; ``solvers`` has the engines."""

from .esfs import ESFSSelector
from .hsic_lasso import HSICLassoSelector
from .inf_fs import InfFSSelector
from .l0_svm import ExactPenaltySVMSelector, L0SVMSelector
from .laplacian import LaplacianScoreSelector
from .rlsr import RLSRSelector
from .rpmfs import RPMFSSelector
from .udfs import UDFSSelector

__all__ = [
    "ESFSSelector",
    "ExactPenaltySVMSelector",
    "HSICLassoSelector",
    "InfFSSelector",
    "L0SVMSelector",
    "LaplacianScoreSelector",
    "RLSRSelector",
    "RPMFSSelector",
    "UDFSSelector",
]
