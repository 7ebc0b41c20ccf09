"""Samples seen through the selected features, as displays in the manner of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import check_choice, check_integer
from ..report.elements import Chart
from ..report.exploration import MAX_DRAWN, class_means_chart, target_correlation_chart
from ..report.sample_charts import (
    projection_chart,
    samples_chart,
    several_values_chart,
    shown_samples,
    values_chart,
)
from .chart_display import SelectionDisplay, Source


class SampleHeatmapDisplay(SelectionDisplay):
    """Heat map of samples and selected features, with the classes as a strip on top.

    At most 200 samples and 40 features are drawn; the label of the axis and the caption say so.
    Options of ``from_estimator``: ``order="class"`` sorts samples by class (or target) and clusters
    them within it, ``order="clusters"`` clusters all of them.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "cells", "strip" and "bar".

    See Also
    --------
    sparsieve.ClassProfileDisplay : Means of the selected features by class.
    sparsieve.FeatureValuesDisplay : Values of single features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, SampleHeatmapDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = SampleHeatmapDisplay.from_estimator(FisherSelector(4).fit(X, y), X, y)
    >>> display.ax_.get_xlabel()
    '178 samples'
    """

    _options = ("order",)

    @classmethod
    def _describe(cls, source: Source, order: str = "class") -> Chart:
        check_choice("order", order, ("class", "clusters"))
        return samples_chart(source.kept, source.steps, MAX_DRAWN, by_class=order == "class")


class FeatureValuesDisplay(SelectionDisplay):
    """Values of the best features by class, every sample as a dot over a box.

    With more than 15 classes: values of the best feature alone; for a regression, against the
    target. The option ``feature`` of
    ``from_estimator``, a name or the number of a column, draws that feature in its own units.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "dots" and "boxes", or "points".

    See Also
    --------
    sparsieve.SampleHeatmapDisplay : Samples and selected features as a heat map.
    sparsieve.ClassProfileDisplay : Means of the selected features by class.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FeatureValuesDisplay, FisherSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FisherSelector(4).fit(X, y)
    >>> display = FeatureValuesDisplay.from_estimator(selector, X, y, feature="proline")
    >>> display.ax_.get_xlabel()
    'proline'
    """

    _options = ("feature",)

    @classmethod
    def _describe(cls, source: Source, feature: Any = None) -> Chart:
        kept = source.kept
        if feature is None:
            ((_, order),) = source.steps
            n_drawn = min(6, 30 // max(len(kept.class_names), 1))  # 30 boxes at most
            if kept.classes is not None and n_drawn > 1:
                return several_values_chart(kept, order[:n_drawn])
            feature = order[0]
        return values_chart(kept, shown_samples(kept), _column(source, feature))


def _column(source: Source, feature: Any) -> int:
    names = source.kept.names
    if isinstance(feature, str):
        (found,) = np.nonzero(names == feature)
        if not len(found):
            raise ValueError(f"there is no feature {feature!r}; give a name or a column number")
        return int(found[0])
    check_integer("feature", feature, minimum=0)
    if feature >= len(names):
        raise ValueError(f"feature must be below {len(names)}, the number of features")
    return int(feature)


class ClassProfileDisplay(SelectionDisplay):
    """Means of the selected features by class; for a regression, correlations with the target.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "cells" and "bar", or "bars".

    See Also
    --------
    sparsieve.SampleHeatmapDisplay : Every sample instead of means.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ClassProfileDisplay, FisherSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = ClassProfileDisplay.from_estimator(FisherSelector(4).fit(X, y), X, y)
    >>> display.artists_["cells"].get_array().shape
    (4, 3)
    """

    @classmethod
    def _describe(cls, source: Source) -> Chart | None:
        made = class_means_chart if source.kept.classes is not None else target_correlation_chart
        return made(source.kept, source.steps)


class ProjectionDisplay(SelectionDisplay):
    """Samples on the first two principal components of the selected features.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where it was drawn.
    artists_ : dict of str to matplotlib artists
        "points", one for every class.

    See Also
    --------
    sparsieve.SampleHeatmapDisplay : Samples and selected features as a heat map.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, ProjectionDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = ProjectionDisplay.from_estimator(FisherSelector(4).fit(X, y), X, y)
    >>> len(display.artists_["points"])
    3
    """

    @classmethod
    def _describe(cls, source: Source) -> Chart:
        chart, _ = projection_chart(source.kept, source.steps)
        return chart
