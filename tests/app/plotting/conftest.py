import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from sparsieve import all_selectors

pyplot = pytest.importorskip("matplotlib.pyplot")

# Names that Matplotlib would read as mathematics, hide or break.
AWKWARD = ["<b>$x_1", "$x$", "a_$b", "_hidden", "two\nlines", "\\frac{$1", "100 %", "x" * 200]


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    pyplot.close("all")


@pytest.fixture(scope="session")
def fitted_by_name():
    """Every selector on the wine data, fitted when it is first asked for."""

    @functools.cache
    def fitted(name):
        cls = all_selectors()[name]
        selector = cls(n_subsamples=4) if name == "StabilitySelection" else cls()
        return selector.fit(*load_wine(return_X_y=True))

    return fitted


@pytest.fixture
def awkward():
    """Classes that eight features with awkward names tell apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, len(AWKWARD)))
    y = np.arange(60) % 3
    X[np.arange(60), y] += 2.0
    return pd.DataFrame(X, columns=AWKWARD), y


@pytest.fixture
def drawn():
    """The texts of a figure as its pixels were asked for, so that nothing fails later."""

    def texts(display):
        display.figure_.canvas.draw()
        axes = display.ax_
        legend = axes.get_legend()
        labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        labels += legend.get_texts() if legend is not None else []
        # What _preprocess_math makes of a text is what is shown: (text, is it mathematics).
        shown = [label._preprocess_math(label.get_text()) for label in labels]
        assert not any(mathematics for _, mathematics in shown)
        return [text.strip() for text, _ in shown]

    return texts
