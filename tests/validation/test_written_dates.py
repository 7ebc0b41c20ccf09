"""Dates as people write them."""

from datetime import date

import pandas as pd
import pytest

import sparsieve
from sparsieve.validation.written import order_of_dates, read_date, text_kind

DAY = (date(2020, 1, 31) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2020-01-31", DAY),
        ("2020/01/31", DAY),
        ("2020/1/31", DAY),
        ("31.01.2020", DAY),
        ("31.1.2020 6:00", DAY + 0.25),
        ("31/01/2020", DAY),
        ("31-01-2020", DAY),
        ("2020-01-31T12:00", DAY + 0.5),
        ("2020-01-31 12:00:00+12:00", DAY),
        ("31.02.2020", None),
        ("2020-01/31", None),
        ("31.01.20", None),
        ("1.5", None),
    ],
)
def test_days(text, days):
    assert read_date(text) == days


def test_one_value_decides_what_comes_first():
    assert read_date("01/31/2020", month_first=True) == DAY
    assert order_of_dates(["03/04/2020", "04/30/2020"]) == (True, "")
    assert order_of_dates(["03/04/2020", "30/04/2020"]) == (False, "")
    assert order_of_dates(["03/04/2020", "04/03/2020"]) == (False, "03/04/2020")
    assert order_of_dates(["04/04/2020", "03.04.2020"]) == (False, "")
    assert text_kind(["30/04/2020", "04/30/2020"]).kind == "category"  # both cannot be


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("%d.%m.%Y", "read 'day' as days since 1970"),
        ("%m/%d/%Y", "read 'day' as days since 1970"),
        ("%Y/%m/%dT%H:%M", "read 'day' as days since 1970"),
    ],
)
def test_dates_of_a_frame_are_read_the_same_way_in_new_rows(form, said):
    days = pd.Series(pd.date_range("2020-01-05", periods=40, freq="9D"))
    frame = pd.DataFrame({"day": days.dt.strftime(form), "other": range(40)})
    frame["other"] = frame["other"] % 7
    selected = sparsieve.select(frame, days > days[20], k=1, check=False)
    assert selected.features == ["day"]
    assert said in selected.notes
    alone = [selected.predict(frame.iloc[[i]])[0] for i in (0, 39)]  # 01/05/2020, which is no May
    assert alone == [False, True]


def test_dates_that_can_be_read_either_way_are_named():
    frame = pd.DataFrame({"day": ["03/04/2020", "05/06/2020", "05/04/2020"] * 4, "x": range(12)})
    selected = sparsieve.select(frame, [0, 1, 1] * 4, k=1, check=False)
    assert "the day before the month: 03/04/2020 is day 3 of month 4" in selected.notes[0]
