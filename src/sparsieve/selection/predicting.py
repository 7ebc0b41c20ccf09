"""Predictions, decisions and their reasons: what a model on kept features can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline

from .._checks import format_names
from .._saved import Savable
from ..registry import selector_name
from ..selectors.likelihood.base import listed_times
from ..selectors.ranked import as_frame
from .model import like

if TYPE_CHECKING:
    from .explained import Explanation
    from .result import SelectedFeatures


def decide_labels(
    shares: np.ndarray,
    classes: np.ndarray,
    *,
    threshold: float | None = None,
    rate: float | None = None,
    cost: float | None = None,
    positive: Any = None,
) -> np.ndarray:
    """Labels of rows with these probabilities, as ``decide`` of a selection says.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.selection.predicting import decide_labels
    >>> shares = np.array([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]])
    >>> decide_labels(shares, np.array(["no", "yes"]), cost=2.0).tolist()
    ['no', 'no', 'yes']
    """
    given = {"threshold": threshold, "positive_rate": rate, "cost_of_missing": cost}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(
            f"decide needs exactly one of {', '.join(given)}, got {' and '.join(named) or 'none'}"
        )
    value = float(given[named[0]] or 0.0)
    most = np.inf if cost is not None else 1.0
    if not 0.0 <= value <= most or value == np.inf:
        between = "a number that is not negative" if cost is not None else "between 0 and 1"
        raise ValueError(f"{named[0]} must be {between}, got {given[named[0]]!r}")
    place = positive_place(classes, positive)
    own = shares[:, place]
    if rate is not None:
        n_most = int(np.floor(value * len(own) + 1e-9))
        # Rows of equal probability are positive together, or not at all.
        bar = np.sort(own)[::-1][n_most] if n_most < len(own) else -np.inf
        is_positive = own > bar
    else:
        is_positive = own >= (1.0 / (1.0 + value) if cost is not None else value)
    others = shares.copy()
    others[:, place] = -np.inf
    return np.asarray(classes)[np.where(is_positive, place, others.argmax(axis=1))]


def positive_place(classes: np.ndarray, positive: Any = None) -> int:
    """Where the positive class is among the classes: the second of two if nothing is said."""
    labels = np.asarray(classes).tolist()
    if positive is None:
        if len(labels) == 2:
            return 1
        raise ValueError(
            f"there are {len(labels)} classes ({format_names(labels)}): say which one is "
            "positive with "
            "positive="
        )
    if positive in labels:
        return labels.index(positive)
    texts = [str(label) for label in labels]
    if str(positive) in texts:  # as it is written on a command line
        return texts.index(str(positive))
    raise ValueError(
        f"positive={positive!r} is none of the classes, which are {format_names(labels)}"
    )


class Predicting:
    """What has a ``model`` and can be asked about new data."""

    model: Any
    task: Any

    def predict(self, X: Any) -> np.ndarray:
        """Predict by the model on the kept features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data: a data frame needs only the columns that the model uses; an array has all
            columns of the training data, or only those used.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, numbers, expected counts, or for survival times the risk: the larger,
            the earlier the event.
        """
        return self.model.predict(X)

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """``predict_proba(X)``: the probability of every class, where the model has them."""
        return self._of_model("predict_proba", "probabilities")

    @property
    def classes_(self) -> np.ndarray:
        """The classes, in the order of the columns of ``predict_proba``."""
        found: Any = self._of_model("classes_", "classes")
        return found

    @property
    def decision_function(self) -> Callable[[Any], np.ndarray]:
        """``decision_function(X)``: how far samples are on the side of a class."""
        return self._of_model("decision_function", "decision values")

    def decide(
        self,
        X: Any,
        *,
        threshold: float | None = None,
        positive_rate: float | None = None,
        cost_of_missing: float | None = None,
        positive: Any = None,
    ) -> np.ndarray:
        """Predict classes by a threshold of the probability, a rate of positives, or a cost.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data, as for :meth:`predict`.
        threshold : float, default=None
            Rows whose probability of the positive class is at least this are positive.
        positive_rate : float, default=None
            At most this share of the rows of X are positive: those with the largest probabilities.
            Unlike the other two, this depends on the other rows.
        cost_of_missing : float, default=None
            How many false alarms cost as much as one positive that is missed: the threshold with
            the smallest expected cost is 1 / (1 + cost).
        positive : label, default=None
            The positive class; needed for more than two classes, and the second of two otherwise.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels; of more than two classes the most probable other one where it is not positive.

        Examples
        --------
        >>> import sparsieve
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selected = sparsieve.select(X, y, k=3, check=False)
        >>> int(selected.decide(X, positive_rate=0.25).sum()), len(X)
        (142, 569)
        """
        shares = self.predict_proba(X)
        how = {"threshold": threshold, "rate": positive_rate, "cost": cost_of_missing}
        return decide_labels(np.asarray(shares), self.classes_, positive=positive, **how)

    def explain(self, X: Any) -> Explanation:
        """Split the decision of every row into what each feature contributes.

        The contributions are Shapley values: of linear models a coefficient times what a value
        differs from the mean of the training samples by, of boosted trees exact values along
        their paths, and of other models with at most 10 features by all sets of features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data, as for :meth:`predict`.

        Returns
        -------
        explanation : Explanation
            ``base``, ``contributions``, and their sum, the ``decision``: the log odds of two
            classes, scores of more, predicted numbers, logarithms of expected counts, or risks.

        Examples
        --------
        >>> import sparsieve
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> found = sparsieve.select(X, y, k=2, check=False).explain(X[:3])
        >>> found.features
        ['worst radius', 'worst concave points']
        >>> bool(abs(found.base + found.contributions.sum(axis=1) - found.decision).max() < 1e-9)
        True
        """
        from .explained import compute_contributions

        return compute_contributions(self.model, self.task, X)

    def _of_model(self, name: str, what: str) -> Callable[[Any], np.ndarray]:
        if hasattr(self.model, name):
            return getattr(self.model, name)
        last = type(self.model[-1]).__name__
        remedy = f"the task is {self.task}, which has none"
        if self.task == "classification":
            remedy = (
                "pass a model that has them to select, such as "
                "estimator=LogisticRegression(max_iter=1000)"
            )
        raise AttributeError(f"{last} predicts without {what}; {remedy}")

    def predict_survival(self, X: Any, times: Any, *, strata: Any = None) -> np.ndarray:
        """Predict the probability that the event has not happened by given times.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data, as for :meth:`predict`.
        times : array-like of shape (n_times,)
            Times, in the unit of the survival times.
        strata : array-like of shape (n_samples,), default=None
            The stratum of every sample, where the training data had strata.

        Returns
        -------
        survival : ndarray of shape (n_samples, n_times)
            Probabilities.
        """
        if self.task != "survival":
            raise AttributeError(
                f"predict_survival is for survival times, but the task is {self.task}; use predict"
            )
        Z, last = self.model[:-1].transform(X), self.model[-1]
        if hasattr(last, "predict_survival"):
            return last.predict_survival(Z, times, strata=strata)
        if strata is None and hasattr(last, "predict_survival_function"):
            asked = listed_times(times)
            curves = last.predict_survival_function(Z)
            # Outside the times that it knows such a curve raises an error: it is 1 before them.
            return np.array([[_step_value(curve, time) for time in asked] for curve in curves])
        raise AttributeError(
            f"{type(last).__name__} has no probabilities of survival; leave estimator out"
        )


def _step_value(curve: Any, time: float) -> float:
    """A step function at a time, from 1 on and constant after its last time."""
    before = np.searchsorted(curve.x, time, side="right") - 1
    return 1.0 if before < 0 else float(curve.a * curve.y[before] + curve.b)


@dataclass(frozen=True, repr=False, eq=False)
class SavedSelection(Predicting, Savable):
    """A selection without its training data, as :func:`~sparsieve.load` returns it.

    Attributes
    ----------
    model : Pipeline
        Kept columns, preparation and the model on them, fitted.
    columns : dict of str to ndarray
        One row for each kept feature, as in ``table``.
    features : list of str
        Names of the kept features, the best first.
    names : list of str
        Names of all features that the selection chose from.
    task : str
        "classification", "regression", "counts" or "survival".
    method : str
        The method that selected.
    held_out : dict or None
        What held-out samples said: metric, score, interval and so on.
    summary : str
        The selection in words.
    selector : selector or None
        The fitted selector; None where it is of a kind that a file cannot hold.
    library : str or None
        The library of the table.
    id_name : str
        The column of the training data that named the samples; empty where there was none.
    reading : dict or None
        Arguments of :func:`~sparsieve.app.io.read_table` that the training data were read with,
        where they came from a file: for new files, which are read alike.

    See Also
    --------
    sparsieve.save : Saves a selection.
    sparsieve.SelectedFeatures : What is saved.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "wine.sparsieve"
    ...     sparsieve.save(sparsieve.select(X, y, k=2), file)
    ...     again = sparsieve.load(file)
    >>> again.features
    ['proline', 'od280/od315_of_diluted_wines']
    >>> again.predict(X[["od280/od315_of_diluted_wines", "proline"]][:3])
    array([0, 0, 0])
    """

    _stands_alone: ClassVar[bool] = True  # in a file

    model: Pipeline
    columns: dict[str, Any]
    features: list[Any]
    names: list[str]
    task: str  # type: ignore[assignment]
    method: str
    held_out: dict[str, Any] | None
    summary: str
    selector: Any
    library: str | None
    id_name: str = ""
    reading: dict[str, Any] | None = None

    @property
    def table(self) -> Any:
        """One row per kept feature."""
        return as_frame(self.columns, self.library)

    def transform(self, X: Any) -> Any:
        """Reduce other data to the kept features, prepared as in training."""
        step = self.model[0]
        return like(step.transform(X), X, list(step.features))

    def __repr__(self) -> str:
        return self.summary


def saved_selection(selected: SelectedFeatures) -> SavedSelection:
    """What a file holds of a selection."""
    from ..persistence.files import can_save

    check = selected.check
    words = [str(name) for name in selected._all_names]
    columns = {
        name: np.asarray(values, dtype=object if np.asarray(values).dtype.kind == "O" else None)
        for name, values in selected.columns.items()
    }
    selector = selected.selector if can_save(selected.selector) else None
    return SavedSelection(
        selected.model,
        columns,
        [name.item() if isinstance(name, np.generic) else name for name in selected.features],
        words,
        selected.task,
        selector_name(selected.method),
        None if check is None else check.as_dict(),
        repr(selected),
        selector,
        getattr(selected.selector, "_frame_library", None),
        selected.inputs.id_name,
    )
