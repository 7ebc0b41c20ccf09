"""What the selectors with a likelihood share: the loss for a target, predictions, and baselines."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice, check_real, format_names
from ..._saved import Floats, Ints, Labels, Maybe, Savable
from ...design import DesignMatrix, in_double
from ...solvers.losses import LOSS_KINDS
from ...solvers.losses.base import Loss
from ...solvers.losses.cox import TIES, Cox
from ...solvers.searches.likelihood_forward import null_curvature
from ...solvers.searches.likelihood_neighbours import RidgeLikelihood
from ...validation.survival import as_survival, asked_times, is_survival, strata_labels
from ...validation.training_data import TrainingData, transform_data
from ..linear import LinearSelector, with_kind
from ..margins import linear_predictors
from ..preparation import Units


@dataclass(frozen=True)
class Baselines(Savable):
    """Cumulative hazards of a sample with risk 0, for the models with 0, 1, 2, ... features.

    Attributes
    ----------
    times : ndarray of shape (n_events,)
        Times at which events happened, in order within every stratum.
    strata : ndarray of int of shape (n_events,)
        Their strata, by their places in ``strata_``.
    log_hazards : ndarray of shape (n_models, n_events)
        Their logarithms: where features order all times, hazards are too large for numbers.
    """

    times: Annotated[Floats, "events"]
    strata: Annotated[Ints, "events"]
    log_hazards: Annotated[Floats, "models", "events"]

    @classmethod
    def from_predictors(cls, loss: Cox, predictors: list[np.ndarray]) -> Baselines:
        """Of models with these linear predictors."""
        found = [loss.log_baseline_hazard(F) for F in predictors]
        times, _, strata = found[0]
        return cls(times, strata.astype(np.int64), np.array([logs for _, logs, _ in found]))

    def survival(
        self, model: int, places: np.ndarray, times: np.ndarray, risk: np.ndarray
    ) -> np.ndarray:
        """Probabilities of no event by some times, for samples of these strata and risks."""
        logs = np.full((int(places.max(initial=0)) + 1, len(times)), -np.inf)
        for stratum in np.unique(places):
            own = self.strata == stratum
            steps = np.append(-np.inf, self.log_hazards[model, own])
            logs[stratum] = steps[np.searchsorted(self.times[own], times, side="right")]
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-np.exp(logs[places] + risk[:, None])))


def listed_times(times: Any) -> np.ndarray:
    """A list of times at which somebody wants to know a probability."""
    found = asked_times(times)
    if found.ndim != 1:
        raise ValueError(
            f"times must be a list of numbers, such as [1.0, 5.0], but have shape {found.shape}"
        )
    return found


def stratum_places(known: np.ndarray | None, strata: Any, n_samples: int, owner: str) -> np.ndarray:
    """Which baseline each of some samples has; ``known`` are the strata of the training data."""
    if known is None:
        if strata is not None:
            raise ValueError(
                f"the {owner} was fitted without strata, so there is one baseline for all "
                "samples; leave strata out, or fit with strata"
            )
        return np.zeros(n_samples, dtype=np.int64)
    if strata is None:
        raise ValueError(
            f"the {owner} was fitted with strata, each with its own baseline; pass strata= to "
            f"predict_survival, one of {format_names(known.tolist())} for every sample"
        )
    asked = strata_labels(strata)
    if len(asked) != n_samples:
        raise ValueError(
            f"strata has {len(asked)} values, but X has {n_samples} samples; pass one stratum "
            "per sample"
        )
    places = {label: place for place, label in enumerate(known.tolist())}
    labels, which = np.unique(asked, return_inverse=True)
    if unknown := [label for label in labels.tolist() if label not in places]:
        raise ValueError(
            f"strata hold {format_names(unknown)}, for which there is no baseline; the {owner} was "
            f"fitted with the strata {format_names(places)}"
        )
    return np.array([places[label] for label in labels.tolist()], dtype=np.int64)[which]


@dataclass(frozen=True)
class StandardisedLoss:
    """A loss on standardised columns.

    Attributes
    ----------
    design : DesignMatrix
        Columns that are not the model's to choose are zero.
    loss : Loss
    free : ndarray of shape (n_samples, n_free)
        Columns without a penalty: ones for the intercept, and directions of ``always_keep``.
    constant : ndarray of bool of shape (n_features,)
        Columns that cannot be chosen.
    units : Units
        The way back.
    """

    design: DesignMatrix
    loss: Loss
    free: np.ndarray
    constant: np.ndarray
    units: Units

    def with_ridge(self, ridge: float) -> RidgeLikelihood:
        """The problem of few features with a ridge, relative to the curvature without any."""
        absolute = ridge * null_curvature(self.loss)
        return RidgeLikelihood(self.design, self.loss, self.free, absolute, ~self.constant)

    def in_user_units(
        self, features: np.ndarray, W: np.ndarray, B: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of the coefficients of some features and of the free columns."""
        return self._in_units(self.units, features, W, B)

    def _in_units(
        self, units: Units, features: np.ndarray, W: np.ndarray, B: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of as many columns as there are units of."""
        wide = np.zeros((len(units.scale), W.shape[1]))
        np.add.at(wide, features, W)  # a column of several groups has coefficients in each
        if self.loss.is_redundant:  # no penalty says how large the numbers of all classes are
            B = B - B.mean(axis=1, keepdims=True)
        if self.loss.has_intercept and units.fit_intercept:
            units, B = replace(units, target_mean=B[0]), B[1:]
        coef, intercept = units.in_user_units(wide, B if units.covariates is not None else 0.0)
        return coef.astype(self.design.dtype), intercept.astype(self.design.dtype)

    def in_few_columns(
        self, features: np.ndarray, W: np.ndarray, B: np.ndarray
    ) -> tuple[sparse.csc_array, np.ndarray]:
        """As :meth:`in_user_units`, with a sparse matrix of coefficients.

        Only its few columns are looked at, where there are no covariates.
        """
        if self.units.covariates is not None:
            coef, intercept = self.in_user_units(features, W, B)
            return sparse.csc_array(coef), intercept
        columns, places = np.unique(features, return_inverse=True)
        centre, scale = self.units.centre[columns], self.units.scale[columns]
        units = replace(self.units, centre=centre, scale=scale)
        coef, intercept = self._in_units(units, places, W, B)
        few = sparse.csc_array(coef)
        ends = np.zeros(self.design.shape[1] + 1, dtype=few.indptr.dtype)
        ends[columns + 1] = np.diff(few.indptr)
        shape = (len(coef), self.design.shape[1])
        found = (few.data, few.indices, ends.cumsum(dtype=ends.dtype))
        return sparse.csc_array(found, shape=shape), intercept


@dataclass(eq=False, repr=False, kw_only=True)
class LikelihoodSelector(LinearSelector):
    """Base of selectors that maximise a likelihood, or lower another loss of linear predictors."""

    loss: str = "auto"
    ties: str = "efron"
    dispersion: float = 1.0
    epsilon: float = 1.35
    task: str = "auto"
    verbose: int = 0

    _accepts_device: ClassVar[bool] = True
    _accepts_regression: ClassVar[bool] = False
    _accepts_regression_if_asked: ClassVar[bool] = True
    _accepts_counts: ClassVar[bool] = True
    _accepts_survival: ClassVar[bool] = True

    baseline_times_: Maybe[Annotated[Floats, "events"]] = field(init=False)
    baseline_hazard_: Maybe[Annotated[Floats, "events"]] = field(init=False)
    strata_: Maybe[Annotated[Labels, "strata"]] = field(init=False)
    _baselines: Maybe[Baselines] = field(init=False)
    _model: Maybe[int] = field(init=False)  # which of them is used
    _fitted_loss: str = field(init=False)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None, entry: Any = None
    ) -> Self:
        """Rank the features of X by how much they add to the likelihood of y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,), structured array or data frame
            Class labels, counts, or survival times: a structured array with a boolean field (did
            the event happen?) and a number field (time), as scikit-survival has it, a frame with
            the columns "time" and "event", or ``(time, event)`` with ``task="survival"``.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights in the loss; a weight of 2 counts like two copies of the sample.
        strata : array-like of shape (n_samples,), default=None
            Survival only: samples are compared within their stratum, such as a hospital, and every
            stratum has its own baseline.
        entry : array-like of shape (n_samples,), default=None
            Survival only: when observation of a sample began, if later than time 0 (left
            truncation).

        Returns
        -------
        self : object
            The fitted selector.
        """
        super().fit(X, self._target(y, strata, entry), sample_weight)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Counts and survival times are asked for, or seen in a structured y.
        task = self._seen_task
        return with_kind(tags, "classification" if task == "auto" else task)

    @property
    def _seen_task(self) -> str:
        fitted = vars(self).get("_fitted_loss")
        return LOSS_KINDS[fitted].task if fitted in LOSS_KINDS else self._asked_task

    @property
    def _can_score(self) -> bool:
        return self._seen_task != "survival"

    def _target(self, y: Any, strata: Any, entry: Any) -> Any:
        """Survival times with their strata and entry times; any other y as it is."""
        if strata is None and entry is None:
            return y
        if self._asked_task != "survival" and not is_survival(y):
            given = "strata" if entry is None else "entry"
            raise ValueError(
                f"{given} is for survival times, but y holds none; pass y as a structured array "
                f'with a boolean and a number field, or (time, event) with task="survival"'
            )
        return as_survival(y, entry=entry, strata=strata)

    @property
    def _asked_task(self) -> str:
        """How y is read: the loss may say it."""
        return self._task_of_loss if self.task == "auto" else self.task

    @property
    def _task_of_loss(self) -> str:
        return self.task if self.loss == "auto" else LOSS_KINDS[self.loss].task

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, ("auto", *LOSS_KINDS))
        check_choice("ties", self.ties, TIES)
        check_real("dispersion", self.dispersion, minimum=0, strict=True)
        check_real("epsilon", self.epsilon, minimum=0, strict=True)
        wanted = self._task_of_loss
        if self.task not in ("auto", wanted):
            raise ValueError(
                f'loss="{self.loss}" needs task="{wanted}" (or "auto"), got task="{self.task}"'
            )

    def _loss(self, data: TrainingData) -> Loss:
        """The loss of the target."""
        target, weights = data.target, data.sample_weight
        if target.task == "survival" and target.survival.strata is not None:
            self.strata_ = np.unique(target.survival.strata)
        self._fitted_loss = self.loss
        if self.loss == "auto":
            able = (n for n, kind in LOSS_KINDS.items() if kind.task == target.task)
            self._fitted_loss = next(name for name in able if LOSS_KINDS[name].is_default(target))
        return LOSS_KINDS[self._fitted_loss].from_target(target, weights, self)

    def _problem(self, data: TrainingData, **options: Any) -> StandardisedLoss:
        """The loss on standardised columns, with ``always_keep`` among the free ones.

        Options as ``prepare`` takes them.
        """
        loss = self._loss(data)
        # No column of the target is needed here: intercepts and covariates are left free.
        blank = replace(data.target, Y=np.zeros((loss.n_samples, loss.n_outputs)))
        view = self._make_problem(
            replace(data, target=blank), squared_loss=False, compress=False, **options
        )
        ones = np.ones((loss.n_samples, int(loss.has_intercept and self.fit_intercept)))
        covariates = view.units.covariates
        free = ones if covariates is None else np.hstack([ones, covariates.directions])
        return StandardisedLoss(view.design, loss, free, view.constant, view.units)

    def _seen_again(
        self, X: Any, y: Any, sample_weight: Any, strata: Any, entry: Any
    ) -> tuple[TrainingData, StandardisedLoss]:
        """The data of the fit in double precision, for a proof about it; attributes stay."""
        check_is_fitted(self)
        self._check_certifiable()
        other = copy.copy(self)  # validation sets attributes
        data = other._training_data(X, other._target(y, strata, entry), sample_weight)
        data = replace(data, design=in_double(data.design))
        return data, other._problem(data, keep_spent=True)

    def _check_certifiable(self) -> None:
        """Refuse a fit that nothing can be proven about."""

    def _keep_baselines(self, baselines: Baselines | None) -> None:
        if baselines is not None:
            self._baselines, self.baseline_times_ = baselines, baselines.times

    def _use_baseline(self, model: int) -> None:
        """Take the baseline of one of the models."""
        if "_baselines" in vars(self):
            self._model = model
            with np.errstate(over="ignore"):
                self.baseline_hazard_ = np.exp(self._baselines.log_hazards[model])

    def decision_function(self, X: Any) -> np.ndarray:
        """Linear predictors: log odds, the logarithm of expected counts, or log relative risk.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        predictors : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class where there are more than two classes.
        """
        check_is_fitted(self)
        F = linear_predictors(transform_data(self, X), self.coef_, self.intercept_)
        return F[:, 0] if F.shape[1] == 1 else F

    def _predict(self, X: Any) -> np.ndarray:
        F = self.decision_function(X)
        if not hasattr(self, "classes_"):
            return LOSS_KINDS[self._fitted_loss].predict_mean(F)
        return self.classes_[(F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]

    @available_if(lambda selector: hasattr(selector, "classes_"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        F = self.decision_function(X)
        return np.column_stack([expit(-F), expit(F)]) if F.ndim == 1 else softmax(F, axis=1)

    @available_if(lambda selector: hasattr(selector, "baseline_times_"))
    def predict_survival(self, X: Any, times: Any, *, strata: Any = None) -> np.ndarray:
        """Predict the probability that the event has not happened by given times.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        times : array-like of shape (n_times,)
            Times.
        strata : array-like of shape (n_samples,), default=None
            The stratum of every sample, where the selector was fitted with strata.

        Returns
        -------
        survival : ndarray of shape (n_samples, n_times)
            Probabilities, by Breslow's estimator of the baseline.
        """
        risk, times = self.predict(X), listed_times(times)
        places = stratum_places(vars(self).get("strata_"), strata, len(risk), "selector")
        return self._baselines.survival(self._model, places, times, risk)
