"""
Survival: from a table to a Kaplan-Meier figure
===============================================

A table has 50 features of 120 patients, the months until they died or were last seen, and which
of the two it was. Four features act on the risk. ``select`` finds features with a Cox model; the
survival curves are those of patients that were held out.
"""

import matplotlib.pyplot as plt
import pandas as pd

import sparsieve
from sparsieve.datasets.synthetic.targets import make_survival
from sparsieve.scoring import concordance_index

data = make_survival(120, 50, n_relevant=4, signal=0.8, censored=0.4, random_state=3)
table = pd.DataFrame(data.X, columns=[f"gene {j}" for j in range(50)])
table["months"], table["died"] = 20 * data.y["time"], data.y["event"]

selected = sparsieve.select(table, ("months", "died"), k=4, permutations=19)
print(selected)
print("acting on the risk:", ", ".join(f"gene {j}" for j in data.relevant))

# %%
# The curves of three groups of predicted risk. Every patient was assigned to one by a model and by
# features that were found without that patient; the p-value comes from repeating all of that on
# shuffled survival times.
selected.plot("survival")
plt.show()

# %%
# The Cox model on the selected features predicts the risk of new patients, and the probability that
# they are still alive after some time.
new = pd.DataFrame(make_survival(3, 50, random_state=0).X, columns=table.columns[:50])
print("risk (logarithm of the hazard ratio):", selected.selector.predict(new).round(2))
print("alive after 10 and 20 months:")
print(selected.selector.predict_survival(new, times=[10.0, 20.0]).round(2))

# %%
# On the training patients the same model looks better than it is: compare this with the concordance
# of held-out patients above.
training = concordance_index(selected.y, selected.selector.predict(selected.X))
print(f"concordance of the patients that it was fitted on: {training:.2f}")
