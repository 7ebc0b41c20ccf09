"""The exchange driver: the first better proposal is taken, and nothing is fitted twice in vain."""

from dataclasses import dataclass

from sparsieve.solvers.searches.exchange import Exchanges


@dataclass
class Fit:
    features: frozenset
    objective: float


class Table(Exchanges[Fit]):
    """Sets of two numbers, with their objectives in a table; an exchange must gain ``least``."""

    def __init__(self, values, least=0.0):
        super().__init__()
        self.values, self.least, self.fitted = values, least, []

    def goal(self, fit):
        return fit.objective - self.least

    def proposals(self, fit):
        for features in self.values:
            if len(features & fit.features) == 1:
                yield features, lambda limit, features=features: self._fit(features, limit)

    def _fit(self, features, limit):
        self.fitted.append(features)
        value = self.values[features]
        return Fit(features, value) if value is not None else None


A, B, C, D = (frozenset(pair) for pair in ((1, 2), (1, 3), (2, 3), (2, 4)))


def test_the_first_better_one_is_taken():
    table = Table({A: 5.0, B: 6.0, C: 4.0, D: 1.0})
    found = table.better(Fit(A, 5.0))
    assert found == Fit(C, 4.0)  # D is better still, but comes later
    assert table.fitted == [B, C]


def test_what_was_tried_in_vain_is_not_fitted_again():
    table = Table({A: 5.0, B: 6.0, C: 5.0, D: None})
    assert table.better(Fit(A, 5.0)) is None  # as good is not better, and None did not get there
    assert table.fitted == [B, C, D]
    assert table.better(Fit(A, 5.0)) is None
    assert table.fitted == [B, C, D]


def test_a_higher_goal_tries_them_again():
    table = Table({A: 5.0, B: 6.0})
    assert table.better(Fit(A, 5.0)) is None
    assert table.better(Fit(A, 7.0)) == Fit(B, 6.0)
    assert table.fitted == [B, B]


def test_a_gain_below_the_least_does_not_count():
    values = {A: 5.0, B: 4.9}
    assert Table(values, least=0.2).better(Fit(A, 5.0)) is None
    assert Table(values, least=0.05).better(Fit(A, 5.0)) == Fit(B, 4.9)


def test_exchanges_end_at_a_set_without_a_better_neighbour():
    values = {A: 5.0, B: 4.0, C: 3.0, D: 2.0}
    table, fit = Table(values), Fit(A, 5.0)
    while (better := table.better(fit)) is not None:
        fit = better
    near = [value for some, value in values.items() if len(some & fit.features) == 1]
    assert fit.objective <= min(near)
