r"""
An hour with customers: who will leave?
=======================================

You have a table of customers as a database gives it: ids, dates, text, gaps, a few columns that
say the same, and 4 % of customers who left. You want to know which columns matter, how well they
predict, and the customers to call this week.

The same on the command line:

.. code-block:: console

   $ sparsieve diagnose customers.csv --target churned
   $ sparsieve select customers.csv --target churned --drop closed_on -k 3 \
       --scoring neg_log_loss --model churn.sparsieve
   $ sparsieve predict churn.sparsieve this_week.csv --id customer -o predictions.csv
   $ sparsieve predict churn.sparsieve this_week.csv --id customer --cost-of-missing 10 \
       --explain -o to_call.csv
"""

# %%
# The files
# ---------
# So that the script runs anywhere, it first writes the files that you would have.
import tempfile
from contextlib import chdir
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve.app.cli.app import run  # what the command runs

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
n_customers = 1000
since = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 2000, n_customers), "D")
calls = rng.poisson(2, n_customers)
contract = rng.choice(["monthly", "yearly", "two years"], n_customers, p=[0.5, 0.3, 0.2])
customers = pd.DataFrame(
    {
        "customer": [f"C{i:05d}" for i in rng.permutation(n_customers)],
        "joined": since.strftime("%Y-%m-%d"),
        "contract": contract,
        "city": rng.choice(["Berlin", "Bern", "Oslo", "Rome", ""], n_customers),
        "spend": rng.gamma(3, 20, n_customers).round(2),
        "support_calls": calls,
        "support_minutes": (6.5 * calls + rng.normal(0, 0.5, n_customers)).round(1),
        **{f"usage_{m}": rng.gamma(2, 10, n_customers).round(1) for m in ("may", "june", "july")},
    }
)
pull = 0.9 * calls + 1.6 * (contract == "monthly") - 0.06 * customers["usage_july"]
pull += rng.gumbel(size=n_customers)
left = pull > np.quantile(pull, 0.96)
customers.loc[rng.random(n_customers) < 0.08, "spend"] = np.nan
this_week, customers = customers.tail(200), customers.head(800)
customers = customers.assign(churned=np.where(left[:800], "yes", "no"))
# Somebody joined the date of the last invoice, which only those who left have.
customers["closed_on"] = np.where(customers["churned"] == "yes", "2024-08-31", "")
customers.to_csv(folder / "customers.csv", index=False)
this_week.to_csv(folder / "this_week.csv", index=False)

# %%
# Look first
# ----------
# A column that is known only after a customer has left would make any model look perfect.
table = pd.read_csv(folder / "customers.csv")
print(table["churned"].value_counts(normalize=True))
print(sparsieve.diagnose(table, "churned"))

# %%
# Which columns matter?
# ---------------------
# With 4 % of customers leaving, always predicting "no" scores 96 %: the area under the ROC
# curve says more than accuracy does. A logistic model gives probabilities.
selected = sparsieve.select(
    table.drop(columns="closed_on"),
    "churned",
    scoring="roc_auc",
    estimator=make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")),
)
print(selected)

# %%
# A figure
# --------
selected.plot("curve").figure_.savefig(folder / "curve.pdf")
plt.show()

# %%
# Whom to call
# ------------
sparsieve.save(selected, folder / "churn.sparsieve")
model = sparsieve.load(folder / "churn.sparsieve")
week = pd.read_csv(folder / "this_week.csv", index_col="customer")
leaves = list(model.classes_).index("yes")
week["risk"] = model.predict_proba(week)[:, leaves]
print(week.sort_values("risk", ascending=False)[["risk", "contract", "support_calls"]].head())

# %%
# The same on the command line
# ----------------------------
# A model that is judged by its probabilities (``--scoring neg_log_loss``) writes them too. To miss
# somebody who leaves costs as much as ten calls for nothing: that decides whom to call, and why.
for line in (
    "diagnose customers.csv --target churned",
    "select customers.csv --target churned --drop closed_on -k 3 --scoring neg_log_loss "
    "--model churn.sparsieve",
    "predict churn.sparsieve this_week.csv --id customer -o predictions.csv",
    "predict churn.sparsieve this_week.csv --id customer --cost-of-missing 10 --explain "
    "-o to_call.csv",
):
    print(f"$ sparsieve {line}")
    with chdir(folder):
        run(line.split())
print(pd.read_csv(folder / "predictions.csv").sort_values("probability of yes").tail(3))
