"""A sample of every record, computed once more: cheap data sets, at the standard level."""

from dataclasses import dataclass
from numbers import Real
from pathlib import Path

import pytest

from sparsieve.datasets import list_datasets
from sparsieve_experiments.papers import Bench, find_preset, records
from sparsieve_experiments.papers.base import printed_name
from sparsieve_experiments.papers.claims import DATA_SETS
from sparsieve_experiments.studies.exhibits import place_of_row

# Data sets of seconds, and in whose name rows stand; rows of made-up data are computed always.
SAMPLES = {
    "exclusive-l21": {"glioma"},
    "l0-mkl": {"glioma"},
    "l0-mpm": {"pima"},
    "l20": {"leukemia_38"},
    "robust-l20": {"leukemia_72"},
}
# Of a recorded number: a processor that rounds otherwise may turn a test sample or a feature.
TOLERANCE = 0.05
# Rows of older code, which differ from those of today by up to a ninth.
OF_OLDER_CODE = dict.fromkeys(
    [
        ("exclusive-l21", "Figure 2"),
        ("exclusive-l21", "Figure 2, equal budget"),
        ("l0-mkl", "Table 4"),
        ("l0-mkl", "Figure 1"),
    ],
    0.15,
)
# What a machine decides, and what few splits leave open.
LEFT_OUT = ("seconds", "n_iter", "_sd", "standard_error")


@dataclass(frozen=True)
class Sample(Bench):
    """A bench with some of the data sets at hand."""

    sets: frozenset = frozenset()

    def _at_hand(self, info):
        return info.name in self.sets and super()._at_hand(info)


def rows_by_place(rows, names):
    found = {}
    for row in rows:
        if "dataset" not in row or printed_name(row["dataset"]) in names:
            found.setdefault(place_of_row(row), []).append(row)
    return found


def check_rows(rows, recorded, tolerance, where):
    assert len(rows) == len(recorded), where
    for row, before in zip(rows, recorded, strict=True):
        for name, value in before.items():
            if not isinstance(value, Real) or any(part in name for part in LEFT_OUT):
                continue
            assert row[name] == pytest.approx(value, rel=tolerance, abs=0.01), (where, name, before)


@pytest.mark.slow
@pytest.mark.parametrize("paper", SAMPLES)
def test_a_sample_of_the_record_is_what_the_code_of_today_gives(paper, tmp_path):
    at_hand = {info.name: info.papers[paper] for info in list_datasets(paper=paper)}
    present = {info.name for info in list_datasets() if info.status == "present"}
    if not SAMPLES[paper] <= present:
        pytest.skip(f"{', '.join(SAMPLES[paper])} is not in the data folder")
    preset, names = find_preset(paper), {at_hand[name] for name in SAMPLES[paper]}
    home = Path(records.__file__).parent / "records" / paper
    recorded = records.addable(preset, "standard", home).reproduction.exhibits
    known = {exhibit.name: rows_by_place(exhibit.rows, names) for exhibit in recorded}
    bench = Sample(paper, tmp_path / "sample.sqlite", sets=frozenset(SAMPLES[paper]))
    compared = set()
    for experiment in preset.experiments:
        for exhibit in experiment.run(bench):
            if exhibit.name == DATA_SETS:
                continue
            tolerance = OF_OLDER_CODE.get((paper, exhibit.name), TOLERANCE)
            for place, rows in rows_by_place(exhibit.rows, names).items():
                if place in known.get(exhibit.name, {}):
                    where = (exhibit.name, *place)
                    check_rows(rows, known[exhibit.name][place], tolerance, where)
                    compared.add(exhibit.name)
    assert not bench.errors
    assert len(compared) >= len(known) // 2, compared
