"""What a data set is here: X, y and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch


class Dataset(Bunch):
    """A data set with feature and class names; entries are available as attributes or keys.

    Attributes
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        Features, as float64 (float32 if the source is float32).
    y : array of shape (n_samples,)
        Class labels 0, ..., c - 1, floats for regression, or a structured array of survival times.
    feature_names : array of shape (n_features,)
        Names of the columns of X; ``x0, x1, ...`` if the source has none.
    class_names : array of shape (c,) or None
        ``class_names[k]`` is the original name of label k; None for regression.
    name, description : str

    Synthetic data sets also contain the relevant features (``relevant`` and similar), and further
    arrays of an ``.npz`` file keep their names.

    See Also
    --------
    sparsieve.datasets.load_dataset : Loads a data set by name.
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.

    Examples
    --------
    >>> from sparsieve.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine
    <Dataset 'wine': 178 samples, 13 features, 3 classes>
    >>> X, y = wine.X, wine.y
    """

    def __init__(
        self,
        /,
        *,
        name: str,
        X: Any,
        y: Any,
        feature_names: Any = None,
        class_names: Any = None,
        description: str = "",
        **more: Any,
    ) -> None:
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(X.shape[1])]
        super().__init__(
            name=name,
            X=X,
            y=y,
            feature_names=np.asarray(feature_names, dtype=str),
            class_names=None if class_names is None else np.asarray(class_names, dtype=str),
            description=description,
            **more,
        )

    @property
    def target_names(self) -> np.ndarray | None:
        """Class names, under scikit-learn's name for them."""
        return self.class_names

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        target = "regression" if self.class_names is None else f"{len(self.class_names)} classes"
        if getattr(self.y.dtype, "names", None):
            target = f"survival times with {int(self.y['event'].sum())} events"
        return f"<Dataset {self.name!r}: {n_samples} samples, {n_features} features, {target}>"


def encode_labels(labels: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Labels 0..c-1 and their names for text or whole numbers, else a float target and None."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "US":
        names, codes = np.unique(labels.astype(str), return_inverse=True)
        return codes.astype(np.int64), names
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"the target must contain numbers or text, got dtype {labels.dtype}")
    if not np.isfinite(labels).all():
        raise ValueError("the target has missing or infinite values; drop those rows")
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        return labels.astype(np.float64), None
    values, codes = np.unique(labels.astype(np.int64), return_inverse=True)
    return codes.astype(np.int64), values.astype(str)


def as_features(X: Any) -> Any:
    """X as a two-dimensional float array (float32 is kept), CSR where it was sparse."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must contain real numbers, got dtype {X.dtype}")
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a non-empty 2D array, got shape {X.shape}")
    # MATLAB files of other machines may come in the other byte order, which astype turns
    single = X.dtype.kind == "f" and X.dtype.itemsize == 4
    return X.astype(np.float32 if single else np.float64, copy=False)
