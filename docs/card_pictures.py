"""Small pictures for the cards of the front page, drawn by ``make pictures``.

Each shows a result of the library in a few lines; the shapes matter, so axes have no numbers.
"""

import re
from pathlib import Path

import numpy as np
from matplotlib.patches import FancyArrow, Rectangle
from sklearn.datasets import load_breast_cancer, load_wine

import sparsieve
from sparsieve import datasets

BLUE, GREEN, ORANGE, RED, GREY = "#1f6fb2", "#2a9d5c", "#e08a1e", "#c8403a", "0.65"


def start(ax):
    """A table of which few columns are kept."""
    rng = np.random.default_rng(0)
    shades = 0.25 + 0.5 * rng.random((6, 16))
    kept = (3, 8, 12)
    for i in range(6):
        for j in range(16):
            colour = BLUE if j in kept else GREY
            ax.add_patch(Rectangle((j, i), 0.85, 0.85, color=colour, alpha=shades[i, j]))
    ax.set(xlim=(-0.5, 16.4), ylim=(-0.5, 6.4))


def messy(ax):
    """A table with gaps."""
    rng = np.random.default_rng(3)
    for i in range(6):
        for j in range(14):
            gap = rng.random() < 0.15
            style = {"fill": False, "edgecolor": RED} if gap else {"color": GREY, "alpha": 0.5}
            ax.add_patch(Rectangle((j, i), 0.8, 0.8, **style))
    ax.set(xlim=(-0.5, 14.4), ylim=(-0.5, 6.4))


def how_many(ax):
    X, y = load_breast_cancer(return_X_y=True)
    search = sparsieve.SelectorCV(ks=[1, 2, 3, 4, 6, 8, 10, 14, 20], n_repeats=1).fit(X, y)
    curve, error = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"] / 2
    ks = search.cv_results_["param_k"].astype(int)
    ax.fill_between(ks, curve - error, curve + error, color=BLUE, alpha=0.2, linewidth=0)
    ax.plot(ks, curve, "o-", color=BLUE, markersize=3)
    ax.axvline(search.k_by_rule_["one_se"], color=RED, linestyle="--")


def which_method(ax):
    """Differences to the default with their intervals, from the quality study."""
    table = (Path(__file__).parent / "measured" / "quality.csv").read_text(encoding="utf-8")
    ax.axvline(0, color=GREY)
    for row, name in enumerate(("HSICLasso", "L20", "SVMRFE", "L21", "RFS", "MRMR")):
        found = re.search(rf'^{name}Selector,\d+,"(\S+) \[(\S+), (\S+)\]"', table, re.M)
        mean, low, high = map(float, found.groups())
        colour = GREEN if low <= 0 <= high else ORANGE
        ax.plot([low, high], [-row, -row], color=colour, linewidth=2)
        ax.plot(mean, -row, "o", color=colour, markersize=5)


def compare(ax):
    X, y = load_wine(return_X_y=True)
    found = sparsieve.compare(X, y, ["ridge-forward", "mrmr", "fisher"], ks=[1, 2, 3, 4, 5, 7])
    for method, colour in zip(found.methods.values(), (BLUE, ORANGE, GREEN), strict=True):
        ax.plot(found.ks, method.scores["accuracy"].mean(axis=1), "o-", color=colour, markersize=3)


def stability(ax):
    data = datasets.make_shared_features(100, 300, n_relevant=6, signal=0.8, random_state=2)
    stable = sparsieve.StabilitySelection(n_subsamples=40).fit(data.X, data.y)
    order = np.argsort(-stable.selection_probabilities_)[:20]
    colours = [GREEN if j in data.relevant else GREY for j in order]
    ax.bar(range(20), stable.selection_probabilities_[order], color=colours)
    ax.axhline(stable.threshold_, color=RED, linestyle="--")


def honest(ax):
    """Accuracy on noise: selection before splitting, and inside the folds."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    wrong, right = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((50, 2000)), rng.permutation(np.arange(50) % 2)
        selector = sparsieve.FStatisticSelector(20)
        leaked = selector.fit(X, y).transform(X)
        wrong.append(cross_val_score(RidgeClassifier(), leaked, y).mean())
        right.append(cross_val_score(make_pipeline(selector, RidgeClassifier()), X, y).mean())
    ax.axvline(0.5, color=GREY, linestyle=":")
    ax.plot(wrong, np.linspace(0.9, 1.1, 8), "o", color=RED, markersize=5)
    ax.plot(right, np.linspace(-0.1, 0.1, 8), "o", color=GREEN, markersize=5)
    ax.set(ylim=(-0.6, 1.6), xlim=(0.2, 1.0))


def reports(ax):
    X, y = load_wine(return_X_y=True)
    kept = sparsieve.RidgeForwardSelector(8).fit(X, y).get_support(indices=True)
    values = ((X - X.mean(axis=0)) / X.std(axis=0))[np.argsort(y, kind="stable")][::3, kept]
    ax.imshow(values.T, cmap="RdBu_r", vmin=-2.5, vmax=2.5, aspect="auto")


def large(ax):
    """Blocks of rows that pass by one after the other."""
    for i in range(6):
        ax.add_patch(Rectangle((0, 6 - i), 6, 0.8, color=BLUE if i == 2 else GREY, alpha=0.6))
    ax.add_patch(FancyArrow(6.4, 4.4, 2.2, 0, width=0.15, head_length=0.5, color=BLUE))
    ax.add_patch(Rectangle((9.2, 3.4), 2.6, 2, fill=False, edgecolor=BLUE, linewidth=2))
    ax.set(xlim=(-0.5, 12.5), ylim=(0.5, 7.3))


def own(ax):
    """Code."""
    lines = ((0, 5, BLUE), (1, 7, GREY), (2, 9, GREEN), (2, 6, GREY), (1, 4, ORANGE), (2, 8, GREY))
    for row, (indent, length, colour) in enumerate(lines):
        ax.add_patch(Rectangle((indent, -row), length, 0.45, color=colour, alpha=0.8))
    ax.set(xlim=(-1, 14), ylim=(-5.8, 1.2))


def proofs(ax):
    X, y = load_breast_cancer(return_X_y=True)
    proof = sparsieve.RidgeForwardSelector(12, ridge=0.3).fit(X, y).certify(X, y)
    ax.fill_between(proof.n_features, proof.lower_bound, proof.objective, color=BLUE, alpha=0.2)
    ax.plot(proof.n_features, proof.objective, "o-", color=BLUE, markersize=3)
    ax.plot(proof.n_features, proof.lower_bound, "--", color=BLUE)


def papers(ax):
    """How the objective of a published method falls, from the record of its paper."""
    from sparsieve_experiments.papers import read_record

    rows = read_record("l20").reproduction.exhibits[0].rows
    sets = list(dict.fromkeys(row["dataset"] for row in rows))[:5]
    for name, colour in zip(sets, (BLUE, GREEN, ORANGE, RED, GREY), strict=False):
        curve = [row["relative_objective"] for row in rows if row["dataset"] == name]
        ax.semilogx(range(1, len(curve) + 1), curve, color=colour)
    ax.minorticks_off()


CARDS = (
    *(start, messy, how_many, which_method, compare, stability, honest, reports, large, own),
    *(proofs, papers),
)
