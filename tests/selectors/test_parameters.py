"""Parameters by name, as the command line and study files write them."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from sparsieve import FisherSelector
from sparsieve.selectors.groups import configure
from sparsieve.selectors.settings import HasSolver, SolverSettings


@dataclass(repr=False, kw_only=True)
class Steep(SolverSettings):
    decay: float = 0.5


@dataclass(repr=False, kw_only=True)
class Plain(SolverSettings):
    """Without settings."""


@dataclass(eq=False, repr=False, kw_only=True)
class Model(HasSolver):
    alpha: float = 1.0
    solver: object = "plain"
    tol: float = 1e-4
    _solvers: ClassVar = {"steep": Steep, "plain": Plain}


def test_settings_of_a_solver_make_its_object_whatever_their_order():
    for names in (("solver", "solver__decay"), ("solver__decay", "solver")):
        values = {"solver": "steep", "solver__decay": 0.9}
        model = configure(Model, {name: values[name] for name in names})
        assert model.solver == Steep(decay=0.9)
    assert configure(Model, {"solver": Steep(), "solver__decay": 0.1}).solver == Steep(decay=0.1)
    assert configure(Model, {"alpha": 2.0}).alpha == 2.0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"alhpa": 1}, "Model has no parameter 'alhpa'; did you mean alpha?"),
        ({"zzzz": 1}, "Model has no parameter 'zzzz'; it has alpha, tol"),
        ({"solver": "steep", "solver__dacay": 1}, "Steep has no parameter 'dacay'; it takes decay"),
        ({"solver": "plain", "solver__decay": 1}, "Plain has no parameter 'decay'; it takes none"),
        (
            {"solver": "magic", "solver__decay": 1},
            "Model with solver='magic' has no solver__decay; it belongs to solver=steep",
        ),
        ({"alpha__x": 1}, "Model with alpha=1.0 has no alpha__x"),
    ],
)
def test_unknown_names_get_one_sentence(parameters, sentence):
    with pytest.raises(ValueError) as caught:
        configure(Model, parameters, hidden=["solver"])
    assert str(caught.value) == sentence


def test_without_parameters():
    assert isinstance(configure(FisherSelector, {}), FisherSelector)
