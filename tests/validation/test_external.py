"""X that stays in its file or on its cluster is never loaded whole by surprise."""

import numpy as np
import pytest

import sparsieve

USES = {
    "compare": lambda X, y: sparsieve.compare(X, y, ["f-statistic", "fisher"]),
    "diagnose": lambda X, y: sparsieve.diagnose(X, y, try_models=False),
}


def loaded_whole(*_args, **_options):
    raise AssertionError("X was loaded")


@pytest.fixture
def data(rng):
    return rng.standard_normal((100, 600)), np.arange(100) % 2


@pytest.mark.parametrize("name", USES)
def test_a_dask_array_is_refused_with_the_remedy(name, data, monkeypatch):
    dask = pytest.importorskip("dask.array")
    X, y = data
    X = dask.from_array(X, chunks=(25, -1))
    monkeypatch.setattr(type(X), "__array__", loaded_whole)
    with pytest.raises(TypeError, match=rf"{name} needs X in memory.*pass X.compute\(\) if"):
        USES[name](X, y)


@pytest.mark.parametrize("name", USES)
@pytest.mark.long("data large enough to reach a limit")
def test_a_file_larger_than_the_limit_is_refused_and_a_small_one_read(name, data, tmp_path):
    h5py = pytest.importorskip("h5py")
    X, y = data
    with h5py.File(tmp_path / "X.h5", "w") as file:
        stored = file.create_dataset("X", data=X)
        with sparsieve.set_memory("1MB"), pytest.raises(TypeError, match=r"in memory.*asarray"):
            USES[name](stored, y)
        assert USES[name](stored, y) is not None


def test_selected_columns_on_a_cluster_are_not_gathered_to_be_put_back(data, monkeypatch):
    dask = pytest.importorskip("dask.array")
    X, y = data
    selector = sparsieve.FStatisticSelector(3).fit(X, y)
    some = dask.from_array(selector.transform(X), chunks=(25, -1))
    monkeypatch.setattr(type(some), "__array__", loaded_whole)
    with pytest.raises(TypeError, match="inverse_transform needs X in memory"):
        selector.inverse_transform(some)
    assert selector.inverse_transform(some.compute()).shape == X.shape
