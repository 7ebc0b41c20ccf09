"""Ridge-regularised forward selection, the library's default method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..._checks import check_real
from ..._saved import Floats, Ints, Maybe
from ...design import code_sizes
from ...solvers.base import LeastSquares, Path, Result, printer
from ...solvers.searches.forward import ForwardSelection
from ...solvers.searches.group_forward import GroupForwardSelection
from ...solvers.searches.signed_forward import SignedForward
from ..base import Columns, FeatureScores, TrainingData
from ..dependent_samples import TakesSampleGroups, codes_of_samples
from ..groups import column_signs, open_groups, prescribes_signs
from ..linear import LinearSelector
from ..near_copies import MAX_CORRELATION, make_redundancy
from ..path_selector import entry_path
from ..preparation import Prepared, Units, of_several_columns
from .certificate import Certifiable
from .row_penalty import shares_of_target, variances
from .support_fit import LEAST_RIDGE, fading_ridge, signal_rule

# Values beyond this many standard deviations say more about outliers than about classes.
CLIP = 3.0
# Powers of the sizes of classes beyond this are no weights any more, and their squares no numbers.
MAX_BALANCE_POWER = 10


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeForwardSelector(TakesSampleGroups, Certifiable, LinearSelector):
    """Forward selection: at every step, add the feature that improves a ridge regression most.

    In short: Adds features one at a time, each for what it adds to those already selected. Start
    here.

    Every step adds the feature with the largest decrease of ``min ||Y - X_S W||^2 + ridge * n *
    ||W||^2``. Without a ridge, a handful of features can explain a small sample perfectly, and
    plain forward selection then starts to fit noise; the ridge prevents this. One run covers every
    number of features, see :meth:`at`.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None continues while the remaining features together
        explain more of the residual than noise would, and the next one explains at least 0.2 % of
        the target.
    max_correlation : float or None, default=0.99
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    nonnegative : bool, list of int or str, or mask, default=False
        Columns whose coefficients must not be negative; True means all of them. With two classes
        they speak for the second one. A feature that loses its weight to others keeps its place.
        Covariates of ``always_keep`` may have any sign. Not for several columns of y, more than two
        classes, or ``feature_groups``, and without proofs.
    ridge : float or "auto", default="auto"
        Ridge relative to the (weighted) number of samples. "auto" is min(1, d / (3 n)) for d
        columns to choose from and n samples, or as many as ``groups`` of samples. It fades where
        samples are many, since a strong ridge prefers noise that goes along with several true
        features to the features themselves, and is 1 where d >= 3 n. 0 is orthogonal least
        squares; a very large value ranks features one by one.
    clip : float, "auto" or None, default="auto"
        Clip standardised values to [-clip, clip] and standardise again. "auto" means 3 if
        ``standardize`` and ``fit_intercept`` are True, and None otherwise.
    class_balance : float, default=0.25
        Divide the 0/1 column of a class with n_c samples by n_c ** class_balance, so that small
        classes count more. 0 leaves the classes unchanged, 0.5 is the coding of linear discriminant
        analysis; at most 10. Ignored in regression.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap: a column of several kept groups
        is in the model once. ``n_features_to_select`` then counts groups.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Fraction of the target that the feature explained when it was added, ``(1 + ridge) * gain /
        ||Y||^2``: 1 for a copy of a single target, about 1/n for noise. For features that were not
        selected, the fraction they would explain if added next.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the first one added. Features that were not added are ranked by
        score.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    ridge_ : float
        The ridge relative to the number of samples, where "auto" was asked for too.
    gains_ : ndarray of shape (n_steps,)
        Decrease of the objective in every step, with classes weighted according to
        ``class_balance``.
    path_ : sparsieve.solvers.base.Path
        Features in the order in which they were added, and the objective after each; those that
        ``max_correlation`` passed over come after all others.
    coef_ : ndarray of shape (n_outputs, n_features)
        Ridge coefficients of the selected features, in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    objective_ : float
        Ridge objective of ``coef_`` on the standardised data, with Y in 0/1 coding.
    optimality_ : float
        0, because the fit on the selected features is exact.
    converged_ : bool
        Always True.
    n_iter_ : int
        Number of steps.
    history_ : list of float
        Objective after every step.

    See Also
    --------
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import RidgeForwardSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RidgeForwardSelector(n_features_to_select=5).fit(X, y)
    >>> selector.transform(X).shape
    (569, 5)
    >>> selector.at(3).get_support(indices=True)
    array([20, 21, 27])
    """

    max_correlation: float | None = MAX_CORRELATION
    nonnegative: bool | Columns = False
    ridge: float | str = "auto"
    clip: float | str | None = "auto"
    class_balance: float = 0.25
    task: str = "auto"
    verbose: int = 0
    feature_groups: Any = None

    _accepts_external: ClassVar[bool] = True
    _proves_plain: ClassVar[bool] = False  # values are clipped
    _score_meaning: ClassVar[str] = (
        "Fraction of the target that the feature explained when it was added; for features that "
        "were not selected, the fraction they would explain if added next."
    )
    _meaning_of_groups: ClassVar[str] = (
        "Fraction of the target that the feature group explained when it was added, minus what "
        "noise of the same size would explain; for groups that were not selected, the same if "
        "added next."
    )

    gains_: Annotated[Floats, "steps"] = field(init=False)
    # Of groups: their columns in order of entry, and where columns and directions of each end.
    _entered: Maybe[tuple[Annotated[Ints, "*"], Annotated[Ints, "*"], Annotated[Ints, "*"]]] = (
        field(init=False)
    )
    # Directions, responses on them, and the way back.
    _model: tuple[
        Annotated[Floats, "*", "*"], Annotated[Floats, "*", "*"], Annotated[Units, "features"]
    ] = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Rank the features of X, and keep the first ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data; also data larger than memory, as other selectors take them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or real-valued targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights in the loss; a weight of 2 counts like two copies of the sample.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, such as those of a patient: for ``ridge="auto"`` the
            groups are counted, not the samples.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return super().fit(X, y, sample_weight, groups)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("ridge", self.ridge, minimum=0, auto=True)
        check_real("class_balance", self.class_balance, minimum=0, maximum=MAX_BALANCE_POWER)
        if isinstance(self.clip, str) and self.clip == "auto":
            return
        check_real("clip", self.clip, minimum=0, strict=True, optional=True)
        if self.clip is not None and not (self.standardize and self.fit_intercept):
            raise ValueError(
                "clip is measured in standard deviations from the mean and needs "
                'standardize=True and fit_intercept=True; leave clip="auto" or pass clip=None'
            )

    def _relative_ridge(self, data: TrainingData) -> float:
        return self.ridge_  # also of a proof, which knows nothing of groups of samples

    @property
    def _lacks_ridge(self) -> bool:
        return self.ridge == 0

    def _clip_limit(self) -> float | None:
        if isinstance(self.clip, str):
            return CLIP if self.standardize and self.fit_intercept else None
        return self.clip

    def _search_problem(self, data: TrainingData, **options: Any) -> tuple[Prepared, float]:
        scale = self._class_scale(data)
        ridge, n_products = self._relative_ridge(data), data.fixed.n_open
        if self.n_features_to_select is not None:
            n_products = self._n_own(data, n_products)
        if ridge < LEAST_RIDGE:
            n_products = 0
        problem = self._make_problem(
            data,
            squared_loss=True,
            clip=self._clip_limit(),
            output_scale=scale,
            n_products=n_products,
            **options,
        )
        return problem, ridge * data.total_weight

    def _fit(self, data: TrainingData) -> FeatureScores:
        codes = codes_of_samples(data, vars(self).get("_sample_groups"))
        share = 1.0 if codes is None else (codes.max() + 1) / len(codes)
        automatic = isinstance(self.ridge, str)
        self.ridge_: float = fading_ridge(data, share) if automatic else float(self.ridge)
        problem, ridge = self._search_problem(data)
        self._remember(data, problem)
        groups = None if prescribes_signs(self) else of_several_columns(data.groups)
        total, constant = data.total_weight, problem.constant
        passing = make_redundancy(self.max_correlation, data, problem)
        equations = LeastSquares(
            problem.design,
            problem.Y,
            ridge=ridge,
            eligible=~constant,
            redundancy=passing,
        )
        show = printer(self.verbose, type(self).__name__)
        result: Result[Any]
        found: Any
        if groups is None:
            n_open, stop = data.fixed.n_open, None
            if self.n_features_to_select is None:
                stop = signal_rule(n_open, problem.Y, total, self.ridge_)
            n_own = self._n_own(data, n_open)
            search: Any = ForwardSelection(n_own, stop)
            if prescribes_signs(self):
                signs = column_signs(self, data, problem.Y.shape[1], problem.units)
                search = SignedForward(n_own, signs, stop)
            result = search.solve(equations, callback=show)
            found = result.solution
            order, entered = found.path.features, found.gains
            ends: Any = slice(None)
            spread = None if self.standardize else variances(problem.design, total)
        else:
            own, constant = open_groups(data, groups, constant)
            n_steps = None
            if self.n_features_to_select is not None:
                n_steps = self._n_own(data, groups.n_groups)
            freedom = total - self.fit_intercept - data.fixed.n_always
            result = GroupForwardSelection(own, n_steps, freedom).solve(equations, callback=show)
            found = result.solution
            order, entered = found.order, found.excess
            ends, spread = found.ranks, found.spread / total
            self._entered = (found.columns, found.ends, found.ranks)
        # Outputs do not interact, so undoing their scale also undoes it in the objective.
        responses = problem.units.outputs(found.responses)
        explained = np.cumsum(np.append(0.0, (responses.astype(np.float64) ** 2).sum(axis=1)))
        objective = problem.target_power - explained[ends]
        self.path_: Path = entry_path(groups, order, objective=objective)
        self.gains_ = found.gains
        # The small factors that give the coefficients at every number of features.
        self._model = (found.directions, responses, problem.units)
        self._keep_result(
            replace(result, objective=float(objective[-1]), trace=objective[1:].tolist())
        )
        scores = found.remaining
        scores[order] = entered
        power = float(np.vdot(problem.Y, problem.Y))
        return FeatureScores(
            shares_of_target(scores, self.ridge_, power, spread),
            n_kept=len(order),
            order=order,
            constant=constant,
            complete=False,
            passed_over=None if passing is None else passing.passed_over,
            beyond="the order of the columns" if prescribes_signs(self) else "",
        )

    def _steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns in order of entry, and where columns and directions of every step end."""
        one_by_one = np.arange(len(self.path_) + 1)
        return vars(self).get("_entered", (self.path_.features, one_by_one, one_by_one))

    def _class_scale(self, data: TrainingData) -> np.ndarray | None:
        if data.target.task != "classification" or self.class_balance == 0:
            return None
        sizes = code_sizes(data.target.codes, len(data.target.classes), data.sample_weight)
        return sizes ** float(self.class_balance)

    def _refit(self, n_chosen: int) -> None:
        directions, responses, units = self._model
        columns, ends, ranks = self._steps()
        n_steps = min(n_chosen, len(self.path_))
        k, t = ends[n_steps], ranks[n_steps]
        features = columns[:k]
        W = np.zeros((len(self.ranking_), responses.shape[1]), dtype=responses.dtype)
        W[features] = directions[:t, :k].T @ responses[:t]
        rows = np.unique(features) if "_entered" in vars(self) else features
        self._keep_coefficients(*units.in_user_units(W, rows=rows))
        self.objective_: float = float(np.asarray(self.path_.objective)[n_steps])
