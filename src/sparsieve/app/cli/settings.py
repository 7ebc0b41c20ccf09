"""From options to an unfitted selector; what is wrong with them is said before any work."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from ...registry import DEFAULT_METHOD, Method, all_methods, find_class_name, method_name
from .output import UsageError

AUTO = "auto"  # as -k: choose the number by cross-validation
FDR = "fdr="  # as -k, before a level: keep what can be claimed at this false discovery rate
CLAIMING = "fdr"  # the method that claims
# These have options of their own.
_OPTION_OF = {
    "n_features_to_select": "-k",
    "task": "--task",
    "max_correlation": "--max-correlation",
}


def find_method(name: str) -> Method:
    """The method meant by ``ridge-forward``, ``ridge_forward`` or ``RidgeForwardSelector``."""
    known = {method.class_name: method for method in all_methods().values()}
    try:
        found = find_class_name(
            name, known, shown=method_name, where="sparsieve methods lists them all"
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    return known[found]


def parse_count(text: str | None) -> int | float | str | None:
    """``-k`` as an int, a fraction, "auto" or "fdr=0.1"."""
    if text is None:
        return None
    if (word := text.lower().replace(" ", "")) == AUTO:
        return AUTO
    if word.startswith(FDR):
        level = _literal(word.removeprefix(FDR))
        if not isinstance(level, float) or not 0 < level < 1:
            raise UsageError(f"-k {FDR}LEVEL needs a level such as {FDR}0.1, got {text!r}")
        return f"{FDR}{level}"
    count = _literal(text)
    if isinstance(count, bool) or not isinstance(count, (int, float)):
        raise UsageError(
            f"-k must be a number of features, a fraction such as 0.1, {AUTO} or {FDR}0.1, got "
            f"{text!r}"
        )
    if isinstance(count, float) or count < 1:
        from ..._checks import resolve_count

        try:
            resolve_count(count, 1, default=1, name="-k")
        except ValueError as error:
            raise UsageError(str(error)) from None
    return count


def claims_features(count: Any) -> bool:
    """Whether ``-k`` asks for what can be claimed."""
    return isinstance(count, str) and count.startswith(FDR)


def make_method(name: str, count: Any) -> Method:
    """The method by its name; ``-k fdr=0.1`` stands for a method of its own."""
    if not claims_features(count):
        return find_method(name)
    if name != DEFAULT_METHOD and find_method(name).name != CLAIMING:
        raise UsageError(
            f"-k {count} keeps what can be claimed, which --method {name} does not test; leave "
            "--method out, or use -k N --claim conditional to see both"
        )
    return find_method(CLAIMING)


def check_groups(method: Method) -> None:
    """Refuse a method that selects single columns, before the data are read."""
    if "groups" not in method.purposes:
        able = [name for name, one in all_methods().items() if "groups" in one.purposes]
        raise UsageError(
            f"{method.name} selects single columns and takes no --feature-groups; methods that "
            f"keep whole groups are {', '.join(able)}"
        )


def build_selector(
    method: Method,
    count: int | float | str | None,
    task: str,
    settings: Sequence[str],
    *,
    stable: bool = False,
    max_correlation: float | str | None = "auto",
) -> Any:
    """The unfitted selector that the options describe; ``stable`` runs it on halves."""
    parameters = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals or not name:
            raise UsageError(f"--param needs NAME=VALUE, got {setting!r}")
        if name in _OPTION_OF:
            raise UsageError(f"use {_OPTION_OF[name]} instead of --param {name}")
        parameters[name] = _literal(text)
    from ...selectors.groups import configure

    try:
        selector = configure(method.cls, parameters, hidden=_OPTION_OF)
    except ValueError as error:
        sentence = str(error).replace(method.cls.__name__, method.name, 1)
        # An object cannot be typed here; its settings can.
        sentence = re.sub(
            r"solver=(\w+)\((\w+)=\.\.\.\)",
            lambda found: f"solver={found[1].lower()} with solver__{found[2]}=...",
            sentence,
        )
        raise UsageError(f"--param: {sentence}") from None
    from ...selectors.near_copies import with_max_correlation

    selector = with_max_correlation(selector, method.name, max_correlation)
    selector.set_params(n_features_to_select=None if isinstance(count, str) else count)
    if "task" in selector.get_params(deep=False):
        selector.set_params(task=task)
    try:
        getattr(selector, "_check_parameters", lambda: None)()
    except ValueError as error:
        raise UsageError(f"--param: {error}") from None
    if stable:
        from ...meta import StabilitySelection

        if isinstance(count, str):
            raise UsageError(
                f"-k {count} and --stable exclude each other: stability selection chooses the "
                "number by its own threshold"
            )
        limit = selector.max_correlation
        selector = StabilitySelection(selector, n_features_to_select=count, max_correlation=limit)
    return selector


def check_task(method: Method, task: str) -> None:
    """Refuse a method that cannot do what --task asks for."""
    if task in ("counts", "survival"):
        from ...selectors.around import takes_task

        if takes_task(method.cls(), task):
            return
        what = "survival times" if task == "survival" else "counts"
        raise UsageError(
            f"{method.name} cannot select for {what}; leave --method out, or use likelihood-forward"
        )
    if task == "regression" and "regression" not in method.purposes:
        raise UsageError(
            f"{method.name} works for class labels only; sparsieve methods --for regression lists "
            "the methods for regression"
        )


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


def check_certifiable(method: Method, selector: Any) -> None:
    """Refuse --certify, before any work, for a method that nothing can be proven about."""
    if "proof" not in method.purposes:
        able = [each.name for each in all_methods().values() if "proof" in each.purposes]
        raise UsageError(
            f"--certify: nothing can be proven about the selections of {method.name}; "
            f"{', '.join(able[:-1])} and {able[-1]} can be certified"
        )
    try:
        selector._check_certifiable()
    except ValueError as error:
        sentence = str(error).replace(f"{method.cls.__name__} was fitted", f"{method.name} is")
        raise UsageError(f"--certify: {sentence}") from None
