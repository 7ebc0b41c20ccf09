"""How many features are enough, and which of them are stable?

Run it with ``python examples/how_many_features.py [curve.svg]``; with a file name it also draws
the curve (needs Matplotlib).
"""

import sys

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import (
    AccuracyCurveDisplay,
    EnsembleSelector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
)

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

# 1. Score every number of features by cross-validation: one selection per fold serves them all.
model = make_pipeline(StandardScaler(), LogisticRegression())
search = SelectorCV(RidgeForwardSelector(), estimator=model, rule="one_se").fit(X, y)
print("features  accuracy")
for k, mean, std in zip(
    search.cv_results_["param_k"],
    search.cv_results_["mean_test_score"],
    search.cv_results_["std_test_score"],
    strict=True,
):
    print(f"{k:8d}  {mean:.3f} +- {std:.3f}")
print("each rule would keep:", search.k_by_rule_)
print("kept:", ", ".join(search.get_feature_names_out()))

# 2. Which features come up again and again on halves of the samples?
stable = StabilitySelection(RidgeForwardSelector(), expected_false_positives=1.0).fit(X, y)
print(
    f"\nkept by {stable.threshold_:.0%} of {stable.n_subsamples} runs with "
    f"{stable.n_features_per_run_} features each (at most {stable.error_bound_:.2f} by mistake, "
    "on average):"
)
for name in stable.get_feature_names_out():
    probability = stable.selection_probabilities_[X.columns.get_loc(name)]
    print(f"  {name}: {probability:.2f}")

# 3. What do several methods agree on?
together = EnsembleSelector(n_features_to_select=5, aggregation="rra").fit(X, y)
print("\nfive features that two methods agree on:", ", ".join(together.get_feature_names_out()))

if len(sys.argv) > 1:
    AccuracyCurveDisplay.from_estimator(search).figure_.savefig(sys.argv[1])
