"""What can be wrong with a saved estimator, said in one sentence."""

from __future__ import annotations


class SavedFileError(ValueError):
    """A file is no saved estimator, is damaged, or comes from another version.

    See Also
    --------
    sparsieve.load : Reads what ``save`` wrote.
    sparsieve.save : Writes a fitted estimator to a file that cannot run code.

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
