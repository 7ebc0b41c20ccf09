"""HDF5 files of others: what they hold themselves is read, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .errors import DataError, check_fits

# Those of the library, h5py's LZF, and bzip2, Blosc, LZ4, bitshuffle, Zstandard and Blosc2. HDF5
# looks for any other among the plugins that are installed, whatever they do.
_FILTERS = (*range(1, 7), 32000, 307, 32001, 32004, 32008, 32015, 32026)
_ANY = "which could be any file of this machine; copy the values into one file"


def check_self_contained(file: Any, owner: str) -> None:
    """Refuse an open HDF5 file that would have other files of this machine read in its place.

    A link, a virtual dataset and a dataset with external storage can each name any file, and a
    filter any plugin. A reference can lead to a dataset that no link leads to, and that is thus
    not looked at.
    """
    import h5py

    def refers_to_unlinked(item: Any) -> bool:
        attributes = (item.attrs.get_id(name) for name in item.attrs)
        kinds = [(found.name, h5py.check_ref_dtype(found.dtype)) for found in attributes]
        values = [np.ravel(item.attrs[name]) for name, kind in kinds if kind is not None]
        found = [one for value in values for one in value if isinstance(one, h5py.h5r.Reference)]
        return any(one and h5py.h5r.get_name(one, file.id) is None for one in found)

    def reason(name: str, link: Any) -> str | None:
        if isinstance(link, h5py.ExternalLink):
            return f"{name!r} is a link to another file, {_ANY}"
        item = file[name] if isinstance(link, h5py.HardLink) else None
        if item is not None and refers_to_unlinked(item):
            return f"{name!r} refers to a dataset without a name, {_ANY}"
        if not isinstance(item, h5py.Dataset):
            return None
        if item.external or item.is_virtual:
            return f"the values of {name!r} are in another file, {_ANY}"
        plan = item.id.get_create_plist()
        filters = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
        odd = [number for number in filters if number not in _FILTERS]
        return f"{name!r} is stored with the unknown filter {odd[0]}; use gzip" if odd else None

    found = reason("/", h5py.HardLink()) or file.visititems_links(reason)
    if found is not None:
        raise DataError(f"{owner} is not read: {found}, for example with h5repack")


def check_annotated(file: Any, owner: str) -> None:
    """Refuse attributes of an .h5ad file that no such file has: reading them can crash."""
    import h5py

    def check(name: str, item: Any) -> None:
        for attribute in item.attrs:
            found = item.attrs.get_id(attribute)
            if isinstance(found.get_type(), h5py.h5t.TypeVlenID):
                raise DataError(
                    f"{owner} is not read: the attribute {attribute!r} of {name!r} is a list of "
                    "any length, which no .h5ad file has; it is damaged"
                )

    check("/", file)
    file.visititems(check)


def check_declared(items: Iterable[Any], owner: str) -> None:
    """Refuse datasets and groups of an HDF5 file that would not fit into memory together."""
    import h5py

    def datasets(item: Any) -> Iterator[Any]:
        if isinstance(item, h5py.Dataset):
            yield item
        elif isinstance(item, h5py.Group):
            for name in item:
                yield from datasets(item[name])

    check_fits(sum(one.nbytes for item in items for one in datasets(item)), owner)
