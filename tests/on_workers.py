"""What tests have workers of a cluster do.

A function is imported where it runs: this file must need next to nothing, since what the workers
load counts against their memory limit (selectors, pandas and scikit-learn take 130 MB).
"""

import os
import time
from collections import Counter

import numpy as np


def made_chunk(block_info=None):
    """Rows that nobody holds."""
    start, stop = block_info[None]["array-location"][0]
    return np.random.default_rng(start).random((stop - start, 100))


def deadly(block):
    os._exit(1)


def failing(block):
    raise OSError("no such file")


def waiting(block):
    time.sleep(0.5)
    return block


def who_works(seconds, block):
    """The process that does this, counted."""
    time.sleep(seconds)
    return Counter([os.getpid()])


def sent(dask_worker):
    """To whom a worker sent how many bytes."""
    return [(entry["who"], entry["total"]) for entry in dask_worker.transfer_outgoing_log]


def set_pause(fraction, dask_worker):
    """From which share of its memory limit on a worker begins nothing."""
    dask_worker.memory_manager.memory_pause_fraction = fraction


def peak_memory():
    """Bytes that this process ever took, libraries included; 0 where the system does not say."""
    if not os.path.exists("/proc/self/status"):
        return 0
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
