"""What a diagnosis found, and the sentences about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._text import plural
from ..validation.written import MAX_MISSING, alike
from .leaks import SAME_CORRELATION, Leak
from .samples import Copies

# What a reader must know before anything else that is said about a selection.
_FIRST = ("target", "samples", "leak", "id", "counts")


@dataclass(frozen=True)
class Finding:
    """One problem found in the data.

    Attributes
    ----------
    kind : str
        Kind of problem: "target" (labels that differ in spelling only), "samples" (duplicate
        samples), "leak", "id", "missing", "infinite", "counts", "nonlinear", "copy" (duplicate
        columns) or "constant".
    sentence : str
        Description of the problem.
    features : tuple of int
        Columns concerned.
    samples : tuple of int
        Samples concerned.

    See Also
    --------
    sparsieve.diagnose : Checks data for leaks, ids, duplicates and non-linear signals.
    sparsieve.Diagnosis : All findings.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import diagnose
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([y, np.random.default_rng(0).standard_normal(40)])
    >>> finding = diagnose(X, y).findings[0]
    >>> finding.kind, finding.features
    ('leak', (0,))
    """

    kind: str
    sentence: str
    features: tuple[int, ...] = ()
    samples: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Diagnosis:
    """All findings of :func:`diagnose`, most serious first.

    Attributes
    ----------
    findings : list of Finding
    groups : ndarray of shape (n_samples,) or None
        If there are duplicate samples, a label for every sample, the same for duplicates; pass it
        as ``groups`` in cross-validation. None without duplicates, or with more than 10,000
        samples.

    See Also
    --------
    sparsieve.diagnose : Checks data for leaks, ids, duplicates and non-linear signals.
    sparsieve.diagnosis.findings.Finding : One of the findings.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import diagnose
    >>> y = np.arange(40) % 2
    >>> X = np.column_stack([y, np.random.default_rng(0).standard_normal(40)])
    >>> [finding.kind for finding in diagnose(X, y).findings]
    ['leak']
    """

    findings: list[Finding]
    groups: np.ndarray | None = None

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "Nothing unusual was found."

    def first(self, *, groups: Any = None, prepared: bool = False) -> list[str]:
        """Sentences about the serious findings: labels, duplicate samples, leaks, ids, raw counts.

        Parameters
        ----------
        groups : array-like of shape (n_samples,), default=None
            Groups of samples that stay together; duplicates within a group are not reported.
        prepared : bool, default=False
            Whether counts have been transformed already.

        Returns
        -------
        sentences : list of str
        """
        known = {"counts"} if prepared else set()
        if groups is not None and self.groups is not None:
            pairs = zip(self.groups.tolist(), np.asarray(groups).tolist(), strict=True)
            if len(set(pairs)) == int(self.groups.max()) + 1:
                known.add("samples")
        return [
            found.sentence
            for found in self.findings
            if found.kind in _FIRST and found.kind not in known
        ]

    def for_user_of(self, selector: Any, *, prepared: bool = False) -> list[str]:
        """Sentences that matter when using this selector, with counts transformed or not."""
        mine = f"use {type(selector).__name__}"
        return [
            found.sentence
            for found in self.findings
            if not (found.sentence.endswith(mine) or (prepared and found.kind == "counts"))
        ]


_NAMED = 3
_WAS_IT = "Possible leak: was it known before the outcome?"
_WERE_THEY = "Possible leak: were they known before the outcome?"
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
    empty = np.flatnonzero(missing == n_samples)
    yield from _about(
        "missing", empty, names, "has no values: drop it", "have no values: drop them"
    )
    times = int(infinite.sum())
    those = f"{plural(times, 'infinite value')}, perhaps from a division by zero: replace or drop"
    those += " it" if times == 1 else " them"
    yield from _about("infinite", np.flatnonzero(infinite), names, f"has {those}", f"have {those}")
    rare = np.flatnonzero((missing > MAX_MISSING * n_samples) & (missing < n_samples))
    share = f"{100 * missing[rare].min(initial=n_samples) / n_samples:.0f} % of the samples: drop"
    one = f"is missing in {share} it, or ask why"
    yield from _about(
        "missing", rare, names, one, f"are missing in at least {share} them, or ask why"
    )


def unused_columns(unused: Mapping[str, Any], columns: list[str]) -> Iterator[Finding]:
    """Columns of a data frame of which no numbers were made, with what their text is."""
    for name, text in unused.items():
        place = columns.index(name)
        if text is not None and text.kind == "constant":
            yield from constant_columns(np.array([place]), columns)
        elif text is None or text.kind not in ("name", "wordy"):
            yield Finding("missing", f"{name} has no values: drop it", (place,))
        else:
            yield Finding(
                "id",
                f"{name} is text with {text.n_values:,} distinct values; it looks like an ID or a "
                "remark and is not used",
                (place,),
            )


def labels_alike(classes: np.ndarray | None) -> Iterator[Finding]:
    """Labels of classes that differ by capital letters or blanks only."""
    known = () if classes is None else classes.tolist()
    several = alike(label for label in known if isinstance(label, str))
    if several:
        named = "; ".join(", ".join(map(repr, labels)) for labels in several[:_NAMED])
        more = f" and {len(several) - _NAMED:,} more such cases" * (len(several) > _NAMED)
        yield Finding(
            "target",
            f"the target has labels that differ only by capital letters or blanks ({named}{more}), "
            "and each is a class of its own: write them in one way if they mean the same",
        )


def leaking_columns(leaks: list[Leak], names: Names) -> Iterator[Finding]:
    """Columns that give the target away, by how they do it."""
    perfect = [leak.column for leak in leaks if not (leak.gaps or leak.n_exceptions)]
    one = f"alone predicts the target perfectly. {_WAS_IT}"
    several = f"alone predict the target perfectly. {_WERE_THEY}"
    yield from _about("leak", perfect, names, one, several)
    alike = [leak for leak in leaks if leak.n_exceptions and not leak.gaps]
    if alike:
        wrong = max(leak.n_exceptions for leak in alike)
        some = f"{wrong:,} of {alike[0].n_present:,} samples."
        one = f"repeats the target, except in {some} {_WAS_IT}"
        several = f"repeat the target, except in up to {some} {_WERE_THEY}"
        yield from _about("leak", [leak.column for leak in alike], names, one, several)
    for where in dict.fromkeys(leak.gaps for leak in leaks if leak.gaps):
        missing = [leak for leak in leaks if leak.gaps == where]
        wrong = max(leak.n_exceptions for leak in missing)
        there = (
            f"missing where the target {where}{f', with {wrong:,} exceptions' * bool(wrong)}, and "
            "hardly elsewhere: the missing values reveal the target"
        )
        columns = [leak.column for leak in missing]
        yield from _about("leak", columns, names, f"is {there}", f"are {there}")


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
    end = "unless the order of the rows matters"
    one = f"rises or falls with every row, like an ID: drop it {end}"
    yield from _about(
        "id", columns, names, one, f"rise or fall with every row, like IDs: drop them {end}"
    )


def describe_counts(counts: tuple[float, float] | None) -> Iterator[Finding]:
    """Raw counts (the largest, the ratio of totals), and what to do with them."""
    if counts is not None:
        largest, ratio = counts
        yield Finding(
            "counts",
            f"the values look like raw counts (whole numbers from 0 to {largest:,.0f}, sample "
            f"totals that differ {ratio:,.2g}-fold): normalise by the totals and take logarithms "
            'with prepare="log-cpm"',
        )


def copied_columns(
    pairs: list[tuple[int, int]], names: Names, *, is_exact: bool
) -> Iterator[Finding]:
    """Columns that repeat others; ``is_exact`` says whether the first does so value by value."""
    if pairs:
        copy, source = pairs[0]
        rest = len(pairs) - 1
        verb = "column has a duplicate" if rest == 1 else "columns have duplicates"
        more = f", and {rest:,} more {verb}" * (rest > 0)
        how = f"nearly a copy of {names[source]} (absolute correlation above {SAME_CORRELATION})"
        how = f"a copy of {names[source]}" if is_exact else how
        yield Finding(
            "copy",
            f"{names[copy]} is {how}{more}: by default, at most one of {'each' if rest else 'them'}"
            " is kept",
            tuple(copy for copy, _ in pairs),
        )


def constant_columns(columns: np.ndarray, names: Names) -> Iterator[Finding]:
    """Columns of one value."""
    end = "no information"
    one, several = f"is constant and carries {end}", f"are constant and carry {end}"
    yield from _about("constant", columns, names, one, several)


def _about(
    kind: str, columns: Sequence[int] | np.ndarray, names: Names, one: str, several: str
) -> Iterator[Finding]:
    """What is found of some columns, if there are any, in words for one or for several."""
    if len(columns):
        said = one if len(columns) == 1 else several
        yield Finding(kind, f"{_some(columns, names)} {said}", tuple(map(int, columns)))


def _some(columns: Sequence[int] | np.ndarray, names: Names) -> str:
    """``a``, ``a and b``, ``a, b, c and 4 more``."""
    named = [str(names[j]) for j in columns[:_NAMED]]
    if len(columns) > _NAMED:
        return f"{', '.join(named)} and {len(columns) - _NAMED:,} more"
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
