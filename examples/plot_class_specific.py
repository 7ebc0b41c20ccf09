"""Which feature belongs to which class? Exclusive l2,1 against plain l2,1 on data with known truth.

Every class has features of its own, shifted in that class and pure noise in all others. Both
models find the features; only the exclusive one says whose they are.

Run with ``python examples/class_exclusive.py``.
"""

import numpy as np

from sparsieve import ExclusiveL21Selector, L21Selector
from sparsieve.datasets import make_class_exclusive


def main() -> None:
    data = make_class_exclusive(
        n_samples=600, n_features=300, n_relevant_per_class=4, random_state=0
    )
    truth = np.zeros((4, 300), dtype=bool)
    for k, features in enumerate(data.relevant_per_class):
        truth[k, features] = True

    exclusive = ExclusiveL21Selector(alpha=120.0, beta=10_000.0).fit(data.X, data.y)
    shared = L21Selector(alpha=120.0).fit(data.X, data.y)

    print("features found (of 16):")
    for name, selector in (("exclusive l2,1", exclusive), ("l2,1", shared)):
        print(f"  {name:<15} {(selector.support_ & truth.any(axis=0)).sum()}")

    print("\n(feature, class) pairs: right / wrong")
    for name, pairs in (
        ("exclusive l2,1", exclusive.support_per_class_),
        ("l2,1", shared.coef_ != 0),
    ):
        print(f"  {name:<15} {(pairs & truth).sum()} / {(pairs & ~truth).sum()}")

    heat = exclusive.heatmap_
    print("\nheat map of the exclusive model (classes in rows, kept features in columns):")
    print("        " + "".join(f"{name:>6}" for name in heat.names))
    for label, row in zip(heat.classes, heat.values, strict=True):
        print(f"class {label} " + "".join(f"{v:>6.2f}" if v else "     ." for v in row * 1000))


if __name__ == "__main__":
    main()
