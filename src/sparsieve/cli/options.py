"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Debug = Annotated[
    bool,
    # Read from the arguments by `run`, which also has to see the errors of the parser.
    typer.Option("--debug", help="Show the traceback of an error."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
