"""Parquet, HDF5 and Zarr files: what they hold themselves is read, and nothing else."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..._imports import require
from .errors import DataError, check_fits, explain_failure, text_columns_error
from .labels import MAX_CHARACTERS, Column, convert_values, not_a_column, not_utf8
from .roles import Roles, column_places, make_column, what
from .rows import Contents


def read_parquet(path: Path, roles: Roles) -> Contents:
    """Read a Parquet file; see ``read_table``."""
    arrow = require("pyarrow", extra="data", purpose="read Parquet files")
    parquet = require("pyarrow.parquet", extra="data", purpose="read Parquet files")
    # A text that is the same in every row takes next to nothing in the file: it is read once.
    texts = list(roles.columns_by_role.values()) or None
    with (
        explain_failure(f"{path.name} is not a readable Parquet file"),
        parquet.ParquetFile(path, read_dictionary=texts) as file,  # quicker than read_table
    ):
        # Every access to these builds them anew, which tens of thousands of columns would feel.
        meta, schema = file.metadata, file.schema_arrow
        all_names = schema.names
        # The names pandas gives to a data frame's index when it writes one.
        index = [name for name in all_names if name.startswith("__index_level_")]
        first = all_names.index(index[0]) if index else 0
        places = column_places(roles, all_names, path.name, index, first=first)
        features = places.features
        if meta.num_rows == 0:
            raise DataError(f"{path.name} has columns but no rows")
        # Nothing is read but numbers and the target, and only if they fit.
        kinds = [schema.field(j).type for j in features]
        text = [
            all_names[j]
            for j, kind in zip(features, kinds, strict=True)
            if not _is_numeric(arrow.types, kind)
        ]
        encoded = [j for j in features if all_names[j] in set(text)] if text else []
        if text and not roles.encode_text:
            first_name = "" if "sample_id" in places.columns else all_names[0]
            raise text_columns_error(text, path.name, first=first_name)
        wanted = [all_names[j] for j in (*features, *places.of_samples)]
        said = {j: what(role, all_names[j]) for role, j in places.columns.items()}
        said |= {j: f"text column {all_names[j]!r}" for j in encoded}
        for j, named in said.items():
            if arrow.types.is_nested(schema.field(j).type):
                raise not_a_column(named, path.name)
        check_fits(8 * meta.num_rows * len(wanted), path.name)
        rows = file.read(columns=None if len(wanted) == len(all_names) else wanted)
    is_id = places.columns.get("sample_id") == first
    notes = ("the index of the data frame was left out",) * bool(index and not is_id)
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    numeric = [(j, kind) for j, kind in zip(features, kinds, strict=True) if j not in encoded]
    narrow = all(kind in (arrow.float32(), arrow.float16()) for _, kind in numeric)
    X = np.empty((rows.num_rows, len(numeric)), dtype=np.float32 if narrow else np.float64)
    for k, (j, kind) in enumerate(numeric):
        column = columns[all_names[j]]
        if arrow.types.is_boolean(kind):
            column = column.cast(arrow.int8())
        elif arrow.types.is_decimal(kind):
            column = column.cast(arrow.float64())
        X[:, k] = column.to_numpy()
    values = {j: arrow_values(columns[all_names[j]], n, path.name) for j, n in said.items()}
    return Contents(
        path.name,
        X,
        tuple(all_names[j] for j in features),
        {r: make_column(r, all_names[j], values[j]) for r, j in places.columns.items()},
        {
            k: Column(all_names[j], said[j], values[j])
            for k, j in enumerate(features)
            if j in encoded
        },
        notes,
    )


def _is_numeric(types: Any, kind: Any) -> bool:
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(kind) for is_kind in (*numeric, types.is_null))


def arrow_values(column: Any, named: str, owner: str) -> Any:
    """The values of an Arrow column about the samples, or of one of text."""
    try:
        return convert_values(plain_values(column), named, owner)
    except UnicodeDecodeError:
        raise not_utf8(named, owner) from None


def plain_values(column: Any) -> Any:
    """An Arrow column as an array, or as a list where values are missing.

    Python's own objects would take many times the memory of as many labels.
    """
    from pyarrow import types

    kind = column.type
    is_coded = types.is_dictionary(kind)
    held = kind.value_type if is_coded else kind
    if any(is_kind(held) for is_kind in (types.is_string, types.is_large_string)):
        coded = column.unify_dictionaries() if is_coded else column.dictionary_encode()
        coded = coded.combine_chunks()
        texts = coded.dictionary.to_pylist()
        short = max(map(len, texts), default=MAX_CHARACTERS) < MAX_CHARACTERS
        if short and not coded.null_count:
            return np.array(texts)[coded.indices.to_numpy()]
        return [None if i is None else texts[i] for i in coded.indices.to_pylist()]
    is_plain = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
    return column.to_numpy() if is_plain and not column.null_count else column.to_pylist()


# Those of the library, h5py's LZF, and bzip2, Blosc, LZ4, bitshuffle, Zstandard and Blosc2. HDF5
# looks for any other among the plugins that are installed, whatever they do.
_FILTERS = (*range(1, 7), 32000, 307, 32001, 32004, 32008, 32015, 32026)
_ANY = "which could be any file of this machine; copy the values into one file"


def refuse_external_files(file: Any, owner: str) -> None:
    """Refuse an open HDF5 file that would have other files of this machine read in its place.

    A link, a virtual dataset and a dataset with external storage can each name any file, and a
    filter any plugin. A reference can lead to a dataset that no link leads to, and that is thus
    not looked at.
    """
    import h5py

    def has_foreign_reference(item: Any) -> bool:
        attributes = (item.attrs.get_id(name) for name in item.attrs)
        kinds = [(found.name, h5py.check_ref_dtype(found.dtype)) for found in attributes]
        values = [np.ravel(item.attrs[name]) for name, kind in kinds if kind is not None]
        found = [one for value in values for one in value if isinstance(one, h5py.h5r.Reference)]
        return any(one and h5py.h5r.get_name(one, file.id) is None for one in found)

    def reason(name: str, link: Any) -> str | None:
        if isinstance(link, h5py.ExternalLink):
            return f"{name!r} is a link to another file, {_ANY}"
        item = file[name] if isinstance(link, h5py.HardLink) else None
        if item is not None and has_foreign_reference(item):
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


def check_attributes(file: Any, owner: str) -> None:
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


def check_sizes(items: Iterable[Any], owner: str) -> None:
    """Refuse datasets and groups of an HDF5 file that would not fit into memory together."""
    import h5py

    def datasets(item: Any) -> Iterator[Any]:
        if isinstance(item, h5py.Dataset):
            yield item
        elif isinstance(item, h5py.Group):
            for name in item:
                yield from datasets(item[name])

    check_fits(sum(one.nbytes for item in items for one in datasets(item)), owner)


_METADATA = (".zarray", "zarr.json")  # of versions 2 and 3 of the format
_MAX_BYTES = 1 << 20  # of such a file
# Of version 2; in what way text of any length ("O") is stored a codec below must say.
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|[SU]\d+|O)")
_TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "string", "fixed_length_utf32", "null_terminated_bytes",
    "variable_length_bytes",
)  # fmt: skip
# They compress, check, order or split bytes, or spell text. Codecs that make Python objects are
# left out, and so are those that other packages have added under names of their own.
_CODECS = (
    "adler32", "blosc", "bytes", "bz2", "crc32", "crc32c", "endian", "fletcher32", "gzip", "lz4",
    "lzma", "sharding_indexed", "shuffle", "transpose", "vlen-bytes", "vlen-utf8", "zlib", "zstd",
)  # fmt: skip


class ZarrArrays(Mapping[str, Any]):
    """The arrays in a folder by name, each checked before it is opened.

    The metadata of an array name what its chunks are decoded by, and pickle is one of the choices.
    They are looked at here before Zarr sees them, and every array is opened by itself, so that what
    its group says of it plays no part.
    """

    def __init__(self, folder: Path):
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        inside = Path(str(name))
        if inside.is_absolute() or ".." in inside.parts:
            return False
        return any((self._folder / inside / file).exists() for file in _METADATA)

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in sorted(self._folder.iterdir()) if path.name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> Any:
        import zarr

        folder, owner = self._folder / name, f"array {name!r} of {self._folder.name}"
        above = [folder, *folder.parents][: len(Path(name).parts)]
        link = next((p for p in above if p.is_symlink()), None) or next(_links(folder), None)
        if link is not None:
            raise DataError(
                f"{owner} is not read: {link.name!r} is a link to another file, which could be any "
                "file of this machine; copy the values into the folder"
            )
        for file in _METADATA:
            if (folder / file).exists():
                _check(folder / file, owner)
        # A path and not its text: "::" in a text would name a file system of another kind.
        return zarr.open_array(folder, mode="r")


def _links(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path)
            elif entry.is_dir():
                yield from _links(Path(entry.path))


def _check(path: Path, owner: str) -> None:
    """Refuse an array whose values are not numbers or text, or stored in an unknown way."""
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise DataError(f"{owner} is not read: its metadata take more than {_MAX_BYTES} bytes")
    found = json.loads(content)
    if path.name == ".zarray":
        dtype, codecs = found["dtype"], [*(found.get("filters") or ()), found.get("compressor")]
        known = isinstance(dtype, str) and _DTYPE.fullmatch(dtype) is not None
        names = [codec["id"] for codec in codecs if codec is not None]
    else:
        dtype = _name(found["data_type"])
        known = dtype in _TYPES
        names = list(_names(found["codecs"]))
        if found.get("storage_transformers"):
            raise DataError(f"{owner} is not read: it has storage transformers")
    if not known:
        raise DataError(
            f"{owner} is not read: its data type {str(dtype)[:60]!r} is neither numbers nor text"
        )
    for name in names:
        if str(name).removeprefix("numcodecs.") not in _CODECS:
            raise DataError(
                f"{owner} is not read: it is stored with the codec {str(name)[:60]!r}, which may "
                f"run code or is not known; save it with one of {', '.join(_CODECS)}"
            )


def _name(part: Any) -> Any:
    """What an extension of version 3 is called: some have settings, some only a name."""
    return part["name"] if isinstance(part, dict) else part


def _names(codecs: Iterable[Any]) -> Iterator[Any]:
    """Of codecs and of those within them: shards have some for their parts and their index."""
    for codec in codecs:
        yield _name(codec)
        settings = codec.get("configuration") or {} if isinstance(codec, dict) else {}
        for key in ("codecs", "index_codecs"):
            yield from _names(settings.get(key, ()))
