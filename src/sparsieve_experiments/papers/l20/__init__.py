"""The experiments of the l2,0-norm regularisation paper: gene sets, 5-NN and softmax."""

from __future__ import annotations

from ..base import Experiment, Preset
from ..data import data_table
from ..levels import left_out
from .claims import claims_of
from .convergence import descent_of_hiht, descents, seconds
from .curves import accuracy_curves, accuracy_table
from .plan import SCALES
from .sensitivity import hiht_against_ahiht, initialisations, sensitivity_to_lambda

PRESET = Preset(
    "l20",
    "Z. Sun, Y. Yu: Robust multi-class feature selection via l2,0-norm regularization minimization",
    (
        Experiment("Table I", "Data sets", data_table),
        Experiment("Figure 1", "Objective of HIHT at every step", descent_of_hiht),
        Experiment("Table II", "Best accuracy and number of features", accuracy_table),
        Experiment("Figures 2 and 3", "Accuracy over the number of features", accuracy_curves),
        Experiment("Figure 4", "Sensitivity to lambda", sensitivity_to_lambda),
        Experiment("Figure 5", "Sensitivity to the initial W", initialisations),
        Experiment("Figure 6", "Objective at every iteration", descents),
        Experiment("Figure 7", "Computation time", seconds),
        Experiment("Figure 8", "HIHT against AHIHT", hiht_against_ahiht),
    ),
    left_out(__package__, SCALES),
    claims=claims_of,
)
