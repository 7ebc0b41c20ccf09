"""Draw the pictures of the pages: ``python docs/make_pictures.py`` (``make pictures``).

They are kept in the repository, so that pages can be built without running anything; running this
again after a change shows whether they still tell the truth.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from card_pictures import CARDS

import sparsieve
from sparsieve import datasets
from sparsieve.penalties import concave as surrogates

FOLDER = Path(__file__).parent / "_static" / "pictures"
plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sparsieve", "font.size": 10})
GREY = "0.7"


def least_squares(axes):
    data = datasets.make_shared_features(
        60, 120, n_relevant=5, n_classes=2, signal=0.8, random_state=1
    )
    alphas = np.geomspace(1.0, 0.05, 25) * alpha_max(data)
    norms = np.array(
        [
            np.linalg.norm(sparsieve.L21Selector(alpha=a).fit(data.X, data.y).coef_, axis=0)
            for a in alphas
        ]
    )
    for j in np.flatnonzero(norms.max(axis=0)):
        true = j in data.relevant
        axes[0].plot(alphas / alphas[0], norms[:, j], color=None if true else GREY, zorder=true)
    axes[0].set(xlabel="penalty, relative to the largest", ylabel="length of the row", title="l2,1")
    axes[0].invert_xaxis()
    for ridge in (0.0, 1.0):
        gains = sparsieve.RidgeForwardSelector(30, ridge=ridge).fit(data.X, data.y).gains_
        axes[1].semilogy(np.arange(1, len(gains) + 1), gains / gains[0], label=f"ridge {ridge:g}")
    axes[1].set(xlabel="features", ylabel="gain, relative to the first", title="forward")
    axes[1].legend()


def alpha_max(data):
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    Y = np.eye(2)[np.searchsorted(np.unique(data.y), data.y)]
    return 2 * np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max()


def robust(axes):
    r = np.linspace(0, 4, 100)
    for ax, square, norm, title in (
        (axes[0], r**2, r, "what it adds"),
        (axes[1], 2 * r, np.ones_like(r), "how hard it pulls"),
    ):
        ax.plot(r, square, label="squared")
        ax.plot(r, norm, label="norm (robust)")
        ax.set(xlabel="residual of a sample", title=title)
    axes[0].legend()


def exclusive(axes):
    data = datasets.make_class_exclusive(
        600, 100, n_relevant_per_class=4, n_classes=4, random_state=0
    )
    order = np.concatenate(data.relevant_per_class)
    models = {
        "l2,1": sparsieve.L21Selector(alpha=120.0),
        "exclusive l2,1": sparsieve.ExclusiveL21Selector(alpha=120.0, beta=1e4),
    }
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        values = model.fit(data.X, data.y).coef_[:, order]
        limit = np.abs(values).max()
        ax.pcolormesh(values, cmap="RdBu", vmin=-limit, vmax=limit)
        ax.set(title=name, xlabel="relevant features, by class", ylabel="class")
        ax.set(xticks=[], yticks=np.arange(4) + 0.5, yticklabels=range(4))


def mkl(axes):
    data = datasets.make_nonlinear_additive(300, 20, n_relevant=1, noise=0.05, random_state=0)
    (feature,) = data.relevant
    x, positive = data.X[:, feature], data.y == np.unique(data.y)[1]
    axes[0].hist([x[positive], x[~positive]], bins=20, stacked=True)
    axes[0].set(xlabel="feature", ylabel="samples", title="the two classes")
    model = sparsieve.L0MKLSelector(1, kernel="rbf").fit(data.X, data.y)
    grid = np.zeros((100, 20))
    grid[:, feature] = np.linspace(x.min(), x.max(), 100)
    axes[1].plot(grid[:, feature], model.decision_function(grid), color="C2")
    axes[1].axhline(0, color=GREY)
    axes[1].set(xlabel="feature", ylabel="decision function", title="the curve it learns")


def minimax(axes):
    rng = np.random.default_rng(0)
    shapes = np.array([[[1.0, 0.6], [0.6, 0.8]], [[0.5, -0.1], [-0.1, 1.2]]])
    centres = np.array([[-1.5, -1.0], [1.8, 1.0]])
    X = np.concatenate(
        [rng.multivariate_normal(c, s, 80) for c, s in zip(centres, shapes, strict=True)]
    )
    y = np.repeat([0, 1], 80)
    machine = sparsieve.MPMClassifier(ridge=0.0).fit(X, y)
    level = machine.worst_case_accuracy_
    kappa = np.sqrt(level / (1 - level))
    t = np.linspace(0, 2 * np.pi, 100)
    (ax,) = axes
    for k in (0, 1):
        points = X[y == k]
        root = np.linalg.cholesky(np.cov(points.T, bias=True))
        ellipse = points.mean(axis=0) + kappa * np.column_stack([np.cos(t), np.sin(t)]) @ root.T
        ax.plot(*points.T, ".", markersize=4, color=f"C{k}")
        ax.plot(*ellipse.T, color=f"C{k}")
    low, high = X[:, 0].min(), X[:, 0].max()
    grid = np.array([low, high])
    w, b = machine.coef_[0], machine.intercept_[0]
    ax.plot(grid, -(w[0] * grid + b) / w[1], color="black")
    ax.set(title=f"guaranteed accuracy {level:.0%}", xlabel="feature 1", ylabel="feature 2")
    ax.set(ylim=(X[:, 1].min() - 0.5, X[:, 1].max() + 0.5))


def svm(axes):
    t = np.linspace(0, 1.5, 200)
    (ax,) = axes
    for name, kind in (
        ("exp", surrogates.ExpSurrogate),
        ("capped l1", surrogates.CappedL1Surrogate),
    ):
        ax.plot(t, kind(theta=5.0).value(t), label=f"{name}, theta = 5")
    ax.plot(t, t, label="l1")
    ax.plot([0, 0, 1.5], [0, 1, 1], ":", color="black", label="counting")
    ax.set(xlabel="size of a weight", ylabel="what it costs")
    ax.legend()


def filters(axes):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 2
    apart = rng.standard_normal((150, 2)) + np.column_stack([2.5 * y, 0 * y])
    together = rng.standard_normal((150, 2))
    corner = together.prod(axis=1) > 0
    for ax, X, label, title in (
        (axes[0], apart, y == 1, "one feature is enough"),
        (axes[1], together, corner, "only both together"),
    ):
        ax.plot(*X[label].T, "o", markersize=3)
        ax.plot(*X[~label].T, "s", markersize=3)
        ax.set(title=title, xlabel="feature 1", ylabel="feature 2")


def wrappers(axes):
    data = datasets.make_shared_features(
        100, 300, n_relevant=6, n_classes=2, signal=0.8, random_state=2
    )
    stable = sparsieve.StabilitySelection(n_subsamples=60).fit(data.X, data.y)
    order = np.argsort(-stable.selection_probabilities_)[:25]
    (ax,) = axes
    colours = np.where(np.isin(order, data.relevant), "C2", GREY)
    ax.bar(range(25), stable.selection_probabilities_[order], color=colours)
    ax.axhline(stable.threshold_, color="C3", linestyle="--")
    ax.set(xlabel="features, by how often they were kept", ylabel="share of the halves", xticks=[])


def unsupervised(axes):
    rng = np.random.default_rng(0)
    kind = np.arange(150) % 3
    centres = np.array([[0, 0], [4, 1], [1, 4]])
    X = rng.standard_normal((150, 20))
    X[:, :2] = centres[kind] + 0.6 * X[:, :2]
    X /= X.std(axis=0)
    for k in range(3):
        axes[0].plot(*X[kind == k, :2].T, ".")
    axes[0].set(xlabel="feature 0", ylabel="feature 1", title="no labels are given")
    scores = sparsieve.LaplacianScoreSelector(2).fit(X).scores_
    axes[1].bar(range(20), scores, color=["C2", "C2", *[GREY] * 18])
    axes[1].set(xlabel="feature", ylabel="score", title="Laplacian score")


PICTURES = {
    "least_squares": (least_squares, 2),
    "robust": (robust, 2),
    "exclusive": (exclusive, 2),
    "mkl": (mkl, 2),
    "minimax": (minimax, 1),
    "svm": (svm, 1),
    "filters": (filters, 2),
    "wrappers": (wrappers, 1),
    "unsupervised": (unsupervised, 2),
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (draw, n_axes) in PICTURES.items():
        size = (9, 3.2) if n_axes == 2 else (6, 3.6)
        figure, axes = plt.subplots(1, n_axes, figsize=size, layout="constrained", squeeze=False)
        draw(axes[0])
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)
    for draw in CARDS:
        figure, ax = plt.subplots(figsize=(3, 1.3), layout="constrained")
        draw(ax)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        file = FOLDER / f"card_{draw.__name__}.svg"
        figure.savefig(file, metadata={"Date": None}, transparent=True)
        plt.close(figure)
    report_picture()


def report_picture():
    """The top of the report that ``sparsieve demo`` writes, where there is a browser to open it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        print("report.png stays as it is: there is no Chromium on this machine")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        subprocess.run([sys.executable, "-m", "sparsieve", "demo", "--report", page], check=True)
        picture = FOLDER.parent / "report.png"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,835"]
        options += ["--virtual-time-budget=10000", f"--screenshot={picture}"]
        subprocess.run([browser, *options, page.as_uri()], check=True)


if __name__ == "__main__":
    main()
