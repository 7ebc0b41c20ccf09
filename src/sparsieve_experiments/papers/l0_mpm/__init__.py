"""The experiments of the l0-MPM paper."""

from __future__ import annotations

from ..base import Experiment, Preset
from ..levels import left_out
from .claims import claims_of
from .figures import kernels, spam
from .settings import SCALES
from .synthetic import recovery, steepness
from .tables import convergence, levels, ratio_machine, scores

PRESET = Preset(
    "l0-mpm",
    "L. Yang, R. Ju: A DC programming approach for feature selection in the Minimax Probability "
    "Machine (2013)",
    (
        Experiment("table 1", "data sets", levels),
        Experiment("theorem 1", "convergence of the DC algorithm", convergence),
        Experiment("table 2 and figures 2 to 4", "Spam over alpha and delta", spam),
        Experiment("tables 3 and 4, figure 5", "MPM, L1-MPM and L0-MPM", scores),
        Experiment("tables 5, 6 and 7", "L0-MPM and S-MPM", ratio_machine),
        Experiment("figures 6 and 7", "Gaussian kernels", kernels),
        Experiment("figure 8", "synthetic data over alpha and delta", steepness),
        Experiment("figure 9", "synthetic data, three machines", recovery),
    ),
    coarser=left_out(__package__, SCALES),
    claims=claims_of,
)
