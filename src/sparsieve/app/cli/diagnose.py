"""``sparsieve diagnose``: problems in a data file before anything is selected from it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from .live import progress
from .options import AsJson, DataFile, Debug, Quiet, Task, TaskOption, as_options, with_option_sets
from .output import UsageError, collect_warnings, in_lines, print_json, say
from .tables import Reading, SurvivalColumns, data_file

ImputeForModels = Annotated[
    bool,
    typer.Option(
        "--impute",
        help="Let the models that are tried see columns with gaps too, filled with their median.",
    ),
]


@with_option_sets
def diagnose(
    file: DataFile,
    reading: Reading,
    survival: SurvivalColumns,
    impute: ImputeForModels = False,
    task: TaskOption = Task.auto,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look for problems in FILE: features that give the target away, ids, copies, raw counts.

    Prints one sentence for each problem found, the most serious first. The exit code is 0 whether
    there are any or not.

    Example: sparsieve diagnose data.csv --target label
    """
    survival.check(reading.target, task.value)
    if reading.weights is not None:
        raise UsageError(
            "sparsieve diagnose counts every sample once; leave the column of weights out with "
            f"--drop {reading.weights}"
        )
    with data_file(file, reading.form) as path:
        # Columns with gaps are reported rather than left out.
        keep: Any = {} if reading.max_missing is not None else {"max_missing": None}
        table = survival.read_table(reading, path, task.value, quiet=quiet, gaps="value", **keep)
    if hasattr(table.X, "passes"):
        raise UsageError("sparsieve diagnose needs the features in memory, but they are too large")
    with progress("Looking at the data", quiet=quiet), collect_warnings() as said:
        from ...diagnosis import diagnose as look
        from ..io import DataError

        try:
            found = look(
                table,
                task=survival.task(task.value),
                impute=impute,
            )
        except (TypeError, ValueError) as error:
            raise DataError(as_options(str(error))) from error
    held_together = found.first(groups=table.groups) if table.groups is not None else None
    findings = [
        one
        for one in found
        if one.kind != "samples" or held_together is None or one.sentence in held_together
    ]
    if as_json:
        print_json(
            {
                "target": table.target_name or None,
                "n_samples": table.X.shape[0],
                "n_left_out": table.n_left_out,
                "n_features": table.X.shape[1],
                "findings": [
                    {
                        "kind": one.kind,
                        "sentence": as_options(one.sentence),
                        "features": [table.feature_names[j] for j in one.features],
                        "samples": one.samples,
                    }
                    for one in findings
                ],
            }
        )
        return
    if not quiet:
        say(*(f"note: {as_options(sentence)}" for sentence in said))
    for one in findings:
        print(in_lines(as_options(one.sentence), sys.stdout))
    if not findings:
        print("Nothing unusual was found.")
