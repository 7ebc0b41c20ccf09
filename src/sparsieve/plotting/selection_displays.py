"""The charts of a report on one selection, as displays in the manner of scikit-learn's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import check_real
from ..diagnosis.null import PermutationNull
from ..report.elements import Chart
from ..report.exploration import confusion_chart, held_out_chart
from ..report.selection_charts import (
    correlation_chart,
    frequency_chart,
    null_chart,
    substitutes_chart,
    weights_chart,
)
from ..selectors.substitutes import SUBSTITUTE
from .chart_display import HeldOutDisplay, NothingToDraw, SelectionDisplay, Source


class PredictionDisplay(HeldOutDisplay):
    """Held-out samples by true and predicted class, or by true and predicted number.

    Selection, scaling and the ridge model are fitted again in every fold.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "cells" and "bar", or "points" and "diagonal".

    See Also
    --------
    sparsieve.AccuracyCurveDisplay : Scores over the number of features.
    sparsieve.SelectionFrequencyDisplay : How often folds select a feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, PredictionDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = PredictionDisplay.from_estimator(FisherSelector(2).fit(X, y), X, y)
    >>> sum(display.chart.columns["count"].values)
    178
    """

    @classmethod
    def _describe(cls, source: Source) -> Chart | None:
        made = confusion_chart if source.kept.classes is not None else held_out_chart
        return made(source.kept, source.assessment, source.steps)


class WeightsDisplay(SelectionDisplay):
    """Weights of the fitted model, times the standard deviation of the feature.

    One bar for every feature where there are two classes or one target, a heat map otherwise.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "bars", or "cells" and "bar".

    See Also
    --------
    sparsieve.RankingDisplay : The best features and their scores.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector, WeightsDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = WeightsDisplay.from_estimator(RidgeForwardSelector(4).fit(X, y), X, y)
    >>> display.chart.title
    'Weights by class'
    """

    _nothing = "{kind} has no coef_, so there are no weights to draw"

    @classmethod
    def _describe(cls, source: Source) -> Chart | None:
        return weights_chart(source.kept)


class CorrelationDisplay(SelectionDisplay):
    """Correlations of the selected features with each other.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "cells" and "bar".

    See Also
    --------
    sparsieve.SubstitutesDisplay : Features left out that are nearly copies.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import CorrelationDisplay, FisherSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = CorrelationDisplay.from_estimator(FisherSelector(4).fit(X, y), X, y)
    >>> display.artists_["cells"].get_array().shape
    (4, 4)
    """

    _nothing = "fewer than two features are selected, so nothing is correlated"

    @classmethod
    def _describe(cls, source: Source) -> Chart | None:
        return correlation_chart(source.kept)


class SubstitutesDisplay(SelectionDisplay):
    """Features left out that are nearly copies of selected ones.

    The option ``threshold`` of ``from_estimator`` is the smallest absolute correlation, 0.9 by
    default.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "bars".

    See Also
    --------
    sparsieve.CorrelationDisplay : Correlations of the selected features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, SubstitutesDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FisherSelector(2).fit(X, y)
    >>> display = SubstitutesDisplay.from_estimator(selector, X, y, threshold=0.8)
    >>> display.chart.columns["y"].values
    ['total_phenols for flavanoids']
    """

    _options = ("threshold",)

    @classmethod
    def _describe(cls, source: Source, threshold: float = SUBSTITUTE) -> Chart:
        check_real("threshold", threshold, minimum=0, strict=True)
        found = source.kept.substitutes(threshold)
        if found is None:
            raise NothingToDraw(
                "substitutes are not known: values are missing, or the selector cannot find them"
            )
        chart = substitutes_chart(source.kept, found, threshold)
        if chart is None:
            raise NothingToDraw(
                "no feature left out has an absolute correlation of at least "
                f"{threshold:g} with a selected one"
            )
        return chart


class SelectionFrequencyDisplay(HeldOutDisplay):
    """How often every feature is selected when the selection is repeated in every fold.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "bars".

    See Also
    --------
    sparsieve.StabilityPathDisplay : The path of a stability selection.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, SelectionFrequencyDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FisherSelector(2).fit(X, y)
    >>> display = SelectionFrequencyDisplay.from_estimator(selector, X, y)
    >>> display.chart.columns["y"].values[0]
    'flavanoids'
    """

    @classmethod
    def _describe(cls, source: Source) -> Chart | None:
        return frequency_chart(source.assessment, source.kept)


class NullDistributionDisplay(SelectionDisplay):
    """Scores of the selected features beside the best scores of fits on shuffled targets.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "dots", "boxes" and "line".

    See Also
    --------
    sparsieve.permutation_null : The level that noise reaches.
    sparsieve.RankingDisplay : The best features, with that level.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, NullDistributionDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = NullDistributionDisplay.from_estimator(FisherSelector(2).fit(X, y), X, y)
    >>> len(display.chart.columns["x"].values)
    22
    """

    @classmethod
    def _describe(cls, source: Source) -> Chart:
        if source.null is None:
            raise NothingToDraw("no fits on shuffled targets were made")
        return null_chart(source.selector, source.null)

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        feature_names: Sequence[str] | np.ndarray | None = None,
        null: PermutationNull | None = None,
        groups: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> NullDistributionDisplay:
        """Draw the scores of a fitted selector beside those of noise.

        Parameters
        ----------
        selector : selector
            Fitted; one that has ``ranking_`` and ``scores_``.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The data it was fitted on.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The target it was fitted on.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the data.
        null : PermutationNull or None, default=None
            What :func:`~sparsieve.permutation_null` found for this selector; None fits it on 20
            shuffled targets.
        groups : array-like of shape (n_samples,) or None, default=None
            Samples that belong together, such as the rows of a patient: whole groups are exchanged
            where y is shuffled here.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **style : dict
            For the dots, as in ``matplotlib.axes.Axes.scatter``.

        Returns
        -------
        display : NullDistributionDisplay
        """
        source = Source.of(selector, X, y, feature_names, cls, null=null, groups=groups)
        return cls._of(source.shuffled() if null is None else source, ax=ax, **style)
