"""What is odd about the data before anything is selected from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..selectors.foreign import check_in_memory
from ..selectors.target import encode_target
from .columns import ALIKE, copies, numbering, repeating, separating, spread
from .linearity import beyond_linear

_NAMED = 3


@dataclass(frozen=True)
class Finding:
    """One oddity.

    Attributes
    ----------
    kind : {"leak", "id", "constant", "copy", "nonlinear"}
    sentence : str
        For the reader.
    features : tuple of int
        The columns meant.

    See Also
    --------
    sparsieve.diagnose : Looks for leaks, ids, copies and non-linear targets.
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

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Diagnosis:
    """All findings, the gravest first.

    Attributes
    ----------
    findings : list of Finding

    See Also
    --------
    sparsieve.diagnose : Looks for leaks, ids, copies and non-linear targets.
    sparsieve.Finding : One of the findings.

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

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "nothing odd was found"

    def for_user_of(self, selector: Any) -> list[str]:
        """The sentences that matter to who uses this selector."""
        mine = f"use {type(selector).__name__}"
        return [found.sentence for found in self.findings if not found.sentence.endswith(mine)]


def diagnose(
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | np.ndarray | None = None,
    task: str = "auto",
    try_models: bool = True,
) -> Diagnosis:
    """Look for features that know too much or nothing, and for targets that are not linear.

    Found are features that alone separate the classes perfectly, or whose correlation with a
    target of numbers is above 0.999; columns that rise or fall with every row, as ids do;
    constants; near-copies of other features; and data on which linear selection fails where a
    non-linear score does not. What noise of the same size would show as well is not mentioned.
    Columns with missing values are passed over, and copies are looked for among up to 100,000
    columns.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numbers.
    feature_names : sequence of str, default=None
        For an X without names.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" decides by its values.
    try_models : bool, default=True
        Whether to compare linear and other selection by cross-validation on up to 1,000 samples,
        the only part that takes more than a pass over X.

    Returns
    -------
    diagnosis : Diagnosis
        What was found, the gravest first; it prints as sentences.

    See Also
    --------
    sparsieve.Diagnosis : What is returned.
    sparsieve.permutation_null : The level that noise reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import diagnose
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = np.column_stack([rng.standard_normal(60), y + 0.1 * rng.random(60)])
    >>> print(diagnose(X, y, feature_names=["age", "age_at_death"]))
    age_at_death alone predicts the target perfectly: was it known beforehand?
    """
    check_in_memory("diagnose", X)
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if X.ndim != 2 or len(np.asarray(y)) != X.shape[0]:
        raise ValueError(f"X has shape {X.shape} and y {len(np.asarray(y))} values")
    names = [f"column {j}" for j in range(X.shape[1])] if feature_names is None else feature_names
    if len(names) != X.shape[1]:
        raise ValueError(f"feature_names holds {len(names)} names for {X.shape[1]} features")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how y is read is said by the fit
        target = encode_target(
            np.asarray(y), task=task, dtype=np.dtype(np.float64), owner="diagnose"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        low, high, std = spread(X)
    whole = np.isfinite(low) & np.isfinite(high) & np.isfinite(std)
    constant = np.flatnonzero(whole & (low == high))
    usable = np.flatnonzero(whole & (low < high) & (std > 0))
    if not len(usable):
        return Diagnosis([*_constants(constant, names)])
    part = X[:, usable] if len(usable) < X.shape[1] else X
    if target.codes is not None:
        leaks = usable[separating(part, target)]
    else:
        leaks = usable[repeating(part, target.Y, std[usable])]
    ids = np.setdiff1d(usable[numbering(part)], leaks)
    doubles = copies(X, std, usable)
    findings = [
        *_leaks(leaks, names),
        *_ids(ids, names),
        *_copies(doubles, names),
        *_constants(constant, names),
    ]
    if try_models and not len(leaks):
        sentence = beyond_linear(part, target)
        if sentence:
            findings.insert(0, Finding("nonlinear", sentence))
    return Diagnosis(findings)


def _leaks(columns: np.ndarray, names: Sequence[str] | np.ndarray) -> Iterator[Finding]:
    if len(columns):
        one = len(columns) == 1
        yield Finding(
            "leak",
            f"{_some(columns, names)} alone predict{'s' * one} the target perfectly: "
            f"{'was it' if one else 'were they'} known beforehand?",
            tuple(map(int, columns)),
        )


def _ids(columns: np.ndarray, names: Sequence[str] | np.ndarray) -> Iterator[Finding]:
    if len(columns):
        one = len(columns) == 1
        yield Finding(
            "id",
            f"{_some(columns, names)} rise{'s' * one} or fall{'s' * one} with every row, as "
            f"{'an id does' if one else 'ids do'}: leave {'it' if one else 'them'} out unless "
            "the order means something",
            tuple(map(int, columns)),
        )


def _copies(pairs: list[tuple[int, int]], names: Sequence[str] | np.ndarray) -> Iterator[Finding]:
    if pairs:
        copy, source = pairs[0]
        more = f", and {len(pairs) - 1:,} more columns have such doubles" * (len(pairs) > 1)
        yield Finding(
            "copy",
            f"{names[copy]} is nearly a copy of {names[source]} (correlation above {ALIKE} in "
            f"size){more}: which of them is kept is a matter of chance",
            tuple(copy for copy, _ in pairs),
        )


def _constants(columns: np.ndarray, names: Sequence[str] | np.ndarray) -> Iterator[Finding]:
    if len(columns):
        one = len(columns) == 1
        yield Finding(
            "constant",
            f"{_some(columns, names)} {'is' if one else 'are'} constant and can tell nothing",
            tuple(map(int, columns)),
        )


def _some(columns: np.ndarray, names: Sequence[str] | np.ndarray) -> str:
    """``a``, ``a and b``, ``a, b, c and 4 more``."""
    named = [str(names[j]) for j in columns[:_NAMED]]
    if len(columns) > _NAMED:
        return f"{', '.join(named)} and {len(columns) - _NAMED:,} more"
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
