"""How the benchmark of selectors on a GPU measures: rows of its table, readings of X, data."""

from __future__ import annotations

import time
from dataclasses import dataclass

COLUMNS = (
    ("what", "what"),
    ("CPU s", "cpu_s"),
    ("GPU s", "gpu_s"),
    ("CPU/GPU", "ratio"),
    ("readings of X", "readings"),
    ("floor s", "floor_s"),
    ("times the floor", "of_floor"),
    ("GFLOP", "gflop"),
    ("peak GB", "peak_gb"),
    ("agreement", "agreement"),
)


@dataclass
class Row:
    """One measurement; None where there is nothing to say."""

    what: str
    cpu_s: float | None = None
    gpu_s: float | None = None
    ratio: float | None = None
    readings: int | None = None
    floor_s: float | None = None
    of_floor: float | None = None
    gflop: float | None = None
    peak_gb: float | None = None
    agreement: str = ""


class Meter:
    """Counts how often, and with how many outputs, passes read X on the device."""

    def __init__(self):
        from sparsieve.scale.gpu import _forward as _forward_device
        from sparsieve.scale.gpu import _torch_passes as passes

        self.passes, self.readings, self.bytes, self.flops = passes, 0, 0, 0.0
        self.kept = {}
        self.recorder = _forward_device

    def __enter__(self):
        import torch

        for name in ("multiply_columns", "multiply_rows", "moments", "absolute_distances"):
            self.kept[name] = getattr(self.passes, name)
            setattr(self.passes, name, self._counting(name, self.kept[name]))
        self.recorded = self.recorder.recorded
        self.recorder.recorded = self._counting_replays
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self.start = time.perf_counter()
        return self

    def _counting(self, name, function):
        def counted(X, *others, **options):
            self.readings += 1
            # Moments of some rows alone read those: the fourth argument after X.
            share = len(others[3]) / len(X) if len(others) > 3 and others[3] is not None else 1.0
            self.bytes += int(share * X.nbytes)
            second = others[0] if others else None
            if name == "absolute_distances":
                self.flops += 3.0 * X.numel() * len(second)
            else:
                outputs = 1 if name == "moments" or second is None else second.shape[1]
                self.flops += 2.0 * X.numel() * outputs
            return function(X, *others, **options)

        return counted

    def _counting_replays(self, function):
        """What is recorded once and replayed reads X every time."""
        before = self._counts()
        replay = self.recorded(function)  # does it once and records it once
        each = [(after - b) / 2 for after, b in zip(self._counts(), before, strict=True)]
        self._add(each, -1)

        def counted():
            self._add(each, 1)
            replay()

        return counted

    def _counts(self):
        return self.readings, self.bytes, self.flops

    def _add(self, counts, times):
        self.readings += int(times * counts[0])
        self.bytes += int(times * counts[1])
        self.flops += times * counts[2]

    def __exit__(self, *_):
        import torch

        torch.cuda.synchronize()
        self.seconds = time.perf_counter() - self.start
        self.peak = torch.cuda.max_memory_allocated() / 1e9
        for name, function in self.kept.items():
            setattr(self.passes, name, function)
        self.recorder.recorded = self.recorded


def bandwidth() -> float:
    """Bytes per second of a copy on the device, read and written."""
    import torch

    X = torch.empty(1 << 29, device="cuda")
    times = []
    for _ in range(6):
        torch.cuda.synchronize()
        start = time.perf_counter()
        X.clone()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 2 * X.nbytes / min(times)


def on_gpu(selector, X, y, speed, repeats=2):
    """(fitted selector, row) of the best of some fits; the first one compiles."""
    from sklearn.base import clone

    best, fitted = None, None
    for _ in range(repeats):
        with Meter() as meter:
            fitted = clone(selector).fit(X, y)
        if best is None or meter.seconds < best.seconds:
            best = meter
    # What is read once as a whole is counted once; tiles of ReliefF are part of one reading.
    floor = best.bytes / speed
    row = Row(
        "",
        gpu_s=best.seconds,
        readings=best.readings,
        floor_s=floor,
        of_floor=best.seconds / floor if floor else None,
        gflop=best.flops / 1e9,
        peak_gb=best.peak,
    )
    return fitted, row


def agreement(ours, theirs) -> str:
    """Whether two fits chose the same features, or how far their objectives are apart."""
    if (ours.support_ == theirs.support_).all():
        words = "same features"
    else:
        words = f"{int((ours.support_ & theirs.support_).sum())} of {int(ours.support_.sum())}"
    a, b = getattr(ours, "objective_", None), getattr(theirs, "objective_", None)
    if a is not None and b is not None:
        words += f", objective {abs(a - b) / max(abs(b), 1e-300):.0e}"
    return words


def noisy_classes(n_samples, n_features, n_classes, *, device, seed=0):
    """Normal columns, of which the first 50 tell the classes apart."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    X = torch.empty((n_samples, n_features), device=device)
    step = max(1, (1 << 28) // n_features)
    for start in range(0, n_samples, step):
        X[start : start + step].normal_(generator=generator)
    y = torch.arange(n_samples, device=device) % n_classes
    shift = torch.randn((n_classes, 50), device=device, generator=generator)
    X[:, :50] += 0.5 * shift[y]
    return X, y.cpu().numpy()


def cell(value) -> str:
    """A number of three digits, text as it is."""
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def line(row: dict) -> str:
    """A row in Markdown."""
    return "| " + " | ".join(cell(row[key]) for _, key in COLUMNS) + " |"
