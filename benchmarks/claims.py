"""Do claims hold their level? False discovery proportion and power where the truth is known.

Planted truth: the columns of real data, and a target made of few of them. Global nulls: data
without any relation to the target. Half of the designs are for tuning, the others decide. A claim
is true if its correlation with a true column is at least 0.7 (1 for "strict"), as the selector
sees the columns. Methods:

- ``own``: ``FDRSelector()``; ``strict``: with ``substitutes=1``; ``sets``: with ``claim="set"``,
  where a claim is true if a true column, or a copy of one, is in the set;
- variants of it, from one set of paths: the path ends at a step p-value of 0.2, 0.5 or 0.8
  (``stop0.2``, ``base``, ``stop0.8``; ``base`` is ``own`` with other draws and without the test
  with shuffled targets), has half or twice as many steps as ``base`` (``half``, ``double``), the
  p-values of these three lengths are combined by Cauchy's rule, by their maximum or as e-values
  (``cauchy``, ``max``, ``evalues``), or those of this length and of one less or more by their
  maximum (``near``, ``next``), more candidates are tested against the path of usual length
  (``more``), or every candidate has a path that ends by itself (``alone``);
- ``marginal``: Benjamini and Hochberg on the p-values of single columns; ``knockoffs``: five
  copies, where there are three samples for each column;
- ``stability``: ``StabilitySelection`` with one false selection expected; ``shadows``:
  ``ShadowSelector`` of a forest; ``knockpy``: MVR knockoffs, and ``trex``: the T-Rex selector for
  numbers (trexselector), where they are installed.

::

    python -m benchmarks.claims run build/claims.jsonl own marginal  # goes on where it was stopped
    python -m benchmarks.claims table build/claims.jsonl             # writes claims.csv beside this
    python -m benchmarks.claims_page                                 # writes the page from that
"""

from __future__ import annotations

import csv
import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from time import process_time

from benchmarks import common
from benchmarks.claims_designs import clipped, designs, draw, settings

import numpy as np  # isort: skip
from scipy.stats import binom, norm
from scipy.stats import t as student

LEVEL = 0.1
N_REPEATS = 100
N_NULL = 200  # of designs without signal
# Where not as many.
REPEATS = {"variants": 30, "trex": 20, "stability": 10, "shadows": 10, "knockpy": 3}
TABLE = common.ROOT / "benchmarks" / "claims.csv"
FIELDS = ("design", "half", "method", "n", "d", "true", "repeats", "fdr", "fdr_low", "fdr_high")
FIELDS += ("power", "power_low", "power_high", "fdr_sd", "claims", "any", "seconds", "size")

# -- methods ---------------------------------------------------------------------------------------


def claims_of(method, X, y, design):
    """Columns that a method claims."""
    from sparsieve import FDRSelector, StabilitySelection

    told = settings(design, y)
    task = told["task"]
    if method in ("own", "strict", "marginal", "knockoffs"):
        groups = told.pop("groups", None)
        how = {"strict": {"substitutes": 1.0}, "own": {}}.get(method, {"claim": method})
        selector = FDRSelector(LEVEL, **told, **how)
        try:
            return selector.fit(X, y, groups=groups).get_support(indices=True)
        except ValueError as refused:
            if "knockoffs do not hold" not in str(refused):
                raise
            return np.zeros(0, dtype=int)
    if method == "sets":
        groups = told.pop("groups", None)
        found = FDRSelector(LEVEL, claim="set", **told).fit(X, y, groups=groups)
        return [np.array([i for i, _ in some], dtype=int) for some in found.sets_.values()]
    if method == "stop0.8":  # the best on the designs for tuning
        return by_path(X, y, design, stop=0.8)
    if method == "stability":
        return StabilitySelection("ridge-forward").fit(X, y).get_support(indices=True)
    if method == "shadows":
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

        from sparsieve import ShadowSelector

        forest = ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier
        model = forest(20, max_depth=5, random_state=0)
        return ShadowSelector(model, max_rounds=60).fit(X, y).get_support(indices=True)
    if method == "knockpy":
        from knockpy import KnockoffFilter

        filtered = KnockoffFilter(
            ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "mvr"}
        )
        kept = filtered.forward(X=clipped(X), y=y.astype(float), fdr=LEVEL, shrinkage="ledoitwolf")
        return np.flatnonzero(kept)
    if method == "trex":
        from trexselector import trex

        Z = X - X.mean(axis=0)
        Z /= np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0)
        found = trex(Z, y.astype(float), tFDR=LEVEL, verbose=False, seed=0)
        return np.asarray(found["selected_var"], dtype=int)
    raise ValueError(f"unknown method {method!r}")


def by_path(X, y, design, **settings):
    """Claims with other settings of the paths."""
    from sparsieve import FDRSelector
    from sparsieve.selectors.least_squares.claim_data import claim_data
    from sparsieve.selectors.ranked import adjusted_pvalues
    from sparsieve.solvers.claims.distillation import ForwardDistillation

    told = settings(design, y)
    selector = FDRSelector(task=told["task"], always_keep=told.get("always_keep"))
    problem = claim_data(selector._training_data(X, y, None), "FDRSelector").problem
    found = ForwardDistillation(0.7, **settings).solve(problem).solution
    every = np.ones(X.shape[1])
    every[found.order] = found.pvalues
    adjusted = adjusted_pvalues(every[problem.eligible])
    return np.flatnonzero(problem.eligible)[adjusted <= LEVEL]


def variants(X, y, design):
    """Claims of all variants, from one set of paths: {name: columns}."""
    from sparsieve import FDRSelector
    from sparsieve.selectors.least_squares.claim_data import claim_data
    from sparsieve.selectors.ranked import adjusted_pvalues
    from sparsieve.solvers.claims.distillation import ForwardDistillation
    from sparsieve.solvers.claims.distilled_state import KeptColumns

    told = settings(design, y)
    selector = FDRSelector(task=told["task"], always_keep=told.get("always_keep"))
    ready = claim_data(selector._training_data(X, y, None), "FDRSelector")
    problem, columns = ready.problem, KeptColumns(ready.problem)
    most = max(1, len(X) // 8)
    long = ForwardDistillation(0.7, max_share=0.25, stop=0.8)
    path, found = long._path(problem, columns, None)
    order = found.order[:most]
    lengths = {}
    for stop in (0.2, 0.5, 0.8):
        over = 1 + np.flatnonzero(found.step_pvalues[1:most] > stop)
        lengths[stop] = int(over[0]) if len(over) else len(order)
    K = lengths[0.5]
    far = min(max(lengths[0.8], 2 * K), path.limit)
    P = np.ones((len(order), far + 1))  # p-value of a candidate by the length of its path
    alone = np.ones(len(order))
    for t, j in enumerate(order.tolist()):
        close = np.abs(found.correlations[t]) >= 0.7
        close[j] = True
        start = int(np.flatnonzero(close[found.order])[0])
        left = path.restarted(start, ~close)
        while True:
            P[t, len(left.order)] = left.test(j, problem.freedom - len(left.order))[1]
            if len(left.order) >= far or (i := left.best()) is None:
                P[t, len(left.order) :] = P[t, len(left.order)]
                break
            left.take(i, columns.products(i))
        for size in range(start):  # shorter than where the path begins to differ
            short = path.restarted(size, ~close)
            P[t, size] = short.test(j, problem.freedom - size)[1]
        if t < K:
            alone[t] = P[t, own_length(problem, path.restarted(start, ~close), columns, far)]

    def kept(candidates, pvalues):
        every = np.ones(problem.design.shape[1])
        every[order[:candidates]] = pvalues[:candidates]
        adjusted = adjusted_pvalues(every[problem.eligible])
        return np.flatnonzero(problem.eligible)[adjusted <= LEVEL]

    def kept_by_evalues(values):  # at most as many as have d / (level * number) or more
        sizes = np.sort(values[:K])[::-1] * LEVEL * np.arange(1, K + 1) / problem.eligible.sum()
        least = np.sort(values[:K])[::-1][np.flatnonzero(sizes >= 1.0)[-1:]]
        return order[:K][values[:K] >= least[0]] if len(least) else order[:0]

    three = P[:, [max(1, K // 2), K, min(2 * K, far)]]
    cauchy = (
        0.5 - np.arctan(np.tan((0.5 - np.minimum(three, 1 - 1e-12)) * np.pi).mean(axis=1)) / np.pi
    )
    return {
        "base": kept(K, P[:, K]),
        "stop0.2": kept(lengths[0.2], P[:, lengths[0.2]]),
        "stop0.8": kept(lengths[0.8], P[:, lengths[0.8]]),
        "half": kept(K, three[:, 0]),
        "double": kept(K, three[:, 2]),
        "cauchy": kept(K, cauchy),
        "max": kept(K, three.max(axis=1)),
        "near": kept(K, P[:, [K - 1, K]].max(axis=1)),
        "next": kept(K, P[:, [K, min(K + 1, far)]].max(axis=1)),
        "evalues": kept_by_evalues((0.5 / np.sqrt(np.maximum(three, 1e-300))).mean(axis=1)),
        "more": kept(lengths[0.8], P[:, K]),
        "alone": kept(K, alone),
    }


def own_length(problem, left, columns, far):
    """How far a path goes that may not use a candidate, by its own steps."""
    from sparsieve.solvers.claims.random_targets import RandomTargets

    targets = RandomTargets(problem, 40, 1)
    for place, i in enumerate(left.order):
        targets.take(left.P[place], columns.column(i))
    while len(left.order) < far and (i := left.best()) is not None:
        observed = float(left.explained().max(initial=0.0))
        if left.order and (targets.largest(left, targets.followed) >= observed).mean() > 0.5:
            break
        left.take(i, columns.products(i))
        targets.take(left.P[len(left.order) - 1], columns.column(i))
    return max(1, len(left.order))


# -- runs and tables -------------------------------------------------------------------------------


def outcome(claims, true, X, classes, strict):
    """(false claims, share of the true columns that are found)."""
    from sparsieve.design.sparse_ranks import normal_scores
    from sparsieve.selectors.least_squares.claim_data import MIN_CLASS, MIN_CLIPPED

    if not len(true):
        return len(claims), 0.0
    rare = classes is not None and np.unique(classes, return_counts=True)[1].min() < MIN_CLASS
    Z = clipped(normal_scores(X) if rare or len(X) < MIN_CLIPPED else X)
    if isinstance(claims, list):  # sets of columns
        same = np.abs(Z.T @ Z[:, true]) / len(X) >= 1 - 1e-7
        close = np.array([same[some].any(axis=0) for some in claims]).reshape(-1, len(true))
        return int((~close.any(axis=1)).sum()), float(close.any(axis=0).mean())
    close = np.abs(Z[:, claims].T @ Z[:, true]) / len(X) >= (1 - 1e-7 if strict else 0.7)
    return int((~close.any(axis=1)).sum()), float(close.any(axis=0).mean())


def repeats(method: str, design: str, half: str) -> int:
    """How often a method meets a design; 0 for never."""
    if design.startswith("null: "):
        return {"own": N_NULL, "sets": N_REPEATS}.get(method, 0)
    if method == "trex" and draw(design, 0)[1].dtype.kind != "f":  # for numbers
        return 0
    if method in ("knockoffs", "knockpy"):
        n, d = draw(design, 0)[0].shape
        if n >= 3 * d and "linear" in design:
            return N_REPEATS
        if method == "knockoffs" or " ten " in design:  # unordered classes are no numbers
            return 0
    if (method == "variants" and half != "tune") or (method == "stop0.8" and half == "tune"):
        return 0
    return REPEATS.get(method, N_REPEATS)


def run(path: Path, methods: list[str]) -> None:
    """Add a line for every design and method that the file lacks, repeat by repeat."""
    done: dict[tuple[str, str], int] = defaultdict(int)
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            done[row["design"], row["method"]] += 1
    wanted = {
        (design, method): repeats(method, design, half)
        for design, half in designs().items()
        for method in methods
    }
    with path.open("a") as lines:
        for repeat in range(N_NULL):  # all designs once, then again
            for (design, method), limit in wanted.items():
                counted = "base" if method == "variants" else method
                if done[design, counted] <= repeat < limit:
                    once(lines, design, method, repeat)
                    lines.flush()


def once(lines, design, method, repeat):
    X, y, true = draw(design, repeat)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = variants(X, y, design) if method == "variants" else {
            method: claims_of(method, X, y, design)
        }  # fmt: skip
    seconds = process_time() - start
    for name, claims in found.items():
        told = settings(design, y)
        if told.get("always_keep") and name != "sets":
            claims = claims[claims != 0]
        classes = told["task"] == "classification"
        false, power = outcome(claims, true, X, y if classes else None, name == "strict")
        row = {"design": design, "method": name, "repeat": repeat, "n": len(X), "d": X.shape[1]}
        row |= {"true": len(true), "claims": len(claims), "false": false, "power": power}
        if name == "sets":
            row["sizes"] = [len(some) for some in claims]
        lines.write(json.dumps(row | {"seconds": round(seconds, 4)}) + "\n")


def interval(values):
    """Mean and its 95 % interval; no smaller than what one more false claim would make of it."""
    values = np.asarray(values, dtype=float)
    mean, n = values.mean(), len(values)
    half = norm.isf(0.025) * max(values.std(ddof=1) if n > 1 else 1.0, 1e-9) / np.sqrt(n)
    high = max(mean + half, 3.0 / n) if mean < 3.0 / n else mean + half
    return mean, max(mean - half, 0.0), min(high, 1.0)


def above_level(rows, level=LEVEL) -> dict[str, float]:
    """How sure it is that designs have a false discovery rate above the level.

    Without signal, the rate is the probability of any claim: an exact binomial test. With planted
    truth: a t-test of the mean proportion, which is careful because most proportions are zero.

    Parameters
    ----------
    rows : list of dict
        Rows of one method in claims.csv, one for each design.
    level : float

    Returns
    -------
    adjusted : dict of str to float
        One-sided p-value of every design, adjusted by Holm's procedure. If no rate is above the
        level, the probability that any of these is below 0.01 is at most 1 %.

    Examples
    --------
    >>> from benchmarks.claims import above_level
    >>> row = {"design": "null", "true": 0, "repeats": 200, "fdr": 0.2, "fdr_sd": 0.4}
    >>> found = above_level([row, row | {"design": "other", "fdr": 0.1}])
    >>> {design: round(p, 4) for design, p in found.items()}
    {'null': 0.0, 'other': 0.5409}
    """
    found = {}
    for row in rows:
        rate, spread, n = float(row["fdr"]), float(row["fdr_sd"]), int(row["repeats"])
        if not int(row["true"]):
            found[row["design"]] = float(binom.sf(round(rate * n) - 1, n, level))
        elif spread > 0 and n > 1:
            found[row["design"]] = float(student.sf((rate - level) / (spread / np.sqrt(n)), n - 1))
        else:
            found[row["design"]] = float(rate <= level)
    adjusted, largest = {}, 0.0
    for place, (design, p) in enumerate(sorted(found.items(), key=lambda item: item[1])):
        largest = max(largest, min((len(found) - place) * p, 1.0))
        adjusted[design] = largest
    return adjusted


def table(path: Path) -> list[dict[str, object]]:
    """A row for every design and method; what the file lacks stays as it was in claims.csv."""
    found = defaultdict(list)
    with TABLE.open(newline="") as lines:
        kept = {(row["design"], row["method"]): row for row in csv.DictReader(lines)}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        found[row["design"], row["method"]].append(row)
    rows = []
    for design, half in designs().items():
        for method in sorted({m for d, m in (*found, *kept) if d == design}):
            if not (some := found[design, method]):
                rows.append(kept[design, method])
                continue
            shares = [one["false"] / max(one["claims"], 1) for one in some]
            fdr = interval(shares)
            power = interval([one["power"] for one in some])
            sizes = [size for one in some for size in one.get("sizes", ())]
            numbers = dict(zip(FIELDS[7:13], (f"{x:.3f}" for x in (*fdr, *power)), strict=True))
            rows.append(
                {
                    **{"design": design, "half": half, "method": method, "repeats": len(some)},
                    **{key: some[0][key] for key in ("n", "d", "true")},
                    **numbers,
                    "fdr_sd": f"{np.std(shares, ddof=1) if len(some) > 1 else 0.0:.4f}",
                    "claims": f"{np.mean([one['claims'] for one in some]):.2f}",
                    "any": f"{np.mean([one['claims'] > 0 for one in some]):.3f}",
                    "seconds": f"{np.median([one['seconds'] for one in some]):.3g}",
                    "size": f"{np.median(sizes):.0f}" if sizes else "",
                }
            )
    with TABLE.open("w", newline="") as out:
        writer = csv.DictWriter(out, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return rows


def means(rows) -> dict[tuple[str, str], list[dict[str, str]]]:
    """Rows with a planted truth by method and half."""
    by = defaultdict(list)
    for row in rows:
        if int(row["true"]):
            by[row["method"], row["half"]].append(row)
    return dict(sorted(by.items()))


def summary(rows) -> None:
    """By method and half: mean and worst false discovery rate, and power."""
    for (method, half), some in means(rows).items():
        rates = [float(row["fdr"]) for row in some]
        power = np.mean([float(row["power"]) for row in some])
        worst = some[int(np.argmax(rates))]["design"]
        print(
            f"{method:<12}{half:<8}{len(some):>4} designs, false {np.mean(rates):.3f} (worst "
            f"{max(rates):.3f}, {worst}), power {power:.3f}"
        )


if __name__ == "__main__":
    where = Path(sys.argv[2])
    if sys.argv[1] == "run":
        where.parent.mkdir(parents=True, exist_ok=True)
        run(where, sys.argv[3:])
    else:
        summary(table(where))
