"""``sparsieve compare``."""

import pytest

METHODS = ("--methods", "fisher,f-statistic,mrmr", "--repeats", "1", "--folds", "3")


def test_a_table_a_recommendation_and_files(sparsieve, flowers, tmp_path):
    pytest.importorskip("vl_convert")
    page, ranking = tmp_path / "page.html", tmp_path / "ranking.csv"
    tables = [tmp_path / f"table.{form}" for form in ("tex", "md", "csv")]
    run = sparsieve(
        *("compare", flowers, "-t", "kind", *METHODS, "--k", "1,2", "--seed", 3),
        *("--report", page, "-o", ranking),
        *(part for table in tables for part in ("--export", table)),
    )
    assert run.code == 0
    header, *rows = [line.split("\t") for line in run.out.splitlines()]
    assert header[:3] == ["method", "accuracy (%)", "95 % interval"]
    assert {row[0] for row in rows} == {"fisher", "f-statistic", "mrmr"}
    assert "Using 2 features, all 3 methods had the same accuracy" in run.err
    assert "Features chosen by most methods (with 2 features each): " in run.err
    assert "t (3 of 3)" in run.err
    assert "Which features they agree on" in page.read_text()
    assert "sparsieve.compare(" in page.read_text()
    assert ranking.read_text().splitlines()[0].startswith("rank,feature,methods,share")
    assert all("f-statistic" in table.read_text() for table in tables)


def test_json_has_the_numbers(sparsieve, flowers):
    run = sparsieve("compare", flowers, "-t", "kind", *METHODS, "-k", "2", "--json", "-q")
    found = run.json()
    assert run.err == ""
    assert found["k"] == 2
    assert {row["feature"] for row in found["consensus"][:2]} == {"q", "t"}
    assert found["methods"][0]["better_than_guess"] is True
    assert (found["rule"], found["model"]) == ("fewest", "softmax")


def test_it_says_how_scores_were_measured_and_the_number_was_chosen(sparsieve, flowers):
    how = ("compare", flowers, "-t", "kind", *METHODS, "-k", "1,2")
    said = "Scores are those of a softmax regression model on the held-out samples of 3 splits; "
    assert (
        f"{said}2 features: the fewest that are as good as the best number" in sparsieve(*how).err
    )
    assert "features: the number with the best mean" in sparsieve(*how, "--rule", "best").err


def test_several_scores_of_scikit_learn(sparsieve, flowers):
    asked = ("--scoring", "neg_log_loss", "--scoring", "roc_auc_ovr")
    run = sparsieve("compare", flowers, "-t", "kind", *METHODS, "-k", "2", *asked)
    header, *rows = [line.split("\t") for line in run.out.splitlines()]
    assert header[1] == "log loss (lower is better)"
    assert header[-1].startswith("AUC")
    losses = [float(row[1]) for row in rows]
    assert losses == sorted(losses)
    assert "Scores are those of a softmax regression model on the held-out" in run.err
    found = sparsieve(
        "compare", flowers, "-t", "kind", *METHODS, "-k", "2", *asked, "--json"
    ).json()
    assert found["methods"][0]["log_loss"] == pytest.approx(losses[0], rel=1e-2)
    assert set(found["guess"]) == {"log_loss", "roc_auc_ovr"}


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["-t", "kind", "--methods", "l22"], 2, "unknown method 'l22'; did you mean l21?"),
        (
            ["-t", "p", "--drop", "kind", "--methods", "fisher"],
            1,
            "fisher selects for class labels only",
        ),
        (
            ["-t", "kind", "--k", "2,many"],
            2,
            "--k needs whole numbers separated by commas, got 'many'",
        ),
        (["-t", "kind", "--k", "7"], 1, "--k asks for 7 features, larger than the 6"),
        (["-t", "kind", "--report", "/nowhere/x.html"], 2, "/nowhere"),
        (["-t", "kind", "-o", "x.doc"], 2, "x.doc"),
        (["-t", "kind", "--export", "x.doc"], 2, "known are .tex, .md, .csv"),
        (["-t", "kind", "--model", "forest"], 1, "model must be one of"),
        (["-t", "kind", "--scoring", "roc_auc"], 1, "y has 3; use roc_auc_ovr"),
        (["-t", "kind", "--scoring", "auc"], 1, "scoring 'auc' is unknown"),
        (["-t", "kind", "--jobs", "0"], 2, "--jobs must be"),
        ([], 2, "--target is missing"),
    ],
)
def test_one_sentence_and_a_code(sparsieve, flowers, options, code, sentence):
    run = sparsieve("compare", flowers, *options)
    assert run.code == code
    assert sentence in run.err
    assert len(run.err.splitlines()) == 1


def test_an_interrupt_is_one_word(sparsieve, flowers, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sparsieve.scoring.engine.fit_selection", interrupted)
    run = sparsieve("compare", flowers, "-t", "kind", *METHODS, "-q")
    assert (run.code, run.err) == (130, "interrupted\n")


@pytest.mark.parametrize(
    ("command", "n_fits", "said"),
    [
        (("compare", *METHODS, "-k", "2"), 4, "1 of 3 methods was finished"),
        (("select", "-m", "fisher"), 8, "in fold 9 of 20: the number of features is chosen on the"),
    ],
)
def test_what_an_interrupt_leaves_is_printed(
    sparsieve, flowers, monkeypatch, command, n_fits, said
):
    from sparsieve.scoring import engine

    real, fits = engine.fit_selection, []

    def interrupted(*arguments, **options):
        fits.append(1)
        if len(fits) == n_fits + 1:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(engine, "fit_selection", interrupted)
    run = sparsieve(command[0], flowers, "-t", "kind", *command[1:])
    assert run.code == 130
    assert said in run.err
    assert run.err.splitlines()[-1] == "interrupted"
    assert run.out


def test_a_raw_table_is_made_ready_as_in_select(sparsieve, tmp_path):
    path = tmp_path / "churn.csv"
    rows = ["customer,age,city,since,churned"]
    for j in range(60):
        age = "" if j % 7 == 0 else 40 + j % 20
        city, since = ("Rome", "Oslo", "Bern")[j % 3], f"2024-01-{1 + j % 28:02d}"
        rows.append(f"c{j:02d},{age},{city},{since},{'yes' if j % 20 > 9 else 'no'}")
    path.write_text("\n".join(rows))
    compared = sparsieve("compare", path, "-t", "churned", *METHODS, "-k", "2")
    selected = sparsieve("select", path, "-t", "churned", "-k", "2", "-m", "fisher")
    assert compared.code == selected.code == 0
    told = [line for line in selected.err.splitlines() if line.startswith("note: ")]
    assert len(told) >= 4
    assert set(told[:4]) <= set(compared.err.splitlines())
