"""Read a .mat file in a process of its own: the reader can crash on files made to do so.

Run as a script with a JSON object of arguments; writes a file for every array and prints
what it found.
"""

import json
import sys
from contextlib import suppress
from typing import Any


def main() -> None:
    """Read, convert and store the wanted arrays."""
    asked = json.loads(sys.argv[1])
    _limit(asked["memory"], asked["seconds"])
    import numpy as np
    from scipy import sparse
    from scipy.io import loadmat, whosmat

    try:
        names = [name for name, _, _ in whosmat(asked["file"]) if not name.startswith("__")]
        wanted = [name for name in asked["wanted"] if name in names]
        contents = loadmat(asked["file"], variable_names=wanted) if wanted else {}
    except NotImplementedError:
        _leave(
            {"error": "it is in MATLAB's version 7.3 (HDF5) format; save it again with option -v7"}
        )
    except MemoryError:
        _leave({"error": "it needs more memory than there is"})
    except Exception as error:  # whatever a damaged file makes of the reader
        _leave({"error": " ".join(str(error).split()) or type(error).__name__})
    for number, name in enumerate(asked["wanted"]):
        values, output = contents.get(name), f"{asked['folder']}/{number}"
        if sparse.issparse(values):
            sparse.save_npz(f"{output}.npz", sparse.csc_array(values), compressed=False)
        elif values is not None:
            np.save(f"{output}.npy", _plain(values))
    _leave({"names": names})


def _plain(values: Any) -> Any:
    """MATLAB's cell arrays of text as arrays of text."""
    import numpy as np

    if values.dtype.kind == "O":
        return np.array([str(cell[0]) if np.size(cell) else "" for cell in values.ravel()])
    return values if values.dtype.kind != "V" else np.empty((0, 0))  # a struct is no table


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # where there are no such limits the parent's clock has to do
        return
    for kind, amount in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        soft, hard = resource.getrlimit(kind)
        most = [value for value in (amount, soft, hard) if value != resource.RLIM_INFINITY]
        with suppress(ValueError, OSError):  # macOS takes no limit below what is mapped already
            resource.setrlimit(kind, (min(most), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _leave(answer: dict[str, Any]) -> None:
    print(json.dumps(answer))
    sys.exit(0)


if __name__ == "__main__":
    main()
