"""The path: fit trees, drop what they use least, repeat; backwards, the order is the ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .products import Products

COARSE = 0.58  # share of the features that stays in a round
FINE = 0.7  # the same near the end
LATE = 20  # from this number on rounds are finer, and fits are repeated where they vary
ONE_BY_ONE = 10  # from this number on one feature leaves in a round
MANY = 500  # columns above which a tree sees fewer of them

# Gain of every column that is given by place, then of every product that is given by place.
Gains = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Units:
    """What is kept or left out as a whole: columns, or groups of them, which may overlap.

    Attributes
    ----------
    members : ndarray of int
        Columns of all units, one unit after the other.
    numbers : ndarray of int
        The unit of every entry of ``members``.
    n_units, n_columns : int
    """

    members: np.ndarray
    numbers: np.ndarray
    n_units: int
    n_columns: int

    @classmethod
    def single(cls, n_columns: int) -> Units:
        """Every column alone."""
        every = np.arange(n_columns)
        return cls(every, every, n_columns, n_columns)

    def column_mask(self, alive: np.ndarray) -> np.ndarray:
        """The columns of any of the units in a mask, as a mask."""
        found = np.zeros(self.n_columns, dtype=bool)
        found[self.members[alive[self.numbers]]] = True
        return found

    def unit_mask(self, columns: tuple[int, ...]) -> np.ndarray:
        """The units that hold any of some columns."""
        return np.unique(self.numbers[np.isin(self.members, columns)])


@dataclass(frozen=True)
class Elimination:
    """What an elimination found.

    Attributes
    ----------
    order : ndarray of int
        Units, the last one to leave first.
    scores : ndarray of shape (n_units,)
        What splits on a unit and its products explained in the round in which it left, or more
        where one that left before explained more.
    n_rounds : int
        Number of rounds.
    product_gains : ndarray of shape (n_products,)
        What splits on a product explained in the last round that had all of its owners.
    """

    order: np.ndarray
    scores: np.ndarray
    n_rounds: int
    product_gains: np.ndarray


def eliminate(
    units: Units,
    candidates: np.ndarray,
    always: np.ndarray,
    products: Products,
    gains_of: Gains,
    varies: Callable[[int], bool],
    n_least: int = 0,
) -> Elimination:
    """Drop the units in the mask ``candidates`` until none is left; those ``always`` in stay.

    Parameters
    ----------
    units : Units
    candidates, always : ndarray of bool of shape (n_units,)
    products : Products
        Owned by columns; a product leaves with the first of them.
    gains_of : callable
        Of one round: places of columns and of products to their gains.
    varies : callable
        Whether another fit to so many columns gives other gains.
    n_least : int, default=0
        Where it is not 0, rounds are coarse and of one fit, and the last one has so many features:
        good enough to say how well numbers from there on predict.
    """
    alive = candidates.copy()
    owners = [units.unit_mask(one) for one in products.owners]
    scores: np.ndarray = np.zeros(units.n_units)
    before: np.ndarray = np.zeros(units.n_units)
    product_gains = np.zeros(len(owners))
    left: list[np.ndarray] = []
    n_rounds, level = 0, 0.0
    while (n_alive := int(alive.sum())) > 0:
        columns = np.flatnonzero(units.column_mask(alive | always))
        there = np.zeros(units.n_columns, dtype=bool)
        there[columns] = True
        own = np.array(
            [p for p, one in enumerate(products.owners) if there[list(one)].all()], dtype=np.int64
        )
        found, of_products = np.zeros(units.n_columns), np.zeros(len(own))
        is_twice = 1 < n_alive <= LATE and not n_least
        n_fits = 2 if is_twice and varies(len(columns) + len(own)) else 1
        for _ in range(n_fits):
            one, other = gains_of(columns, own)
            found[columns] += one / n_fits
            of_products += other / n_fits
        n_rounds += 1
        gain: np.ndarray = np.bincount(units.numbers, found[units.members], units.n_units)
        for product, value in zip(own, of_products, strict=True):
            gain[owners[product]] += value
        product_gains[own] = of_products
        n_used = int((gain[alive] > 0).sum())
        n_kept = _count_survivors(n_alive, n_used)
        if n_least:
            n_kept = 0 if n_alive <= n_least else max(n_least, int(n_alive * COARSE))
        places = np.flatnonzero(alive)
        # Of equal features the later ones go first, unless a round before told them apart.
        best = places[np.lexsort((places, -before[places], -gain[places]))]
        worst = best[n_kept:]
        left.append(worst[::-1])
        scores[worst[::-1]] = np.maximum.accumulate(np.maximum(gain[worst[::-1]], level))
        level = float(scores[worst].max(initial=level))
        alive[worst] = False
        before = gain
    order = np.concatenate([np.empty(0, dtype=np.int64), *left])[::-1]
    return Elimination(order, scores, n_rounds, product_gains)


def _count_survivors(n_alive: int, n_used: int) -> int:
    """How many stay after a round."""
    if n_alive <= ONE_BY_ONE:
        return n_alive - 1
    if n_alive <= LATE:
        return int(n_alive * FINE)
    return max(LATE, min(int(n_alive * COARSE), n_used))
