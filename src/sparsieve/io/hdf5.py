"""HDF5 files of others: what they hold themselves is read, and nothing else."""

from __future__ import annotations

from typing import Any

from .errors import DataError


def check_self_contained(file: Any, owner: str) -> None:
    """Refuse an open HDF5 file that would have other files of this machine read in its place.

    A link, a virtual dataset and a dataset with external storage can each name any file.
    """
    import h5py

    def elsewhere(name: str, link: Any) -> str | None:
        if isinstance(link, h5py.ExternalLink):
            return f"{name!r} is a link to another file"
        if isinstance(link, h5py.HardLink):
            item = file[name]
            if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
                return f"the values of {name!r} are in another file"
        return None

    found = file.visititems_links(elsewhere)
    if found is not None:
        raise DataError(
            f"{owner} is not read: {found}, which could be any file of this machine; copy the "
            "values into one file, for example with h5repack"
        )
