"""Selectors that fit a model, one file per published method."""

from .esfs import ESFSSelector
from .exact_penalty_svm import ExactPenaltySVMSelector
from .exclusive import ClassHeatmap, ExclusiveL21Selector
from .exclusive_lasso import ExclusiveLassoSelector
from .l0_mkl import L0MKLSelector
from .l0_svm import L0SVMSelector
from .l20 import L20Selector
from .l21 import L21Selector
from .mik_fs import MIKFSSelector
from .mpm import MPMClassifier
from .mpm_kernel import SparseKernelMPMClassifier
from .mpm_level import L0MPMSelector, L1MPMSelector
from .mpm_ratio import SMPMSelector
from .rfs import RFSPath, RFSSelector
from .ridge_forward import RidgeForwardSelector
from .rlsr import RLSRSelector
from .robust_l20 import RobustL20Selector, SupportPath
from .rpmfs import RPMFSSelector
from .svm_rfe import SVMRFESelector

__all__ = [
    "ClassHeatmap",
    "ESFSSelector",
    "ExactPenaltySVMSelector",
    "ExclusiveL21Selector",
    "ExclusiveLassoSelector",
    "L0MKLSelector",
    "L0MPMSelector",
    "L0SVMSelector",
    "L1MPMSelector",
    "L20Selector",
    "L21Selector",
    "MIKFSSelector",
    "MPMClassifier",
    "RFSPath",
    "RFSSelector",
    "RLSRSelector",
    "RPMFSSelector",
    "RidgeForwardSelector",
    "RobustL20Selector",
    "SMPMSelector",
    "SVMRFESelector",
    "SparseKernelMPMClassifier",
    "SupportPath",
]
