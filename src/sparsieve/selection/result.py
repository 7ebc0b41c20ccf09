"""What ``sparsieve.select`` found: the features, how they were checked, and their pages."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..diagnosis.null import PermutationNull
from ..meta import SelectorCV
from ..meta.held_out import HeldOutCheck
from ..preprocessing.covariates import Covariates, takes_logarithms
from ..preprocessing.inputs import Inputs
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.origins import call_with_views
from ..selectors.preparation import count_selection, find_groups
from ..selectors.ranked import as_frame, selection_columns
from ..validation.target import training_task
from .calibrated import Calibrating
from .claims import Claims
from .covariates import (
    AUTO,
    CovariatesAlone,
    check_covariates,
    hazard_columns,
    make_claims,
    run_check,
    run_diagnosis,
    without_covariates,
)
from .model import (
    KeptColumns,
    fitted_model,
    kept_columns,
    transform_columns,
)
from .predicting import Predicting, SavedSelection, saved_selection
from .shown import Shown


@dataclass(frozen=True, repr=False, eq=False)
class SelectedFeatures(Predicting, Calibrating, Shown):
    """What :func:`~sparsieve.select` found.

    Attributes
    ----------
    selector : selector
        Fitted: it transforms other data, and with ``k="auto"`` it also predicts.
    inputs : Inputs
        What was asked: the data, roles of columns, folds, model, score, seed.
    X, y : array-like
        The data, as given; of an AnnData object its matrix and the labels; of a raw data frame
        the columns made of it.
    names : ndarray of str or None
        Names of all features, where X itself has none.
    features : list of str
        The kept features, the best first.
    feature_groups : list of str
        The kept feature groups, the best first; empty for single features.
    table : DataFrame or dict
        One row for each of them: rank, feature, score (``selector.score_meaning`` says what it
        means), coefficients and p-values where the method has them, substitutes; of survival times
        hazard ratios per unit of each feature with 95 % intervals, by a Cox model of all kept
        features, which suppose that the features were chosen on other samples. A frame of the
        library that X came from.
    accuracy : float
        Accuracy (R squared for numbers, or the score that ``scoring`` names) on samples that
        neither the selection nor the model has seen, by cross-validation; found
        when first asked for, and with ``k="auto"`` by the search itself, which makes it a little
        too good.
    as_well : str
        That these features do as well as more of them, where cross-validation chose the number and
        says so; otherwise empty.
    leaks : list of str
        Sentences of :func:`~sparsieve.diagnose` on copies of samples, on features that know too
        much, on ids and on raw counts; found when first asked for or shown.
    prepare : transformer or None
        What ``prepare`` of :func:`~sparsieve.select` stands for, fitted on all samples.
    groups : array-like or None
        Groups of samples that cross-validation keeps together.
    check : HeldOutCheck or None
        What held-out samples say: ``score`` with its interval, the level of a ``guess``, whether
        the score is better than that, and the ``stability`` of the list. Made when first asked for
        or shown; None where that was declined or would take more than 20 s.
    asked : bool or "auto"
        Whether to check on held-out samples, as ``check`` of :func:`~sparsieve.select` said.
    scoring : str, callable or None
        The score of that check.
    fit_seconds : float
        How long the fit took.
    relation : RelationFound or None
        How features by lines and by trees compare on held-out samples, where both were asked.
    null : PermutationNull or None
        What scores noise reaches, where ``permutations`` were asked for.
    certificate : Certificate or None
        What is proven about the selection, where that was asked for.
    verdict : str
        What can be claimed, where ``k="fdr=..."`` made the selection; otherwise empty.
    interrupted : bool
        Whether the user interrupted the fit: the selection is the best found until then.
    notes : tuple of str
        What was done to a data frame without being asked: encoded, filled, left out.
    covariates : Covariates
        What is always in the model beside the features: ``covariates.names``.
    covariates_alone : CovariatesAlone or None
        How well the covariates predict without the features, and whether these add to that.
    model : Pipeline
        A fitted pipeline of scikit-learn: the kept columns, prepared as for the selection, and the
        model that was checked (``estimator`` of :func:`~sparsieve.select`). Made when first asked
        for; :meth:`predict` and the like ask it. It needs only the columns that it uses.
    calibration : (slope, offsets) or None
        What :meth:`calibrated` found.

    See Also
    --------
    sparsieve.select : Selection in one line, the number of features found.
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selected = sparsieve.select(X, y, k=3)
    >>> print(selected)  # doctest: +NORMALIZE_WHITESPACE
    3 of 13 features by RidgeForwardSelector: proline, od280/od315_of_diluted_wines, color_intensity
    On held-out samples: accuracy 91.6 % (95 % interval 85.1 % to 98.1 %); always predicting the
    largest class: 39.9 %; stability 0.56 (1 means the same features in every fold); 10 folds.
    """

    selector: Any
    inputs: Inputs
    asked: bool | str = AUTO
    fit_seconds: float = 0.0
    null: PermutationNull | None = None
    certificate: Any = None
    interrupted: bool = False
    relation: Any = None
    calibration: Any = None

    @property
    def X(self) -> Any:
        """The data as numbers."""
        return self.inputs.X

    @property
    def y(self) -> Any:
        """The target."""
        return self.inputs.y

    @property
    def names(self) -> np.ndarray | None:
        """Names of all features, where X itself has none."""
        return self.inputs.names

    @property
    def groups(self) -> Any:
        """Groups of samples that cross-validation keeps together."""
        return self.inputs.groups

    @property
    def prepare(self) -> Any:
        """What is done to X first."""
        return self.inputs.prepare

    @property
    def scoring(self) -> Any:
        """The score of the check."""
        return self.inputs.scoring

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done without being asked."""
        return self.inputs.notes

    @property
    def covariates(self) -> Covariates:
        """What is always in the model beside the features."""
        return self.inputs.covariates

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The table as arrays by name."""
        if not isinstance(self.method, FDRSelector):  # whose claims have named theirs
            with suppress(ValueError):  # columns with gaps have no correlations
                self.selector.find_substitutes(self.prepared_X)
        found = selection_columns(self.selector, names=self.names)
        found |= hazard_columns(self)
        return without_covariates(found, self.selector, self.covariates)

    @property
    def features(self) -> list[str]:
        """Names of the kept features, the best first, as the columns of X are called."""
        kept = self.columns["feature"].tolist()
        return list(dict.fromkeys(self.inputs.source_names.get(name, name) for name in kept))

    @property
    def feature_groups(self) -> list[str]:
        """Names of the kept feature groups, the best first; empty for single features."""
        if find_groups(self.method) is None:
            return []
        found, beside = self.method, set(self.covariates.names)
        order = np.argsort(found.group_ranking_, kind="stable")
        kept = [str(name) for name in found.group_names_[order][: count_selection(found)]]
        return [name for name in kept if name not in beside]

    @property
    def table(self) -> Any:
        """One row per kept feature."""
        return as_frame(self.columns, getattr(self.selector, "_frame_library", None))

    @property
    def nothing_found(self) -> str:
        """A sentence where no number of features beats a guess, as far as that is known."""
        said = "" if self.check is None else self.check.warning
        if self.relation is not None and self.relation.choice == "linear":  # both were asked
            said = re.sub(r"Other models were not tested.*$", "Boosted trees do no better.", said)
        return said

    @property
    def as_well(self) -> str:
        """That these features do as well as more of them, where cross-validation says so."""
        return str(getattr(self.selector, "_as_well", ""))

    @property
    def check(self) -> HeldOutCheck | None:
        """How the selection does on held-out samples."""
        return self._check_and_reason[0]

    @property
    def unchecked(self) -> str:
        """Why there is no check and how to have one, in a sentence; empty where there is one."""
        return self._check_and_reason[1]

    @cached_property
    def _check_and_reason(self) -> tuple[HeldOutCheck | None, str]:
        if self.asked is False or self.y is None:
            return None, ""
        return run_check(self, None if self.asked is True else self.fit_seconds)

    @cached_property
    def covariates_alone(self) -> CovariatesAlone | None:
        """How well the covariates predict without the features, on the folds of the check."""
        return check_covariates(self)

    @property
    def task(self) -> str:
        """How y was read: "classification", "regression", "counts" or "survival"."""
        return training_task(self.method, self.y)

    @cached_property
    def leaks(self) -> list[str]:
        """What should make a reader ask whether a feature was known beforehand."""
        if (found := run_diagnosis(self, try_models=False)) is None:
            return []
        return found.first(groups=self.groups, prepared=takes_logarithms(self.prepare))

    @cached_property
    def oddities(self) -> list[str]:
        """All that :func:`~sparsieve.diagnose` says to who uses this method, models tried."""
        if (found := run_diagnosis(self, try_models=self.relation is None)) is None:
            return []
        return found.for_user_of(self.method, prepared=takes_logarithms(self.prepare))

    @cached_property
    def accuracy(self) -> float:
        """Cross-validated score of the selection with a model on top."""
        check, reason = self.check, ""
        if check is None:
            check, reason = run_check(self, None)
        if check is None:
            raise ValueError(reason)
        return check.score

    @property
    def prepared_X(self) -> Any:
        """What the features were selected from: X as given, or what ``prepare`` makes of it."""
        return self.X if self.prepare is None else call_with_views(self.prepare.transform, self.X)

    def transform(self, X: Any) -> Any:
        """Reduce other data to the selected features, prepared as these data were.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The same columns as those selected from. Covariates that were given apart from X are
            not needed, and zero in what is returned.

        Returns
        -------
        X_new : array, sparse matrix or data frame
            The selected columns, in the order of X.
        """
        return transform_columns(self, X)

    @cached_property
    def model(self) -> Pipeline:  # type: ignore[override]
        """The model on the kept features, fitted on all samples: a scikit-learn Pipeline."""
        return fitted_model(self)

    @cached_property
    def _kept_columns(self) -> KeptColumns:
        return kept_columns(self)

    def _to_save(self) -> SavedSelection:
        return saved_selection(self)

    @property
    def verdict(self) -> str:
        """What can be claimed, where ``k="fdr=..."`` made the selection; otherwise empty."""
        if not isinstance(self.method, FDRSelector):
            return ""
        names, groups = self._all_names, find_groups(self.method)
        if groups is not None and not groups.are_single:
            names = np.array(groups.names, dtype=object)
        return Claims(self.method, names, self.X.shape[0]).verdict

    @property
    def _all_names(self) -> np.ndarray:
        if self.names is not None:
            return self.names
        numbered = np.array([f"x{j}" for j in range(self.X.shape[1])], dtype=object)
        return getattr(self.selector, "feature_names_in_", numbered)

    def claims(self, level: float | None = None, *, claim: str | None = None) -> Claims:
        """Test which features can be claimed, beside those that were selected for prediction.

        This takes another fit, of :class:`~sparsieve.FDRSelector`: less than a second for 100
        samples and 20,000 features. If nothing can be claimed, two weaker claims are tested too.

        Parameters
        ----------
        level : float or None, default=None
            False discovery rate: the largest expected fraction of false claims. None is 0.1, or
            the level of the selection itself where ``k="fdr=..."`` made it.
        claim : {"conditional", "set", "marginal", "sequential"} or None, default=None
            What is claimed of a feature, see :class:`~sparsieve.FDRSelector`. None is
            "conditional", or that of the selection itself.

        Returns
        -------
        claims : Claims
            ``print(claims)`` says what can be claimed; ``columns`` has a row for every claim with
            its p-values and substitutes.

        Examples
        --------
        >>> import sparsieve
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> claims = sparsieve.select(X, y, k=5).claims(level=0.05)
        >>> claims.columns["feature"][:2]
        ['flavanoids', 'proline']
        """
        return make_claims(self, level, claim)

    @property
    def method(self) -> Any:
        """The selector that ranks the features: inside the search where there was one."""
        found = self.selector
        return getattr(found, "selector_", found) if isinstance(found, SelectorCV) else found
