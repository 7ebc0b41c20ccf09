"""The methods by the names they have on the command line.

What there is to say of them is read from a table in the package: finding and importing every
selector takes seconds, and most commands need one or none. ``python -m sparsieve.cli.catalogue``
writes the table anew; a test compares it with what discovery finds.
"""

from __future__ import annotations

import csv
import difflib
import json
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from ..discovery import method_key, method_name
from .errors import UsageError

DEFAULT_METHOD = "ridge-forward"

# A selector with one of these is a wrapper around another and cannot be run by its name alone.
_WRAPPED = frozenset(("estimator", "selector", "selectors", "estimators"))
_FAST = 1.0  # seconds on 100 x 20,000 that a method for large data may take


@dataclass(frozen=True)
class Method:
    """A selector as the command line offers it.

    Attributes
    ----------
    name, class_name, module : str
    description : str
        First line of the docstring.
    takes_regression, takes_sparse, takes_missing : bool
        Whether the target may be real numbers, and X a sparse matrix or one with gaps.
    needs_target : bool
        Whether it looks at a target at all.
    has_proof : bool
        Whether ``--certify`` can prove something about its selections.
    parameters : dict
        Constructor parameters with their defaults.
    """

    name: str
    class_name: str
    module: str
    description: str
    takes_regression: bool
    takes_sparse: bool
    takes_missing: bool
    needs_target: bool
    has_proof: bool
    parameters: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, selector: type) -> Method:
        """All that a selector says of itself."""
        import inspect

        from sklearn.utils import get_tags

        plain: Any = selector()
        return cls(
            name=method_name(selector.__name__),
            class_name=selector.__name__,
            module=selector.__module__,
            description=(inspect.getdoc(selector) or "").partition("\n")[0],
            takes_regression=bool(getattr(selector, "_accepts_regression", True)),
            takes_sparse=bool(get_tags(plain).input_tags.sparse),
            takes_missing=bool(get_tags(plain).input_tags.allow_nan),
            needs_target=bool(get_tags(plain).target_tags.required),
            has_proof=hasattr(selector, "certify"),
            parameters=plain.get_params(deep=False),
        )

    @property
    def cls(self) -> type:
        """The selector itself, imported when it is needed."""
        from importlib import import_module

        return getattr(import_module(self.module), self.class_name)

    @property
    def words(self) -> str:
        """What it does, for somebody who has not read the paper."""
        return _words().get(self.name, {}).get("words") or self.description

    @property
    def seconds(self) -> float | None:
        """CPU time on 100 x 20,000, where it was measured."""
        row = measured().get(self.name)
        return None if row is None else float(row["seconds"])

    @property
    def purposes(self) -> frozenset[str]:
        """The values of ``methods --for`` that it answers."""
        found = set(_words().get(self.name, {}).get("purposes", "").split())
        facts = {
            "regression": self.takes_regression,
            "sparse": self.takes_sparse,
            "missing": self.takes_missing,
            "unsupervised": not self.needs_target,
            "proof": self.has_proof,
            "large": self.seconds is not None and self.seconds <= _FAST,
        }
        return frozenset(found | {name for name, holds in facts.items() if holds})


PURPOSES = {
    "regression": "the target is a number: age, dose, survival time, yield",
    "large": f"20,000 features of 100 samples within {_FAST:.0f} second",
    "sparse": "mostly zeros, such as single-cell counts or words, kept as they are",
    "nonlinear": "features that matter, but not in proportion: only high and low values, only "
    "together",
    "panel": "a small panel: features that hardly repeat each other",
    "markers": "features that mark single classes, such as cell types",
    "outliers": "some samples are mislabelled or measured badly",
    "missing": "values are missing",
    "unsupervised": "there is no target: features are chosen for what they are among themselves",
    "p-values": "a p-value for every feature on its own",
    "proof": "how far the selection is from the best possible one (--certify)",
}


def all_methods() -> dict[str, Method]:
    """Every selector that runs without further arguments, by its command-line name."""
    return dict(_table())


def find_method(name: str) -> Method:
    """The method meant by ``ridge-forward``, ``ridge_forward`` or ``RidgeForwardSelector``."""
    by_key = {method_key(method.class_name): method for method in _table().values()}
    if method_key(name) in by_key:
        return by_key[method_key(name)]
    close = difflib.get_close_matches(method_key(name), list(by_key), n=1, cutoff=0.5)
    hint = f"did you mean {by_key[close[0]].name}? " if close else ""
    raise UsageError(f"unknown method {name!r}; {hint}sparsieve methods lists them all")


def discovered_methods() -> dict[str, Method]:
    """What the table has to hold: found by importing every selector."""
    from ..discovery import all_selectors

    found = [Method.of(cls) for cls in all_selectors().values() if is_offered(cls)]
    return {method.name: method for method in sorted(found, key=lambda method: method.name)}


def is_offered(cls: type) -> bool:
    """Whether a selector runs by its name alone."""
    import inspect

    from sklearn.feature_selection import SelectorMixin

    parameters = inspect.signature(cls).parameters.values()
    names = {parameter.name for parameter in parameters}
    return (
        issubclass(cls, SelectorMixin)
        and "n_features_to_select" in names
        and not names & _WRAPPED
        and all(parameter.default is not parameter.empty for parameter in parameters)
    )


# -- tables in the package -------------------------------------------------------------------


@cache
def _table() -> dict[str, Method]:
    rows = json.loads(_text("methods.json"))
    return {row["name"]: Method(**row) for row in rows}


@cache
def _words() -> dict[str, dict[str, str]]:
    return _rows("words.csv")


@cache
def measured() -> dict[str, dict[str, str]]:
    """What benchmarks/method_times.py found, by method."""
    return _rows("times.csv")


def _rows(name: str) -> dict[str, dict[str, str]]:
    return {row["method"]: row for row in csv.DictReader(_text(name).splitlines())}


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def as_text(methods: dict[str, Method]) -> str:
    """The table as it is kept in the package."""
    return json.dumps([asdict(method) for method in methods.values()], indent=1) + "\n"


if __name__ == "__main__":
    from pathlib import Path

    Path(__file__).with_name("methods.json").write_text(as_text(discovered_methods()), "utf-8")
