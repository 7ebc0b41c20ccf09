"""Do the Triton kernels pay? The same fits on a GPU with them and with plain torch.

    PYTHONPATH=src python -m benchmarks.gpu_triton

Median seconds of three fits after one that compiles, float32 and float16, in one process.
"""

from __future__ import annotations

import time
import warnings


def fits():
    """(name, selector) of fits whose passes the kernels serve."""
    from sparsieve import (
        FisherSelector,
        L21Selector,
        MRMRSelector,
        ReliefFSelector,
        RidgeForwardSelector,
    )

    yield "ridge forward, 20", RidgeForwardSelector(20)
    yield "ridge forward, 20, clipped", RidgeForwardSelector(20, clip=3.0)
    yield "l2,1, 20", L21Selector(20)
    yield "Fisher, 20", FisherSelector(20)
    yield "mRMR, 20", MRMRSelector(20)
    yield "ReliefF, 20 (10,000 features)", ReliefFSelector(20, random_state=0)


def main() -> None:
    """Print one line per fit, type and shape."""
    import torch

    from sparsieve.design.gpu import _torch_passes as passes

    print("| fit | X | type | Triton s | torch s | ratio |\n|---|---|---|---|---|---|")
    kernels = passes._kernels
    for shape in ((2_000, 200_000), (200_000, 20_000), (1_000_000, 500)):
        for dtype in (torch.float32, torch.float16):
            generator = torch.Generator("cuda").manual_seed(0)
            X = torch.randn(shape, device="cuda", generator=generator).to(dtype)
            y = (X[:, :5].float().sum(dim=1) > 0).long()
            for name, selector in fits():
                if "ReliefF" in name:
                    Z, z = X[:10_000, :10_000].contiguous(), y[:10_000]
                    if shape[1] < 10_000:
                        continue
                else:
                    Z, z = X, y
                try:
                    medians = []
                    for one in (kernels, lambda: None):
                        passes._kernels = one
                        times = []
                        for _ in range(4):
                            torch.cuda.synchronize()
                            start = time.perf_counter()
                            with warnings.catch_warnings():
                                warnings.simplefilter("ignore")
                                selector.fit(Z, z)
                            torch.cuda.synchronize()
                            times.append(time.perf_counter() - start)
                        medians.append(sorted(times[1:])[1])
                    ours, plain = medians
                    line = f"{ours:.4f} | {plain:.4f} | {plain / ours:.2f}"
                except Exception as error:
                    line = f"{type(error).__name__}: {str(error)[:80]} | |"
                kind = str(dtype).removeprefix("torch.")
                print(f"| {name} | {tuple(Z.shape)} | {kind} | {line} |", flush=True)
    passes._kernels = kernels


if __name__ == "__main__":
    main()
