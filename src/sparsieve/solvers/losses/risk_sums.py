"""Sums over risk sets in NumPy, where they need no compiled code.

That is where all risks are numbers of one size and everybody is at risk from the start, in strata
that are not many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LOG_LEVEL = 256.0 * np.log(2.0)
MAX_STRATA = 30


def sums_at_risk(x: np.ndarray, risk: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sums of x over those at risk in a block who do not die in it, and over those who do."""
    rows, n_blocks = risk.rows, len(risk.weight)
    others, deaths = np.zeros(n_blocks), rows.dies >= 0
    for stratum, begin in enumerate(risk.firsts):
        own = np.flatnonzero((risk.strata == stratum) & (rows.blocks[:, 3] > 0))
        if len(own):
            sums = np.append(0.0, np.cumsum(x[begin : rows.blocks[own[-1], 1]]))
            others[own] = sums[rows.blocks[own, 2] - begin]
    return others, np.bincount(rows.dies[deaths], x[deaths], n_blocks)


def sums_of_blocks(values: np.ndarray, own: np.ndarray, v: np.ndarray, risk: Any) -> np.ndarray:
    """The sum of values over the blocks at which a sample is at risk, times v.

    At the block in which it dies ``own`` counts.
    """
    sums, rows = np.empty_like(values), risk.rows
    ends = np.searchsorted(risk.strata, np.arange(len(risk.firsts)), side="right")
    begin = 0
    for end in ends:
        sums[begin:end] = np.cumsum(values[begin:end][::-1])[::-1]
        begin = end
    found, deaths = sums[rows.start], rows.dies >= 0
    found[deaths] += own[rows.dies[deaths]]
    return found * v


def shares(n_terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The block of every term, and what those who die in it count: 1, or less for later ones."""
    b = np.repeat(np.arange(len(n_terms)), n_terms)
    later = np.arange(len(b)) - np.repeat(np.cumsum(n_terms) - n_terms, n_terms)
    return b, 1.0 - later / n_terms[b]


def least_terms(n_terms: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What every term is at least: w ln S/D where nobody else is at risk, up to constants."""
    b, a = shares(n_terms)
    return weight[b] * np.log(a * weight[b] * n_terms[b])


def sums_of_terms(
    others: np.ndarray, dying: np.ndarray, log_dying: np.ndarray, top: np.ndarray, risk: Any
) -> np.ndarray:
    """Per block: sums over its terms of w ln S/D, w/S, aw/S, w/S^2, aw/S^2 and a^2 w/S^2.

    S is the sum over those at risk, where those who die count a, and D that over those who die. A
    block without terms has zeros.
    """
    n_terms = risk.rows.blocks[:, 3]
    b, a = shares(n_terms)
    w = risk.weight[b]
    alive, died = others[b], a * dying[b]
    S = alive + died
    once, twice = w / S, w / S / S
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Nothing cancels where it is all but certain who dies.
        certain = np.log(a) + np.log1p(alive / died)
        usual = np.log(S) + LOG_LEVEL * top[b] - log_dying[b]
    logs = w * np.where(died > alive, certain, usual)
    parts = (logs, once, a * once, twice, a * twice, a * a * twice)
    return np.stack([np.bincount(b, part, len(n_terms)) for part in parts])
