"""A saved selection predicts and tells its features, without the training data."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest

import sparsieve
from sparsieve.selection.predicting import SavedSelection

pytestmark = pytest.mark.usefixtures("lines_only")

WINE, KIND = load_wine(return_X_y=True, as_frame=True)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "wine.sparsieve"


@pytest.mark.parametrize("k", [2, "auto"])
def test_it_predicts_as_before(file, k):
    selected = sparsieve.select(WINE, KIND, k=k)
    sparsieve.save(selected, file)
    again = sparsieve.load(file)
    assert isinstance(again, SavedSelection)
    np.testing.assert_array_equal(again.predict(WINE), selected.predict(WINE))
    np.testing.assert_allclose(again.decision_function(WINE), selected.decision_function(WINE))
    pd.testing.assert_frame_equal(again.table, selected.table)
    pd.testing.assert_frame_equal(again.transform(WINE), selected.transform(WINE))
    assert again.features == selected.features
    assert again.names == list(WINE)
    assert again.held_out["score"] == selected.check.score
    assert repr(again) == repr(selected)
    np.testing.assert_array_equal(again.selector.get_support(), selected.selector.get_support())
    sparsieve.save(again, file)  # and once more
    assert sparsieve.load(file).features == selected.features


def test_text_is_encoded_as_before(file):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=60), "city": rng.choice(["A", "B"], 60)})
    frame.loc[::9, "city"] = None
    y = np.where(frame["city"] == "A", "yes", "no")
    selected = sparsieve.select(frame, y, k=1, feature_groups="categories", check=False)
    sparsieve.save(selected, file)
    again = sparsieve.load(file)
    np.testing.assert_array_equal(again.predict(frame[["city"]]), y)


def test_the_training_data_are_not_in_the_file(file):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 5))
    sparsieve.save(sparsieve.select(X, X[:, 0] + X[:, 1], k=2, check=False), file)
    with zipfile.ZipFile(file) as archive:
        assert sum(info.file_size for info in archive.infolist()) < X.nbytes / 4


def test_a_method_that_files_do_not_take_leaves_its_selector_out(file):
    selected = sparsieve.select(WINE, KIND, k=2, method=SelectKBest(), check=False)
    sparsieve.save(selected, file)
    again = sparsieve.load(file)
    assert again.selector is None
    np.testing.assert_array_equal(again.predict(WINE), selected.predict(WINE))


def test_a_forest_cannot_be_saved(file):
    """A forged tree could lead beyond its arrays, which no check of types finds."""
    selected = sparsieve.select(
        WINE, KIND, k=2, estimator=RandomForestClassifier(3, random_state=0), check=False
    )
    with pytest.raises(TypeError, match=r"it contains sklearn\.tree"):
        sparsieve.save(selected, file)
