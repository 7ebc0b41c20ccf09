"""What a look at the data found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

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
