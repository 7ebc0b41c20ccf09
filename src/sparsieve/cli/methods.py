"""``sparsieve methods``: what there is to choose from."""

from __future__ import annotations

from .options import AsJson, Debug
from .output import print_json, print_rows


def methods(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the selection methods."""
    from .catalogue import DEFAULT_METHOD, all_methods

    found = list(all_methods().values())
    if as_json:
        print_json(
            [
                {
                    "name": method.name,
                    "class": method.cls.__name__,
                    "description": method.description,
                    "regression": method.takes_regression,
                    "sparse": method.takes_sparse,
                    "default": method.name == DEFAULT_METHOD,
                    "parameters": method.parameters,
                }
                for method in found
            ]
        )
        return
    print_rows(
        ("name", "class", "regression", "sparse", "description"),
        [
            (
                method.name,
                method.cls.__name__,
                _yes_no(method.takes_regression),
                _yes_no(method.takes_sparse),
                method.description,
            )
            for method in found
        ],
        title=f"Methods (default: {DEFAULT_METHOD})",
    )


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
