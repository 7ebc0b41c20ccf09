import pytest

from sparsieve_experiments.papers import published
from sparsieve_experiments.studies import Store, result_rows
from sparsieve_experiments.studies.exhibits import Drawing, Exhibit
from sparsieve_experiments.studies.jobs import run_jobs

calls = []


def square(setting):
    calls.append(setting["x"])
    if setting["x"] < 0:
        raise ValueError("negative")
    return {"square": setting["x"] ** 2}


@pytest.fixture(autouse=True)
def forget():
    calls.clear()


def test_every_setting_is_computed_once(tmp_path):
    store = tmp_path / "jobs.sqlite"
    settings = [{"x": x} for x in (3, 1, 2)]
    first = run_jobs("squares", square, settings, store)
    assert [outcome["result"]["square"] for outcome in first] == [9, 1, 4]
    more = run_jobs("squares", square, [*settings, {"x": 5}], store)
    assert more[:3] == first
    assert calls == [3, 1, 2, 5]


@pytest.mark.slow
def test_the_same_whatever_n_jobs(tmp_path):
    settings = [{"x": x} for x in range(6)]
    one = run_jobs("squares", square, settings, tmp_path / "one.sqlite")
    two = run_jobs("squares", _power, settings, tmp_path / "two.sqlite", n_jobs=2)
    assert [o["result"] for o in one] == [o["result"] for o in two]


def _power(setting):
    return {"square": setting["x"] ** 2}


def test_failures_are_kept_apart_and_retried_on_request(tmp_path):
    store = tmp_path / "jobs.sqlite"
    settings = [{"x": -1}, {"x": 2}]
    bad, good = run_jobs("squares", square, settings, store)
    assert bad == {"setting": {"x": -1}, "error": "ValueError: negative"}
    assert good["result"] == {"square": 4}
    run_jobs("squares", square, settings, store)
    assert calls == [-1, 2]
    run_jobs("squares", square, settings, store, retry_failed=True)
    assert calls == [-1, 2, -1]


def test_what_settings_share_is_found_for_those_still_open(tmp_path):
    store, asked = tmp_path / "jobs.sqlite", []

    def squares(settings):
        asked.append([setting["x"] for setting in settings])
        return [
            {"square": s["x"] ** 2} if s["x"] != 4 else ValueError("too many") for s in settings
        ]

    settings = [{"x": x} for x in (1, 2, 3, 4)]
    run_jobs("squares", _given, settings[:2], store)
    found = run_jobs("squares", _given, settings, store, ahead=squares)
    assert [outcome.get("result") for outcome in found[:3]] == [{"square": x} for x in (1, 4, 9)]
    assert found[3]["error"] == "ValueError: too many"
    run_jobs("squares", _given, settings, store, ahead=squares)
    assert asked == [[3, 4]]


def _given(setting, found=None):
    return found or {"square": setting["x"] ** 2}


def test_other_data_are_computed_anew(tmp_path):
    store, data = tmp_path / "jobs.sqlite", {"now": "first"}

    def run():
        return run_jobs("squares", square, [{"x": 2}], store, fingerprint=lambda _: data["now"])

    assert run()[0]["result"] == {"square": 4}
    run()
    assert calls == [2]
    data["now"] = "second"
    run()
    assert calls == [2, 2]
    data["now"] = "first"
    run()
    assert calls == [2, 2]


def test_data_that_change_meanwhile_give_no_result(tmp_path):
    store, data = tmp_path / "jobs.sqlite", {"now": "first"}

    def careless(setting):
        calls.append(data["now"])
        data["now"] = "second"
        return {"done": True}

    def run():
        return run_jobs("changed", careless, [{}], store, fingerprint=lambda _: data["now"])[0]

    assert "the data changed while this was computed; run it again" in run()["error"]
    assert run()["result"] == {"done": True}
    assert calls == ["first", "second"]


def test_jobs_are_no_rows_of_a_study(tmp_path):
    store = tmp_path / "jobs.sqlite"
    run_jobs("squares", square, [{"x": 1}], store)
    with Store(store) as opened:
        assert result_rows(opened) == []


def test_printed_numbers():
    table = published("l20_table2")
    assert {row["classifier"] for row in table} == {"knn5", "softmax"}
    baseline = next(r for r in table if (r["dataset"], r["method"]) == ("Brain", "baseline"))
    assert baseline["accuracy"] == 71.67
    assert published("l0mpm_tables3_5_6_7")[0]["percent_features"] is None


def test_an_exhibit_refuses_an_unknown_kind():
    with pytest.raises(ValueError, match="kind must be one of"):
        Exhibit("F", "t", [{"a": 1}], [Drawing("a", "a", kind="pie")])


def test_bars_have_no_logarithm_of_names():
    with pytest.raises(ValueError, match="set log_y"):
        Exhibit("F", "t", [{"a": 1}], [Drawing("a", "a", kind="bars", log_x=True)])
