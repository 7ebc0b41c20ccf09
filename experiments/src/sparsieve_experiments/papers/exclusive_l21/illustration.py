"""Equations 1 and 2: the three penalties on eight samples with seven features and three classes."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from sparsieve.papers.exclusive_l21.exclusive_lasso import ExclusiveLassoSelector
from sparsieve.papers.exclusive_l21.selector import ExclusiveL21Selector

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import picked

X = np.array(
    [
        [0.463, 0.319, -0.100, 0.526, 0.535, 0.329, 0.475],
        [0.296, 0.192, 0.058, -0.076, 0.152, 0.313, -0.114],
        [0.196, 0.189, 0.167, -0.280, 0.267, -0.246, 0.164],
        [0.330, 0.357, 0.027, -0.001, 0.118, 0.058, 0.191],
        [0.332, 0.035, -0.002, 0.280, 0.111, -0.043, 0.104],
        [-0.022, -0.026, 0.770, 0.189, 0.196, -0.146, -0.121],
        [-0.217, 0.028, 0.404, 0.359, 0.335, -0.282, -0.235],
        [0.396, 0.297, 0.260, 0.241, 0.193, 0.038, 0.101],
    ]
)
Y = np.array(
    [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1]], float
)
# The strengths are not printed; these fit the printed coefficients best.
STRENGTHS = {"l2,1": (1.6, 0.0), "exclusive lasso": (0.0, 0.9), "exclusive l2,1": (1.0, 1.9)}
LASSO = ExclusiveLassoSelector()


def solve_illustration(setting: dict) -> dict:
    """Coefficients under one of the penalties."""
    selector = ExclusiveL21Selector(alpha=setting["alpha"]) if setting["alpha"] else LASSO
    fitted = clone(selector).set_params(
        beta=setting["beta"], fit_intercept=False, standardize=False, task="regression", tol=1e-9
    )
    return {"coefficients": fitted.fit(X, Y).coef_.T.tolist()}


def illustrated(bench: Bench) -> list[Exhibit]:
    """How many coefficients and features every penalty keeps."""
    settings = [
        {"method": method, "alpha": alpha, "beta": beta}
        for method, (alpha, beta) in STRENGTHS.items()
    ]
    rows = [
        _counted(found)
        for found in bench.jobs("exclusive-l21 illustration", solve_illustration, settings)
    ]
    return [exhibit(__package__, "Equation 2", rows)]


def _counted(found: dict) -> dict:
    kept = np.abs(np.array(found["coefficients"])) >= 5e-4  # the paper prints three decimals
    return {
        **picked(found, "method", "alpha", "beta"),
        "nonzeros": int(kept.sum()),
        "published_nonzeros": 12,
        "features_kept": int(kept.any(axis=1).sum()),
        "features_of_all_classes": int(kept.all(axis=1).sum()),
        "features_of_some_classes": int((kept.any(axis=1) & ~kept.all(axis=1)).sum()),
    }
