"""
Groups: whole categories of a data frame, gaps included
=======================================================

A text column becomes several columns of zeros and ones. Selecting some of them ("city=Oslo", but
not "city=Rome") is rarely what is wanted: ``feature_groups="categories"`` keeps or leaves out the
whole column of the data frame. A column with gaps and the column that marks its gaps belong
together too, so that a gap can be chosen as information. The data are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparsieve

rng = np.random.default_rng(0)
n = 400
table = pd.DataFrame(
    {
        "city": rng.choice(["Bern", "Oslo", "Paris", "Rome", "Wien"], n),
        "job": rng.choice(["nurse", "teacher", "driver", "cook"], n),
        "sex": rng.choice(["female", "male"], n),
        "age": rng.normal(45, 12, n).round(),
        "income": rng.lognormal(3, 0.4, n),
        "pulse": rng.normal(70, 8, n),
    }
)
hidden = rng.random(n) < 0.25  # who does not say what they earn differs from the others
table["wellbeing"] = (
    table["city"].isin(["Oslo", "Bern"]) * 1.0
    - 0.8 * hidden
    + 0.03 * (table["age"] - 45)
    + rng.normal(0, 0.6, n)
)
table.loc[hidden, "income"] = np.nan
table.loc[rng.random(n) < 0.05, "job"] = None
print(table.head())

# %%
# One line reads text, fills gaps inside the folds, and chooses the number of groups:
selected = sparsieve.select(table, "wellbeing", feature_groups="categories")
print(selected)
print(selected.table[["rank", "group", "feature", "coefficient"]].to_string(index=False))

# %%
# The city, the income (for its gaps, as the coefficients show) and the age matter. New tables are
# read in the same way:
print(selected.transform(table.drop(columns="wellbeing").head(3)))

# %%
selected.plot("ranking")
plt.show()
