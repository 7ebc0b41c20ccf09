"""Findings in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..validation.written import MAX_MISSING, text_kind
from .findings import Finding
from .leaks import ALIKE, Leak
from .samples import Copies

_NAMED = 3
Names = Sequence[str] | np.ndarray


def repeated_samples(found: Copies | None) -> Iterator[Finding]:
    """Samples that have copies with the same target."""
    if found is None or not found.share_targets:
        return
    one, two = found.pair
    those = f"{found.n_looked_at:,} samples"
    those = those if found.groups is not None else f"the {those} checked"
    yield Finding(
        "samples",
        f"{len(found.samples):,} of {those} have duplicates or near-duplicates (samples {one} and "
        f"{two}, for example), so held-out samples may also be in the training data: keep "
        "duplicates together with groups= (groups of samples), or drop them",
        samples=tuple(map(int, found.samples)),
    )


def unusable_columns(X: Any, names: Names) -> Iterator[Finding]:
    """Columns without values, with infinite ones, and those that are mostly missing."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    if sparse.issparse(X):
        column = X.tocoo().coords[1]
        missing, infinite = (
            np.bincount(column[is_odd(values)], minlength=X.shape[1])
            for is_odd in (np.isnan, np.isinf)
        )
    else:
        missing, infinite = np.isnan(X).sum(axis=0), np.isinf(X).sum(axis=0)
    n_samples = X.shape[0]
    empty = np.flatnonzero(missing == n_samples).tolist()
    if empty:
        one = len(empty) == 1
        yield Finding(
            "missing",
            f"{_some(empty, names)} {'has' if one else 'have'} no values: drop "
            f"{'it' if one else 'them'}",
            tuple(empty),
        )
    endless = np.flatnonzero(infinite).tolist()
    if endless:
        one, times = len(endless) == 1, int(infinite.sum())
        yield Finding(
            "infinite",
            f"{_some(endless, names)} {'has' if one else 'have'} {times:,} infinite "
            f"value{'s' * (times != 1)}, perhaps from a division by zero: replace or drop "
            f"{'it' if times == 1 else 'them'}",
            tuple(endless),
        )
    rare = np.flatnonzero((missing > MAX_MISSING * n_samples) & (missing < n_samples)).tolist()
    if rare:
        one, share = len(rare) == 1, missing[rare].min() / n_samples
        yield Finding(
            "missing",
            f"{_some(rare, names)} {'is' if one else 'are'} missing in "
            f"{'' if one else 'at least '}{100 * share:.0f} % of the samples: drop "
            f"{'it' if one else 'them'}, or ask why",
            tuple(rare),
        )


def unused_columns(unused: list[str], frame: Any, columns: list[str]) -> Iterator[Finding]:
    """Columns of a data frame of which no numbers were made."""
    from ..validation.dataframes import opened

    found = opened(frame)
    for name in unused:
        place = columns.index(name)
        kind = text_kind(found.get_column(found.columns[place]).to_list())
        if kind.kind == "empty":
            yield Finding("missing", f"{name} has no values: drop it", (place,))
        else:
            yield Finding(
                "id",
                f"{name} is text with {kind.n_values:,} distinct values; it looks like an ID or a "
                "remark and is not used",
                (place,),
            )


def labels_alike(classes: np.ndarray | None) -> Iterator[Finding]:
    """Labels of classes that differ by capital letters or blanks only."""
    spelt: dict[str, list[str]] = {}
    for label in () if classes is None else classes.tolist():
        if isinstance(label, str):
            spelt.setdefault(" ".join(label.casefold().split()), []).append(label)
    alike = [labels for labels in spelt.values() if len(labels) > 1]
    if alike:
        named = "; ".join(", ".join(map(repr, labels)) for labels in alike[:_NAMED])
        more = f" and {len(alike) - _NAMED:,} more such cases" * (len(alike) > _NAMED)
        yield Finding(
            "target",
            f"the target has labels that differ only by capital letters or blanks ({named}{more}), "
            "and each is a class of its own: write them in one way if they mean the same",
        )


def leaking_columns(leaks: list[Leak], names: Names) -> Iterator[Finding]:
    """Columns that give the target away, by how they do it."""
    perfect = [leak.column for leak in leaks if not (leak.gaps or leak.n_exceptions)]
    if perfect:
        one = len(perfect) == 1
        yield Finding(
            "leak",
            f"{_some(perfect, names)} alone predict{'s' * one} the target perfectly. "
            f"Possible leak: {'was it' if one else 'were they'} known before the outcome?",
            tuple(perfect),
        )
    alike = [leak for leak in leaks if leak.n_exceptions and not leak.gaps]
    if alike:
        one = len(alike) == 1
        wrong = max(leak.n_exceptions for leak in alike)
        yield Finding(
            "leak",
            f"{_some([leak.column for leak in alike], names)} repeat{'s' * one} the target, "
            f"except in {'' if one else 'up to '}{wrong:,} of {alike[0].n_present:,} samples. "
            f"Possible leak: {'was it' if one else 'were they'} known before the outcome?",
            tuple(leak.column for leak in alike),
        )
    for where in dict.fromkeys(leak.gaps for leak in leaks if leak.gaps):
        missing = [leak for leak in leaks if leak.gaps == where]
        one, wrong = len(missing) == 1, max(leak.n_exceptions for leak in missing)
        yield Finding(
            "leak",
            f"{_some([leak.column for leak in missing], names)} {'is' if one else 'are'} missing "
            f"where the target {where}{f', with {wrong:,} exceptions' * bool(wrong)}, and hardly "
            "elsewhere: the missing values reveal the target",
            tuple(leak.column for leak in missing),
        )


def leaking_pairs(pairs: list[tuple[int, int]], names: Names) -> Iterator[Finding]:
    """Two columns that give the target away together."""
    if pairs:
        one, two = pairs[0]
        more = f", as do {len(pairs) - 1:,} other pairs" * (len(pairs) > 1)
        yield Finding(
            "leak",
            f"{names[one]} and {names[two]} together determine the target exactly, as their sum, "
            f"difference, product or ratio{more}: was it computed from them?",
            tuple(dict.fromkeys(int(column) for pair in pairs for column in pair)),
        )


def id_columns(columns: np.ndarray, names: Names) -> Iterator[Finding]:
    """Columns that number the rows."""
    if len(columns):
        one = len(columns) == 1
        yield Finding(
            "id",
            f"{_some(columns, names)} rise{'s' * one} or fall{'s' * one} with every row, like "
            f"{'an ID' if one else 'IDs'}: drop {'it' if one else 'them'} unless the order of the "
            "rows matters",
            tuple(map(int, columns)),
        )


def counts_found(counts: tuple[float, float] | None) -> Iterator[Finding]:
    """Raw counts (the largest, the ratio of totals), and what to do with them."""
    if counts is not None:
        largest, ratio = counts
        yield Finding(
            "counts",
            f"the values look like raw counts (whole numbers from 0 to {largest:,.0f}, sample "
            f"totals that differ {ratio:,.2g}-fold): normalise by the totals and take logarithms "
            'with prepare="log-cpm"',
        )


def copied_columns(pairs: list[tuple[int, int]], names: Names) -> Iterator[Finding]:
    """Columns that repeat others."""
    if pairs:
        copy, source = pairs[0]
        rest = len(pairs) - 1
        verb = "column has a duplicate" if rest == 1 else "columns have duplicates"
        more = f", and {rest:,} more {verb}" * (rest > 0)
        yield Finding(
            "copy",
            f"{names[copy]} is nearly a copy of {names[source]} (absolute correlation above "
            f"{ALIKE}){more}: which of them is kept is a matter of chance",
            tuple(copy for copy, _ in pairs),
        )


def constant_columns(columns: np.ndarray, names: Names) -> Iterator[Finding]:
    """Columns of one value."""
    if len(columns):
        one = len(columns) == 1
        yield Finding(
            "constant",
            f"{_some(columns, names)} {'is' if one else 'are'} constant and "
            f"{'carries' if one else 'carry'} no information",
            tuple(map(int, columns)),
        )


def _some(columns: Sequence[int] | np.ndarray, names: Names) -> str:
    """``a``, ``a and b``, ``a, b, c and 4 more``."""
    named = [str(names[j]) for j in columns[:_NAMED]]
    if len(columns) > _NAMED:
        return f"{', '.join(named)} and {len(columns) - _NAMED:,} more"
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
