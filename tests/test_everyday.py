"""Everyday data, small: every selector answers, and its answer has converged."""

from __future__ import annotations

import pytest

import everyday

THREE, SINGLE = "three samples of a million features", "one sample per class"
MANY, RARE = "5,000 classes", "rare positives in sparse data"
# Cells that fall short, and why.
KNOWN = {}
for inner in ("FisherSelector", "RidgeForwardSelector"):
    # One pair of samples is all that any selector could learn from: it can be in one half only,
    # and of three samples none can be held out.
    for wrapper, kind in (
        ("StabilitySelection", SINGLE),
        ("StabilitySelection", THREE),
        ("SelectorCV", THREE),
    ):
        KNOWN[f"{wrapper}({inner})", kind] = "cannot be divided, as a sentence says"
# More than about a second of CPU time each.
SLOW = {
    ("RobustL20Selector", "30 classes of four"),
    ("MIKFSSelector", "30 classes of four"),
    ("L0MPMSelector", "30 classes of four"),
    ("SVMRFESelector", "30 classes of four"),
    ("MIKFSSelector", "tall, classes overlap"),
    ("MIKFSSelector", "counts"),
    ("L0MKLSelector", "counts"),
    ("L0SVMSelector", "counts"),
    ("L0MKLSelector", RARE),
    ("MIKFSSelector", RARE),
    ("L20Selector", RARE),
    ("RPMFSSelector", RARE),
    ("ExclusiveL21Selector", RARE),
    ("ExclusiveL21Selector", "400 copies of one column"),
    ("ExclusiveL21Selector", THREE),
    ("LInfSelector", THREE),
    ("SMPMSelector", THREE),
}
for name in ("L0MKL", "L0MPM", "L1MPM", "MIKFS", "RPMFS", "RobustL20", "SMPM", "SVMRFE"):
    SLOW.add((f"{name}Selector", MANY))


def cells():
    for kind in everyday.KINDS:
        for name in everyday.selectors():
            reason = KNOWN.get((name, kind))
            marks = [] if reason is None else [pytest.mark.xfail(strict=True, reason=reason)]
            if (name, kind) in SLOW:
                marks.append(pytest.mark.slow)
            yield pytest.param(name, kind, id=f"{kind}-{name}", marks=marks)


@pytest.mark.thinned(3)
@pytest.mark.thinned(9)
@pytest.mark.parametrize(("name", "kind"), list(cells()))
@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_every_selector_answers(name, kind):
    selector = everyday.selectors()[name]
    fewer = {"n_subsamples": 10, "n_repeats": 1}  # as many fits as show what a wrapper does
    known = selector.get_params(deep=False)
    selector.set_params(**{key: value for key, value in fewer.items() if key in known})
    found = everyday.cell(selector, *everyday.data(kind, 0, small=True))
    # How long it takes is for `make everyday` to say: no test depends on the clock.
    assert found.fine or found.outcome == "too slow", found


def test_a_cell_says_what_went_wrong():
    X, y = everyday.data("twenty samples", 0, small=True)
    selectors = everyday.selectors()
    assert everyday.cell(selectors["FisherSelector"], X, y).outcome == "answer"
    assert everyday.cell(selectors["FisherSelector"], X * float("nan"), y).outcome == "refused"
    assert everyday.cell(selectors["ChiSquareSelector"], X, y).outcome == "not meant for this"
    few = selectors["MIKFSSelector"].set_params(max_iter=1)
    assert everyday.cell(few, X, y).outcome == "not converged"


def test_names_of_classes_that_are_text_are_printed(capsys):
    X, y = everyday.data("twenty samples", 0, small=True)
    everyday.selectors()["SMPMSelector"].set_params(verbose=1).fit(X, y)
    assert "class 'class 1' against class 'class 0'" in capsys.readouterr().out
