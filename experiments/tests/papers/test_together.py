"""Selections of a batch are scored like those of one split after the other."""

import pytest

torch = pytest.importorskip("torch")

from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian  # noqa: E402
from sparsieve_experiments.papers import Bench, find_preset, reproduce  # noqa: E402
from sparsieve_experiments.papers.robust_l20 import methods, together  # noqa: E402
from sparsieve_experiments.papers.robust_l20.methods import score_per_k  # noqa: E402
from sparsieve_experiments.papers.robust_l20.together import Together  # noqa: E402

CHAIN = {"gamma": 0.1, "warm_start": True, "max_iter": 40}
PER_K = [
    ("nmAPG", {**CHAIN, "rho_share": 0.001}),
    ("nmAPG", {**CHAIN, "rho_share": 0.01}),
    ("nmAPG", {"gamma": 1.0, "mu": 0.01, "rho": 0.01, "max_iter": 30}),
    ("TopK", {}),
]
SETTINGS = [
    {
        "dataset": "wine",
        "repeat": repeat,
        "fold": 0,
        "method": method,
        "parameters": parameters,
        "protocol": {"kind": "splits", "train_fraction": 0.7, "n_repeats": 2},
        "seed": 0,
        "ks": [2, 5, 50],  # wine has 13 features
        "classifiers": ["1nn"],
    }
    for repeat in range(2)
    for method, parameters in PER_K
]


@pytest.fixture(autouse=True)
def _few_iterations(monkeypatch):
    for module in (methods, together):
        monkeypatch.setattr(module, "published_top_k", lambda: TopKLagrangian.published(40))


def done(bench, settings=SETTINGS):
    ahead = None if bench.device is None else Together(bench, "demo", SETTINGS)
    found = bench.jobs("demo", score_per_k, settings, ahead=ahead)
    assert not bench.errors
    return [(one["scores"], one["selections"]) for one in found]


def test_both_ways_give_the_same_cells(tmp_path):
    alone = Bench("robust-l20", tmp_path / "alone.sqlite", "full")
    expected = done(alone)
    mixed = Bench("robust-l20", tmp_path / "mixed.sqlite", "full")
    seen = []
    done(mixed, SETTINGS[:4])
    batches = Bench(
        "robust-l20",
        mixed.store,
        "full",
        device="cpu",
        on_progress=lambda name, now: seen.append((name, now.total, now.computed)),
    )
    assert done(batches) == expected
    assert ("demo, selected on cpu", 3, 3) in seen  # both rho share a batch
    assert seen[-1] == ("demo", 8, 4)
    assert done(mixed) == expected


def test_what_a_batch_selected_is_kept(tmp_path, monkeypatch):
    bench = Bench("robust-l20", tmp_path / "all.sqlite", "full", device="cpu")
    first = Together(bench, "demo", SETTINGS)(SETTINGS)
    monkeypatch.setattr(together, "robust_problem", None)  # nothing can be solved any more
    assert Together(bench, "demo", SETTINGS)(SETTINGS[:1]) == first[:1]


def test_a_batch_that_fails_is_said_and_stops_nothing_else(tmp_path):
    bench = Bench("robust-l20", tmp_path / "all.sqlite", "full", device="cpu")
    settings = [{**SETTINGS[2], "dataset": name} for name in ("wine", "nowhere")]
    found = bench.jobs("demo", score_per_k, settings, ahead=Together(bench, "demo", settings))
    assert [one["dataset"] for one in found] == ["wine"]
    batch, cell = bench.errors
    assert batch.startswith("demo, selected on cpu: ")
    assert "nowhere" in batch
    assert "the batch failed, see: demo, selected on cpu" in cell


def test_a_device_must_be_there_and_be_of_use(tmp_path):
    with pytest.raises(ValueError, match=r"robust-l20, not l20; leave it away"):
        reproduce("l20", tmp_path / "no.sqlite", device="cpu")
    with pytest.raises(ValueError, match='such as "cuda" or "cpu", got \'gpu\''):
        reproduce("robust-l20", tmp_path / "no.sqlite", device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="on this machine; leave out the device"):
            reproduce("robust-l20", tmp_path / "no.sqlite", device="cuda")
    assert find_preset("robust-l20").in_batches
    assert not (tmp_path / "no.sqlite").exists()
