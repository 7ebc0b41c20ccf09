"""Old names of parameters are answered with the new ones, wherever they are used."""

import inspect
import pickle

import pytest
from sklearn.base import clone

from sparsieve import L20Selector, all_estimators
from sparsieve.cli.catalogue import find_method
from sparsieve.cli.errors import UsageError
from sparsieve.cli.settings import build_selector
from sparsieve.selectors.renamed import OLD_NAMES, replacement
from sparsieve.studies import SelectorSpec
from sparsieve.studies.sources import StudyError

ROBUST = r"use RobustL20Selector\(alpha=0, lam=...\)"


@pytest.mark.parametrize("name", OLD_NAMES)
def test_every_old_name_is_gone_and_told_the_new_one(name):
    cls = all_estimators()[name]
    for old in OLD_NAMES[name]:
        if old in inspect.signature(cls).parameters:
            continue  # still a parameter
        assert replacement(cls, old) == OLD_NAMES[name][old]
        with pytest.raises(TypeError, match=f"no parameter '{old}' any more; use "):
            cls(**{old: 1})


def test_the_sentence_comes_from_constructor_set_params_command_line_and_study():
    with pytest.raises(TypeError, match=ROBUST):
        L20Selector(loss="l21")
    with pytest.raises(ValueError, match=ROBUST):
        L20Selector().set_params(loss="l21")
    with pytest.raises(UsageError, match=ROBUST):
        build_selector(find_method("l20"), 3, "auto", ["loss=l21"])
    with pytest.raises(StudyError, match=ROBUST):
        SelectorSpec("L20Selector", {"loss": "l21"})


def test_other_unknown_names_and_signatures_stay_python_s_own():
    with pytest.raises(TypeError, match="unexpected keyword argument 'lost'"):
        L20Selector(lost=1)
    assert next(iter(inspect.signature(L20Selector).parameters)) == "n_features_to_select"
    selector = L20Selector(n_features_to_select=3)
    assert clone(selector).n_features_to_select == 3
    assert pickle.loads(pickle.dumps(selector)).n_features_to_select == 3
