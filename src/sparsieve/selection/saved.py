"""What is left of a selection in a file: its table, its sentences and its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline

from .._saved import Savable
from ..registry import selector_name
from ..selectors.table import as_frame
from .model import like
from .predicting import Predicting

if TYPE_CHECKING:
    from .result import SelectedFeatures


@dataclass(frozen=True, repr=False, eq=False)
class SavedSelection(Predicting, Savable):
    """A selection without its training data, as :func:`~sparsieve.load` returns it.

    Attributes
    ----------
    model : Pipeline
        Kept columns, preparation and the model on them, fitted.
    columns : dict of str to ndarray
        One row for each kept feature, as in ``table``.
    features : list of str
        Names of the kept features, the best first.
    names : list of str
        Names of all features that the selection chose from.
    task : str
        "classification", "regression", "counts" or "survival".
    method : str
        The method that selected.
    held_out : dict or None
        What held-out samples said: metric, score, interval and so on.
    summary : str
        The selection in words.
    selector : selector or None
        The fitted selector; None where it is of a kind that a file cannot hold.
    library : str or None
        The library of the table.
    id_name : str
        The column of the training data that named the samples; empty where there was none.
    reading : dict or None
        Arguments of :func:`~sparsieve.app.io.read_table` that the training data were read with,
        where they came from a file: for new files, which are read alike.

    See Also
    --------
    sparsieve.save : Saves a selection.
    sparsieve.SelectedFeatures : What is saved.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "wine.sparsieve"
    ...     sparsieve.save(sparsieve.select(X, y, k=2), file)
    ...     again = sparsieve.load(file)
    >>> again.features
    ['proline', 'od280/od315_of_diluted_wines']
    >>> again.predict(X[["od280/od315_of_diluted_wines", "proline"]][:3])
    array([0, 0, 0])
    """

    _stands_alone: ClassVar[bool] = True  # in a file

    model: Pipeline
    columns: dict[str, Any]
    features: list[Any]
    names: list[str]
    task: str  # type: ignore[assignment]
    method: str
    held_out: dict[str, Any] | None
    summary: str
    selector: Any
    library: str | None
    id_name: str = ""
    reading: dict[str, Any] | None = None

    @property
    def table(self) -> Any:
        """One row per kept feature."""
        return as_frame(self.columns, self.library)

    def transform(self, X: Any) -> Any:
        """Reduce other data to the kept features, prepared as in training."""
        step = self.model[0]
        return like(step.transform(X), X, list(step.features))

    def __repr__(self) -> str:
        return self.summary


def saved_selection(selected: SelectedFeatures) -> SavedSelection:
    """What a file holds of a selection."""
    from ..persistence.files import can_save

    check = selected.check
    words = [str(name) for name in selected._all_names]
    columns = {
        name: np.asarray(values, dtype=object if np.asarray(values).dtype.kind == "O" else None)
        for name, values in selected.columns.items()
    }
    selector = selected.selector if can_save(selected.selector) else None
    return SavedSelection(
        selected.model,
        columns,
        [name.item() if isinstance(name, np.generic) else name for name in selected.features],
        words,
        selected.task,
        selector_name(selected.method),
        None if check is None else check.as_dict(),
        repr(selected),
        selector,
        getattr(selected.selector, "_frame_library", None),
        selected.inputs.id_name,
    )
