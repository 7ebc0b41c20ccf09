"""Products of signs that curves of single features miss: pairs, triples, and which are kept.

Every column becomes a sign about its median. What stumps, which know no interaction, leave of the
target is compared with all products of two signs, and of three where there are few columns, by
products of matrices. What exceeds noise becomes a column of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .boosting import MAX_CODES, STUMPS, CodedColumns, code_columns

MAX_PRODUCTS = 30
MAX_SAMPLES = 4000  # that products are screened on
MAX_COLUMNS = 2000  # that enter pairs: those that stumps gain most from
MAX_COLUMNS_OF_TRIPLES = 100
MIN_SAMPLES = 100
MAX_OUTPUTS = 3  # of the residual; random projections of more
CLIP = 3.0  # standard deviations of the residual
WIDE_STUMPS = replace(STUMPS, columns=0.3)  # where there are more
OWN_EFFECT_LEVEL = 0.01
N_OCTILES = 8


@dataclass(frozen=True)
class Products:
    """Products of signs that are related to what stumps leave.

    Attributes
    ----------
    owners : list of tuple of int
        Columns of each product, two or three.
    adds : ndarray of shape (n_products,)
        Share of the target that the product explains beyond curves of single features.
    table : CodedColumns
        Their values: 0, 1 where one of the signs is not known or at the median, and 2.
    """

    owners: list[tuple[int, ...]]
    adds: np.ndarray
    table: CodedColumns


def median_signs(codes: CodedColumns) -> np.ndarray:
    """-1 and 1 on the sides of the median, 0 where a value is missing, in single precision."""
    known = codes.codes < MAX_CODES
    counts = known.sum(axis=0)
    ordered = np.sort(codes.codes, axis=0)  # gaps come last
    median = ordered[np.maximum(counts - 1, 0) // 2, np.arange(codes.codes.shape[1])]
    above, from_on = ((codes.codes > median) & known), ((codes.codes >= median) & known)
    # Of many values at the median, put them on the side that divides the samples more evenly.
    half = counts / 2.0
    later = np.abs(above.sum(axis=0) - half) > np.abs(from_on.sum(axis=0) - half)
    upper = np.where(later, from_on, above)
    return np.where(upper, np.float32(1), np.where(known, np.float32(-1), np.float32(0)))


def found_products(
    table: CodedColumns,
    open_columns: np.ndarray,
    on_some: Callable[[int], tuple[np.ndarray, Any]],
    rng: np.random.Generator,
) -> Products:
    """Products among ``open_columns`` that say more than noise about what stumps leave.

    ``on_some`` draws at most so many samples, and gives their places and their loss.
    """
    n_samples = len(table.codes)
    varied = open_columns[~table.constant[open_columns]]
    if n_samples < MIN_SAMPLES or len(varied) < 2:
        return no_products(n_samples)
    rows, loss = on_some(MAX_SAMPLES)
    some = table.columns(varied)
    few = some if len(rows) == n_samples else some.rows(rows)
    many = len(varied) > MAX_COLUMNS
    gains, F = (WIDE_STUMPS if many else STUMPS).fit(few, loss, rng)
    G = loss.gradient(F)
    whole = float((loss.gradient(np.tile(loss.null()[0], (len(rows), 1))) ** 2).sum())
    left = float((G**2).sum()) / max(whole, 1e-300)
    if G.shape[1] > MAX_OUTPUTS:
        G = G @ rng.standard_normal((G.shape[1], MAX_OUTPUTS))
    if many:
        best = np.sort(np.argsort(-gains, kind="stable")[:MAX_COLUMNS])
        varied, few, some = varied[best], few.columns(best), some.columns(best)
    residual = _clip(G)
    owners, strengths = _screen(_standardise(median_signs(few)), residual)
    if not owners:
        return no_products(n_samples)
    places = np.unique(np.concatenate(owners))
    signs = median_signs(some.columns(places))
    values = np.column_stack(
        [signs[:, np.searchsorted(places, one)].prod(axis=1) for one in owners]
    )
    codes = np.asfortranarray((values + 1).astype(np.uint8))
    product_table = CodedColumns(
        codes, np.full(len(owners), 3, dtype=np.uint32), np.zeros(len(owners), dtype=bool)
    )
    shares = left * np.asarray(strengths) / (len(rows) * residual.shape[1])
    return Products([tuple(varied[list(one)].tolist()) for one in owners], shares, product_table)


def no_products(n_samples: int) -> Products:
    """Of so many samples."""
    return Products([], np.empty(0), code_columns(np.empty((n_samples, 0))))


def _clip(G: np.ndarray) -> np.ndarray:
    R = G - G.mean(axis=0)
    spread = R.std(axis=0)
    R = np.clip(np.divide(R, spread, out=np.zeros_like(R), where=spread > 0), -CLIP, CLIP)
    return np.asarray(R, dtype=np.float32)


def _standardise(signs: np.ndarray) -> np.ndarray:
    S = signs - signs.mean(axis=0)
    return np.asarray(S / (np.sqrt((S**2).mean(axis=0)) + 1e-9), dtype=np.float32)


def _limit(n_tests: float, n_outputs: int) -> float:
    """What the largest of so many squares of noise hardly exceeds."""
    return float((np.sqrt(2.0 * np.log(max(n_tests, 2.0))) + 1.0) ** 2 + 3.0 * (n_outputs - 1))


def _screen(S: np.ndarray, R: np.ndarray) -> tuple[list[tuple[int, ...]], list[float]]:
    """Products beyond noise, the strongest first: n times the squared correlation, summed."""
    n, d = S.shape
    found: list[tuple[float, tuple[int, ...]]] = []
    pairs = np.zeros((d, d), dtype=np.float32)
    for output in R.T:
        pairs += (S.T @ (S * output[:, None])) ** 2 / n
    limit = _limit(d * (d - 1) / 2.0, R.shape[1])
    found += _beyond(np.triu(pairs, 1), limit, ())
    if d <= MAX_COLUMNS_OF_TRIPLES:
        limit = _limit(d * (d - 1) * (d - 2) / 6.0, R.shape[1])
        for first in range(d - 2):  # each a product of matrices
            rest = S[:, first + 1 :]
            triples = np.zeros((rest.shape[1],) * 2, dtype=np.float32)
            for output in R.T:
                triples += (rest.T @ (rest * (output * S[:, first])[:, None])) ** 2 / n
            found += _beyond(np.triu(triples, 1), limit, (first,))
    best = sorted(found, key=lambda one: (-one[0], one[1]))[:MAX_PRODUCTS]
    return [owners for _, owners in best], [strength for strength, _ in best]


def _beyond(
    strengths: np.ndarray, limit: float, before: tuple[int, ...]
) -> list[tuple[float, tuple[int, ...]]]:
    rows, columns = np.nonzero(strengths > limit)
    values = strengths[rows, columns]
    best = np.argsort(-values, kind="stable")[:MAX_PRODUCTS]
    shift = before[-1] + 1 if before else 0
    return [
        (float(values[i]), (*before, int(rows[i]) + shift, int(columns[i]) + shift)) for i in best
    ]


def has_own_effect(codes: np.ndarray, G: np.ndarray) -> bool:
    """Whether the gradients of the null model differ between octiles of a column, beyond noise."""
    from scipy.special import fdtrc

    order = np.argsort(codes, kind="stable")
    edges = codes[order[np.linspace(0, len(codes) - 1, N_OCTILES + 1)[1:-1].astype(np.intp)]]
    places = np.searchsorted(np.unique(edges), codes, side="left")
    counts = np.bincount(places)
    n_parts = int((counts > 0).sum())
    freedom = len(codes) - n_parts
    if n_parts < 2 or freedom < 1:
        return False
    for output in (G - G.mean(axis=0)).T:
        sums = np.bincount(places, output, len(counts))
        between = float((sums**2 / np.maximum(counts, 1)).sum())
        within = max(float((output**2).sum()) - between, 1e-300)
        ratio = (between / (n_parts - 1)) / (within / freedom)
        if float(fdtrc(n_parts - 1, freedom, ratio)) < OWN_EFFECT_LEVEL / G.shape[1]:
            return True
    return False


@dataclass(frozen=True)
class Interaction:
    """A product of signs of two or three kept features.

    Attributes
    ----------
    features : tuple of int
        Columns.
    names : tuple of str
        Their names.
    adds : float
        Share of the target that the product explains beyond curves of single features.
    only_together : bool
        Whether none of the features says anything alone.
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    adds: float
    only_together: bool

    def __str__(self) -> str:
        how = "only together" if self.only_together else "beyond each alone"
        return f"{' x '.join(self.names)}: {how} (adds {100 * self.adds:.2g} %)"


def interactions_among(
    owners: np.ndarray, adds: np.ndarray, alone: np.ndarray, support: np.ndarray, names: Any
) -> list[Interaction]:
    """Those whose features are all kept; ``owners`` are rows of columns, filled up with -1."""
    found = []
    for row, share, together in zip(owners, adds, alone, strict=True):
        features = tuple(int(j) for j in row if j >= 0)
        if support[list(features)].all():
            called = tuple(f"x{j}" if names is None else str(names[j]) for j in features)
            found.append(Interaction(features, called, float(share), bool(together)))
    return sorted(found, key=lambda one: (-one.adds, one.features))
