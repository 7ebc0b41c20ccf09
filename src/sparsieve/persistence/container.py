"""The file: a zip archive of a JSON document and plain .npy arrays, with a checksum at its end.

Members are stored as they are, so that none can be larger than the file; their names come from a
short list. The archive's comment is the SHA-256 of everything before it: it is compared before
anything else is looked at.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from typing import Any

import numpy as np

from .errors import SavedFileError
from .pools import NUMBER_TYPES

DOCUMENT = "selector.json"
MAX_DOCUMENT_BYTES = 16 << 20  # JSON takes many times its length in memory
_CHECKSUM = 64  # hexadecimal digits
_MAX_ENTRY_BYTES = 128  # of one member in the list of all, its name included
_DATE = (1980, 1, 1, 0, 0, 0)  # the same estimator gives the same bytes


def packed(document: dict[str, Any], pools: dict[str, np.ndarray]) -> bytes:
    """The bytes of a file."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > MAX_DOCUMENT_BYTES:
        raise TypeError(
            f"the estimator has too many parts to be saved ({len(text):,} bytes of JSON, at most "
            f"{MAX_DOCUMENT_BYTES:,}); save the selectors inside one by one"
        )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(DOCUMENT, _DATE), text)
        for kind, pool in sorted(pools.items()):
            with archive.open(zipfile.ZipInfo(f"{kind}.npy", _DATE), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, pool, version=(1, 0), allow_pickle=False)
        archive.comment = b"0" * _CHECKSUM
    whole = stream.getbuffer()[:-_CHECKSUM]
    return bytes(whole) + hashlib.sha256(whole).hexdigest().encode("ascii")


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(document, arrays) of the bytes of a file."""
    if not data.startswith(b"PK\x03\x04") or len(data) < _CHECKSUM:
        raise SavedFileError("it was not written by sparsieve.save")
    whole = memoryview(data)[:-_CHECKSUM]
    if hashlib.sha256(whole).hexdigest().encode("ascii") != data[-_CHECKSUM:]:
        raise SavedFileError(
            "its checksum is wrong: it is incomplete, damaged or a different kind of file"
        )
    members = _members(data)
    if DOCUMENT not in members or len(members[DOCUMENT]) > MAX_DOCUMENT_BYTES:
        raise SavedFileError(f"its {DOCUMENT} is missing or too large")
    document = json.loads(members.pop(DOCUMENT))
    if not isinstance(document, dict):
        raise SavedFileError(f"its {DOCUMENT} does not describe an estimator")
    return document, {name[:-4]: _plain_array(name, member) for name, member in members.items()}


def _members(data: bytes) -> dict[str, bytes]:
    known = {DOCUMENT, *(f"{kind}.npy" for kind in NUMBER_TYPES)}
    # Looked at before the archive is read: its list of members could fill the memory.
    if _length_of_list(data) > _MAX_ENTRY_BYTES * len(known):
        raise SavedFileError("it has unexpected members")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        if not set(names) <= known or len(set(names)) < len(names):
            raise SavedFileError("it has unexpected members")
        for info in infos:
            is_plain = info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1
            if not is_plain or info.file_size != info.compress_size:
                raise SavedFileError("its members are compressed or encrypted")
        if sum(info.file_size for info in infos) > len(data):
            raise SavedFileError("its members are larger than the file")
        return {info.filename: archive.read(info) for info in infos}


def _length_of_list(data: bytes) -> int:
    """Bytes of the archive's list of members: Python's reader takes all, whatever their number."""
    end = len(data) - _CHECKSUM - 22
    if data[end : end + 4] != b"PK\x05\x06":
        raise SavedFileError("it has extra data at its end")
    if data[end - 20 : end - 16] == b"PK\x06\x07":  # more than four gigabytes
        return int(struct.unpack_from("<Q", data, end - 36)[0])
    return int(struct.unpack_from("<I", data, end + 12)[0])


def _plain_array(name: str, member: bytes) -> np.ndarray:
    """The numbers of a .npy file, whose header must say what its length says."""
    stream = io.BytesIO(member)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise SavedFileError(f"its {name} has an unknown version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    wanted = NUMBER_TYPES[name[:-4]]
    rest = memoryview(member)[stream.tell() :]
    if dtype != wanted or len(shape) != 1 or shape[0] * wanted.itemsize != len(rest):
        raise SavedFileError(f"its {name} does not contain the type of array that its name says")
    return np.frombuffer(rest, dtype=wanted).astype(wanted.newbyteorder("="))
