"""Run every benchmark: ``python -m benchmarks [name ...]``."""

import importlib
import inspect
import pkgutil
import sys

import benchmarks


def _required(function):
    parameters = inspect.signature(function).parameters.values()
    return [one for one in parameters if one.default is one.empty and one.kind < one.VAR_POSITIONAL]


def main(names):
    sys.argv[1:] = []  # the scripts have options of their own
    found = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    for name in found:
        if name == "__main__" or (names and name not in names):
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        # Others only help, or ask for arguments of their own.
        if hasattr(module, "main") and not _required(module.main):
            print(f"\n== {name}: {(module.__doc__ or '').strip().splitlines()[0]}", flush=True)
            module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
