"""What choosing the number of features costs, in fits of the selector; one thread.

A 5-fold curve over k = 1..50, not repeated, is 6 selections (5 folds and the final one) and 250
models; it is to cost less than 10 fits of the selector on all samples. The peer is the same
search written with scikit-learn: a grid search over a pipeline, which selects again for every k
(timed on five of the 50 numbers and scaled up where it would take long).
"""

from __future__ import annotations

from benchmarks.common import Row, best_of, load, show

import numpy as np  # isort: skip  (after common, which sets the number of threads)

KS = np.arange(1, 51)
SHARE = 10  # the peer tries every tenth number of features


def selectors():
    import sparsieve

    names = ("RidgeForwardSelector", "L20Selector", "L21Selector", "FisherSelector")
    return [getattr(sparsieve, name) for name in names if name in sparsieve.__all__]


def grid_search(cls, model, X, y):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    pipeline = Pipeline([("select", cls()), ("model", clone(model))])
    grid = {"select__n_features_to_select": KS[SHARE - 1 :: SHARE]}
    return GridSearchCV(pipeline, grid, cv=5).fit(X, y)


def rows():
    from sklearn.neighbors import KNeighborsClassifier

    from sparsieve import SelectorCV

    data = load("allaml")
    if data is None:
        return
    X, y = data

    def search(cls, model):
        return SelectorCV(cls(), estimator=model, ks=KS, n_repeats=1)

    for cls in selectors():
        one = best_of(lambda cls=cls: cls(n_features_to_select=50).fit(X, y))
        for label, model in (("", None), (", 1-NN", KNeighborsClassifier(1))):
            ours = best_of(lambda cls=cls, model=model: search(cls, model).fit(X, y))
            final = SelectorCV(cls(), estimator=model, ks=[5]).fit(X, y).estimator_
            theirs = best_of(lambda cls=cls, final=final: grid_search(cls, final, X, y), repeats=1)
            # A filter takes less than the models; there only the peer is a measure.
            in_fits = model is None and cls.__name__ != "FisherSelector"
            yield Row(
                f"{cls.__name__.removesuffix('Selector')}{label}",
                "allaml",
                ours,
                "GridSearchCV",
                theirs * SHARE,
                "<10 fits" if in_fits else "> 1x",
                ours < 10 * one if in_fits else ours < theirs * SHARE,
                f"{ours / one:.1f} fits of {one:.4f} s",
            )


def main() -> None:
    show(rows())


if __name__ == "__main__":
    main()
