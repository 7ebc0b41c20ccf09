"""Run every benchmark: ``python -m benchmarks [name ...]``."""

import importlib
import pkgutil
import sys

import benchmarks


def main(names):
    sys.argv[1:] = []  # the scripts have options of their own
    found = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    for name in found:
        if name == "__main__" or (names and name not in names):
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "main"):  # others only help
            print(f"\n== {name}: {(module.__doc__ or '').strip().splitlines()[0]}", flush=True)
            module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
