"""``sparsieve methods`` and ``sparsieve datasets``: what there is to choose from."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from ...registry import (
    DEFAULT_METHOD,
    MEASURED,
    PURPOSES,
    Method,
    all_methods,
    load_measurements,
    withstood,
)
from .options import AsJson, Debug
from .output import UsageError, print_json, print_rows, say

if TYPE_CHECKING:
    from ...datasets.load import DatasetInfo


METHODS_EPILOG = "\n\n".join(
    ["Values of --for:", *(f"- {name}: {words}" for name, words in PURPOSES.items())]
)


def methods(
    purpose: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="WORD",
            help=f"Show only methods for {', '.join(PURPOSES)} (explained below). Several, "
            "separated by commas: methods for all of them.",
        ),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the selection methods, what they do and how long they take.

    The time is for selecting 20 of 20,000 features from 100 samples, on one core. What is for wrong
    labels or outliers was measured, and the best comes first.

    Example: sparsieve methods --for regression,large
    """
    wanted = _wanted(purpose or ())
    found = [method for method in all_methods().values() if wanted <= method.purposes]
    measured_best = [withstood()[purpose] for purpose in MEASURED if purpose in wanted]
    found.sort(key=lambda method: [-figures[method.name] for figures in measured_best])
    if as_json:
        print_json([_entry(method) for method in found])
        return
    if not found:
        raise UsageError(f"no method is for {' and '.join(sorted(wanted))} at once; ask for fewer")
    if not measured_best:
        found.sort(key=lambda method: method.name != DEFAULT_METHOD)  # where to start comes first
    print_rows(
        ("name", "seconds", "regression", "sparse", "what it does"),
        [
            (
                method.name,
                _time(method.seconds),
                *("yes" if one in method.purposes else "no" for one in ("regression", "sparse")),
                method.words,
            )
            for method in found
        ],
        title=f"Methods (default: {DEFAULT_METHOD})",
        right=("seconds",),
    )
    if sys.stdout.isatty():
        say(_footnote())


def _wanted(given: list[str] | tuple[str, ...]) -> frozenset[str]:
    names = [name.strip().lower() for text in given for name in text.split(",")]
    for name in names:
        if name not in PURPOSES:
            from ..._checks import suggestion  # which loads NumPy

            close = suggestion(name, PURPOSES, "use one of")
            raise UsageError(f"unknown --for {name!r}{close}")
    return frozenset(names)


def _entry(method: Method) -> dict:
    return {
        "name": method.name,
        "class": method.class_name,
        "words": method.words,
        "description": method.description,
        **{name: name in method.purposes for name in ("regression", "sparse", "missing")},
        "for": sorted(method.purposes),
        "seconds": method.seconds,
        "default": method.name == DEFAULT_METHOD,
        "parameters": method.cls().get_params(deep=False),
    }


def _time(seconds: float | None) -> str:
    """Rounded so that nobody takes it for more than it is."""
    if seconds is None:
        return "-"
    return f"{seconds:.1g}" if seconds < 1 else f"{seconds:.0f}"


def _footnote() -> str:
    row = next(iter(load_measurements().values()), None)
    if row is None:
        return ""
    busy = "" if row["idle"] == "yes" else "; the machine had other work"
    return (
        f"seconds: CPU time for {row['selected']} of {int(row['features']):,} features, "
        f"{row['samples']} samples, one core ({row['machine']}, {row['date']}{busy}). "
        "sparsieve methods --help lists what to ask for with --for."
    )


_FIELDS = ("name", "n_samples", "n_features", "n_classes", "kind", "status")


def datasets(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the known data sets, whether they are present here, and how to get them.

    Nothing is downloaded. In Python: sparsieve.datasets.load_dataset("NAME").
    """
    from ...datasets import get_data_home, list_datasets

    home = get_data_home()
    rows = [
        {field: getattr(info, field) for field in _FIELDS} | {"how_to_get": _how(info, home)}
        for info in list_datasets()
    ]
    if as_json:
        print_json(rows)
        return
    print_rows(
        ("name", "samples", "features", "classes", "kind", "status", "how to get it"),
        [tuple("-" if value is None else value for value in row.values()) for row in rows],
        title=(
            f"Data sets; files are searched in {home} (set SPARSIEVE_DATA to change this); in "
            'Python: sparsieve.datasets.load_dataset("NAME")'
        ),
        right=("samples", "features", "classes"),
    )


def _how(info: DatasetInfo, home: Path) -> str:
    """What to do to have the data set, in one phrase."""
    if info.status == "embedded":
        return "comes with scikit-learn"
    if info.path is not None:
        return f"here: {info.path.name}"
    if info.status == "unavailable":
        instead = f"; the closest is {info.stand_in}" if info.stand_in else ""
        return f"not available: {info.unavailable.rstrip('.')}{instead}"
    public = PurePosixPath(info.origin_file)
    if info.public_stem:  # read as it is published
        return f"download {public.name} of {info.origin} into {home}"
    return f"make {info.name}.npz (X, y) or .csv of {info.source} and put it into {home}"
