"""The l2,1 path and ridge forward selection against their fastest peers, one thread each.

The l2,1 path has 50 strengths from the largest useful one to a hundredth of it, each to a duality
gap of 1e-6 ||Y||^2. A peer gets the loosest of its tolerances that gives objectives as good
(within 1e-6 ||Y||^2 of ours at every strength); it runs in a process of its own with a time limit.
"""

from __future__ import annotations

import multiprocessing
import queue as queue_module
import warnings
from time import perf_counter

from benchmarks.common import Row, best_of, load, show

import numpy as np  # isort: skip  (after common, which sets the number of threads)

LIMIT = 60.0  # seconds for one peer on one problem
N_ALPHAS, RATIO = 50, 0.01


def problems(names=("allaml", "warppie10p", "isolet"), synthetic=True):
    """(name, standardised X in Fortran order, centred Y)."""
    for name in names:
        data = load(name)
        if data is not None:
            X, y = data
            X = X[:, X.std(axis=0) > 0]
            yield name, (X - X.mean(0)) / X.std(0), np.eye(y.max() + 1)[y]
    if not synthetic:
        return
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((500, 5000)), np.zeros((5000, 5))
    W[:50] = rng.standard_normal((50, 5))
    yield "500 x 5000 x 5", X, X @ W + 3.0 * rng.standard_normal((500, 5))


def objectives(X, Y, coefs, alphas):
    """||XW - Y||^2 + alpha ||W||_{2,1} of every solution."""
    return np.array(
        [
            ((Y - X @ W) ** 2).sum() + a * np.sqrt((W**2).sum(axis=1)).sum()
            for W, a in zip(coefs, alphas, strict=True)
        ]
    )


def celer(X, Y, alphas, tol):
    from celer.homotopy import mtl_path

    return np.moveaxis(mtl_path(X, Y, alphas=alphas / (2 * len(X)), tol=tol)[1], 2, 0).transpose(
        0, 2, 1
    )


def skglm(X, Y, alphas, tol):
    from skglm.estimators import MultiTaskLasso

    model = MultiTaskLasso(fit_intercept=False, tol=tol)
    coefs = np.moveaxis(model.path(X, Y, alphas / (2 * len(X)))[1], 2, 0)
    return coefs if coefs.shape[1] == X.shape[1] else coefs.transpose(0, 2, 1)


def sklearn(X, Y, alphas, tol):
    from sklearn.linear_model import MultiTaskLasso

    model = MultiTaskLasso(fit_intercept=False, warm_start=True, tol=tol, max_iter=100_000)
    # A warm start reuses the array of coefficients, so every solution is copied.
    return np.array(
        [model.set_params(alpha=a / (2 * len(X))).fit(X, Y).coef_.T.copy() for a in alphas]
    )


def adelie(X, Y, alphas, tol):
    import adelie as ad

    state = ad.grpnet(
        X=X,
        glm=ad.glm.multigaussian(y=np.ascontiguousarray(Y)),
        lmda_path=alphas / (2 * len(X) * Y.shape[1]),
        intercept=False,
        early_exit=False,
        tol=tol,
        n_threads=1,
        progress_bar=False,
    )
    betas = np.asarray(state.betas.todense())
    return betas.reshape(len(alphas), X.shape[1], Y.shape[1])


# Tolerances mean different things; each ladder goes from loose to tight.
PEERS = {
    celer: (1e-6, 1e-7, 1e-8),
    skglm: (1e-4, 1e-5, 1e-6),
    sklearn: (1e-6, 1e-7),
    adelie: (1e-7, 1e-9, 1e-11),
}


def _timed_peer(peer, X, Y, alphas, ours, slack, queue):
    warnings.simplefilter("ignore")
    try:
        peer(X, Y, alphas[:2], 1e-3)  # compile
        for tol in PEERS[peer]:
            start = perf_counter()
            coefs = peer(X, Y, alphas, tol)
            seconds = perf_counter() - start
            worse = (objectives(X, Y, coefs, alphas) - ours).max()
            if worse <= slack:
                queue.put((seconds, f"tol {tol:g}"))
                return
        queue.put((seconds, f"still {worse / slack:.1f} times the gap above ours at tol {tol:g}"))
    except ImportError as error:
        queue.put((None, f"not installed: {error.name}"))
    except Exception as error:  # a peer that breaks must not pass for a slow one
        queue.put((None, f"failed: {type(error).__name__}: {error}"))


def against_peer(peer, X, Y, alphas, ours, slack, limit):
    """(seconds or None, note)."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(
        target=_timed_peer, args=(peer, X, Y, alphas, ours, slack, queue), daemon=True
    )
    process.start()
    try:
        return queue.get(timeout=limit)
    except queue_module.Empty:
        return limit, f"stopped at the limit of {limit:.0f} s"
    finally:
        process.kill()


def l21_rows(some=None, limit=LIMIT):
    from sparsieve import L21Selector

    for name, X, Y in problems() if some is None else some:
        X, Y = np.asfortranarray(X - X.mean(0)), Y - Y.mean(0)
        largest = 2 * np.sqrt(((X.T @ Y) ** 2).sum(axis=1)).max()
        alphas = np.geomspace(largest, RATIO * largest, N_ALPHAS)
        selector = L21Selector(fit_intercept=False, standardize=False, task="regression")
        selector.path(X, Y, alphas=alphas[:10])  # compiles what this shape of X needs
        start = perf_counter()
        path = selector.path(X, Y, alphas=alphas)
        seconds = perf_counter() - start
        power = (Y**2).sum()
        assert max(path.optimality) <= 1e-6
        ours = path.objective[1:]
        for peer in PEERS:
            theirs, note = against_peer(peer, X, Y, alphas, ours, 1e-6 * power, limit)
            reached = None if theirs is None else seconds <= theirs
            yield Row("l2,1 path", name, seconds, peer.__name__, theirs, ">= 1x", reached, note)


def forward_rows(names=("allaml", "warppie10p", "coil20", "isolet")):
    from sparsieve import RidgeForwardSelector

    for name in names:
        data = load(name)
        if data is None:
            continue
        X, y = data
        ours = best_of(lambda X=X, y=y: RidgeForwardSelector(50).fit(X, y))
        try:
            from fastcan import FastCan
        except ImportError:
            yield Row("ridge forward, k = 50", name, ours, "fastcan", None, ">= 1x", None, "absent")
            continue
        Y = np.eye(y.max() + 1)[y][:, :-1]
        theirs = best_of(lambda X=X, Y=Y: FastCan(50, verbose=0).fit(X, Y))
        yield Row("ridge forward, k = 50", name, ours, "fastcan", theirs, ">= 1x", ours <= theirs)
    data = load("nakayama")
    if data is not None:
        X, y = data[0][:104], data[1][:104]
        ours = best_of(lambda: RidgeForwardSelector(50).fit(X, y))
        yield Row("ridge forward, k = 50", "104 x 22283", ours, "-", None, "< 0.2 s", ours < 0.2)


def main() -> None:
    show(forward_rows(), "fastcan")
    show(l21_rows(), "celer", "skglm", "adelie")


if __name__ == "__main__":
    main()
