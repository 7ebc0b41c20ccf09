"""The report of what ``sparsieve.select`` found."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...meta import SelectorCV
from ...selection.covariates import AUTO
from ...selectors.least_squares.fdr import FDRSelector
from .page import check_packages
from .selection import selector_report

if TYPE_CHECKING:
    from ...selection.result import SelectedFeatures


def write_report(selected: SelectedFeatures, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the page of a selection; ``options`` are those of ``selector_report``."""
    check_packages()
    search = selected.selector if isinstance(selected.selector, SelectorCV) else None
    claims = options.pop("claims", isinstance(selected.method, FDRSelector))
    if isinstance(claims, bool):
        claims = selected.claims() if claims else None
    alone = selected.covariates_alone
    selector_report(
        selected.method,
        selected.X,
        selected.y,
        prepare=selected.prepare,
        groups=selected.groups,
        feature_names=selected.names,
        null=selected.null or AUTO,
        certify=selected.certificate is not None,
        search=search,
        check=selected.check,
        claims=claims,
        covariates=selected.covariates.places,
        covariates_alone="" if alone is None else alone.sentence,
        relation=selected.relation,
        **{"time_name": selected.inputs.time_name, **options},
    ).save(path)
