"""What can be wrong with a saved estimator, said in one sentence."""

from __future__ import annotations


class SavedFileError(ValueError):
    """Raised if a file is not a saved estimator, is damaged, or comes from another version.

    See Also
    --------
    sparsieve.load : Loads a saved estimator.
    sparsieve.save : Saves an estimator to a file that cannot run code.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sparsieve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "selector.zip"
    ...     written = path.write_text("no estimator")
    ...     try:
    ...         sparsieve.load(path)
    ...     except sparsieve.SavedFileError:
    ...         print("no saved estimator")
    no saved estimator
    """
