"""Every solver is a frozen dataclass with one ``solve(problem, start, callback) -> Result``."""

import dataclasses
import importlib
import inspect
import pkgutil

import pytest

from sparsieve import papers, solvers
from sparsieve._imports import PAPERS

# A search that goes on where the last k ended, and one that keeps the best for an interrupt.
STATEFUL = {"BoundSearch", "BestSubsetSearch"}


PACKAGES = [found.name for found in pkgutil.iter_modules(solvers.__path__) if found.ispkg]
# What they solve is given by others: a loss, and programs of which only the caller knows.
WITHOUT_SOLVERS = {"losses", "engines"}
PROGRAMS = {"sparsieve.papers.l0_mpm.solvers.cones"}


def modules():
    for part in set(PACKAGES) - WITHOUT_SOLVERS:
        package = importlib.import_module(f"{solvers.__name__}.{part}")
        yield from pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    yield from pkgutil.walk_packages(papers.__path__, f"{papers.__name__}.")


def all_solvers():
    for module in modules():
        if module.name.rpartition(".")[2].startswith("_") or module.name in PROGRAMS:
            continue
        for name, cls in vars(importlib.import_module(module.name)).items():
            own = inspect.isclass(cls) and cls.__module__ == module.name
            # Models of a path solve on their working set; the engine around them is the solver.
            is_model = name.endswith("Model") and module.name.startswith(
                f"{solvers.__name__}.paths"
            )
            if own and not name.startswith("_") and "solve" in vars(cls) and not is_model:
                yield cls


SOLVERS = sorted(all_solvers(), key=lambda cls: cls.__name__)


@pytest.mark.parametrize("cls", SOLVERS, ids=lambda cls: cls.__name__)
def test_one_convention(cls):
    signature = inspect.signature(cls.solve)
    assert str(signature.return_annotation).startswith("Result[")
    if cls.__name__ == "BoundSearch":
        return
    assert list(signature.parameters) == ["self", "problem", "start", "callback"]
    assert [p.default for p in signature.parameters.values()][2:] == [None, None]
    assert all(p.annotation is not p.empty for p in list(signature.parameters.values())[1:])
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen or cls.__name__ in STATEFUL


def test_all_packages_are_there():
    homes = {tuple(cls.__module__.split(".")[1:3]) for cls in SOLVERS}
    assert homes == {
        *(("solvers", part) for part in set(PACKAGES) - WITHOUT_SOLVERS),
        *(("papers", paper) for paper in [*PAPERS, "l20"]),
    }
    assert len(SOLVERS) > 30
