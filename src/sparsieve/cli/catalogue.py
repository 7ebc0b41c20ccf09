"""The methods by the names they have on the command line."""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass

from .errors import UsageError

DEFAULT_METHOD = "ridge-forward"

# A selector with one of these is a wrapper around another and cannot be run by its name alone.
_WRAPPED = frozenset(("estimator", "selector", "selectors", "estimators"))


@dataclass(frozen=True)
class Method:
    """A selector as the command line offers it."""

    name: str
    cls: type

    @property
    def description(self) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(self.cls) or "").partition("\n")[0]

    @property
    def takes_regression(self) -> bool:
        """Whether the target may be real numbers."""
        return bool(getattr(self.cls, "_accepts_regression", True))

    @property
    def takes_sparse(self) -> bool:
        """Whether X may be a sparse matrix."""
        from sklearn.utils import get_tags

        return bool(get_tags(self.cls()).input_tags.sparse)

    @property
    def parameters(self) -> dict:
        """Constructor parameters with their defaults."""
        return self.cls().get_params(deep=False)


def all_methods() -> dict[str, Method]:
    """Every selector that runs without further arguments, by its command-line name."""
    from ..discovery import all_selectors, method_name

    found = (Method(method_name(name), cls) for name, cls in all_selectors().items())
    return {m.name: m for m in sorted(found, key=lambda m: m.name) if _is_offered(m.cls)}


def find_method(name: str) -> Method:
    """The method meant by ``ridge-forward``, ``ridge_forward`` or ``RidgeForwardSelector``."""
    from ..discovery import method_key

    methods = all_methods()
    by_key = {method_key(method.cls.__name__): method for method in methods.values()}
    if method_key(name) in by_key:
        return by_key[method_key(name)]
    close = difflib.get_close_matches(method_key(name), list(by_key), n=1, cutoff=0.5)
    hint = f"did you mean {by_key[close[0]].name}? " if close else ""
    raise UsageError(f"unknown method {name!r}; {hint}sparsieve methods lists them all")


def _is_offered(cls: type) -> bool:
    from sklearn.feature_selection import SelectorMixin

    parameters = inspect.signature(cls).parameters.values()
    names = {parameter.name for parameter in parameters}
    return (
        issubclass(cls, SelectorMixin)
        and "n_features_to_select" in names
        and not names & _WRAPPED
        and all(parameter.default is not parameter.empty for parameter in parameters)
    )
