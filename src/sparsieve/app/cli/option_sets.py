"""Options that several commands share, as one parameter of their functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def with_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Take a parameter that is a dataclass apart: each of its fields is an option.

    Typer sees one parameter per field, and the function gets the dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    sets: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    flat: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in sets:
            flat.append(parameter.replace(annotation=hints[name]))
            continue
        options = get_type_hints(sets[name], include_extras=True)
        for one in fields(sets[name]):
            how = {"default": one.default, "annotation": options[one.name]}
            flat.append(Parameter(one.name, Parameter.KEYWORD_ONLY, **how))

    def run(**values: Any) -> None:
        for name, made in sets.items():
            values[name] = made(**{one.name: values.pop(one.name) for one in fields(made)})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in flat}
    run.__signature__ = Signature(  # type: ignore[attr-defined]
        [one.replace(kind=Parameter.KEYWORD_ONLY) for one in flat]
    )
    return run
