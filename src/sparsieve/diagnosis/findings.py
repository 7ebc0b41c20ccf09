"""What a look at the data found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# What a reader must know before anything else that is said about a selection.
_FIRST = ("samples", "leak", "id", "counts")


@dataclass(frozen=True)
class Finding:
    """One oddity.

    Attributes
    ----------
    kind : {"samples", "leak", "id", "counts", "nonlinear", "copy", "constant"}
        "samples" are copies of samples, "copy" copies of columns.
    sentence : str
        For the reader.
    features : tuple of int
        The columns meant.
    samples : tuple of int
        The samples meant.

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
    samples: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Diagnosis:
    """All findings, the gravest first.

    Attributes
    ----------
    findings : list of Finding
    groups : ndarray of shape (n_samples,) or None
        Where samples have copies, a label for every sample, the same for copies: what ``groups``
        of a cross-validation takes. None where there are no copies, or more than 10,000 samples.

    See Also
    --------
    sparsieve.diagnose : Looks for leaks, ids, copies and non-linear targets.
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
        return "\n".join(map(str, self.findings)) or "nothing odd was found"

    def first(self, *, groups: Any = None, prepared: bool = False) -> list[str]:
        """The sentences to read before anything else: on copies of samples, leaks, ids, counts.

        Parameters
        ----------
        groups : array-like of shape (n_samples,), default=None
            Groups of samples that stay together; nothing is said of copies that they hold together.
        prepared : bool, default=False
            Whether counts are taken care of.

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
        """The sentences that matter to who uses this selector, on counts prepared or not."""
        mine = f"use {type(selector).__name__}"
        return [
            found.sentence
            for found in self.findings
            if not (found.sentence.endswith(mine) or (prepared and found.kind == "counts"))
        ]
