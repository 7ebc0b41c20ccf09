"""Which model the test against a guess is about, and what it therefore leaves open."""

from __future__ import annotations

from dataclasses import dataclass

_CURVED = {
    "classification": "HistGradientBoostingClassifier()",
    "regression": "HistGradientBoostingRegressor()",
    "counts": 'HistGradientBoostingRegressor(loss="poisson")',
}


@dataclass(frozen=True)
class TestedModel:
    """The model whose held-out predictions were tested.

    Attributes
    ----------
    task : str
        How the target is read.
    name : str
        What a model is called that was given; empty for the usual ones, which are linear.

    Examples
    --------
    >>> from sparsieve.meta.tested import TestedModel
    >>> TestedModel("regression").fails
    'No linear model of the selected features predicts'
    >>> TestedModel("regression", "SVR").beyond
    'Other models were not tested: try estimator=HistGradientBoostingRegressor(), for example'
    """

    task: str = ""
    name: str = ""

    @property
    def fails(self) -> str:
        """The subject and the verb of what is said where it is no better than a guess."""
        if self.name:
            return f"{self.name} on the selected features does not predict"
        return "No linear model of the selected features predicts"

    @property
    def words(self) -> str:
        """The model itself."""
        return self.name or "a linear model"

    @property
    def beyond(self) -> str:
        """What was not tested, and what to try."""
        said, curved = "Other models were not tested", _CURVED.get(self.task, "")
        if not curved or curved.startswith(f"{self.name}("):
            return said
        if self.name:
            return f"{said}: try estimator={curved}, for example"
        also = ", also with the method info-gain" * (self.task == "classification")
        return f"{said}: for curves and interactions try estimator={curved} in Python{also}"


LINEAR = TestedModel()  # the usual one, of a task that is not known
