"""Parameters that had other names: who uses an old one is told the new one."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

_HOMOTOPY = ("init", "L_0", "lambda_0", "eta", "growth")

# By class and old name: what to write instead.
OLD_NAMES: dict[str, dict[str, str]] = {
    "FisherSelector": {"generalised": "generalized"},
    "InfoGainSelector": {"discretise": "discretize"},
    "L0MPMSelector": {"alpha": "theta"},
    "L20Selector": {
        "loss": "RobustL20Selector(alpha=0, lam=...) for an l2,1 loss",
        "swaps": "solver=Greedy(swaps=...)",
        "rho": "solver=HIHT(decay=...)",
        **{name: f"solver=HIHT({name}=...)" for name in _HOMOTOPY},
    },
    "MRMRSelector": {"discretise": "discretize"},
    "RFSSelector": {"gamma": "alpha"},
    "RLSRSelector": {"gamma": "alpha"},
    "RobustL20Selector": {"gamma": "alpha"},
    "SMPMSelector": {"lam": "alpha"},
    "SparseKernelMPMClassifier": {"alpha": "theta"},
}


def replacement(cls: type, name: str) -> str | None:
    """What to write instead of a parameter that ``cls`` does not take any more, if it ever did."""
    for kind in cls.__mro__:
        found = OLD_NAMES.get(kind.__name__, {}).get(name)
        if found is not None:
            return None if name in cls._get_param_names() else found  # type: ignore[attr-defined]
    return None


class TakesNoOldNames(BaseEstimator):
    """Mixin of estimators that answer old names of their parameters with the new ones."""

    # Not __init__: scikit-learn, editors and type checkers read the parameters from its signature.
    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Refuse old names before ``__init__`` says that it has never heard of them."""
        for name in params:
            if (instead := replacement(cls, name)) is not None:
                raise TypeError(f"{cls.__name__} has no parameter {name!r} any more; use {instead}")
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Any:
        """Set the parameters of this estimator.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : object
            This estimator.
        """
        for name in params:
            if (instead := replacement(type(self), name)) is not None:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r} any more; use {instead}"
                )
        return super().set_params(**params)
