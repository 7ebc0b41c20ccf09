"""A Dask cluster of real processes for tests: they can be killed, and stay dead."""

import os
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from sparsieve import FStatisticSelector

SOURCE = str(Path(__file__).resolve().parents[1] / "src")


class Processes:
    """A scheduler and its workers; nobody restarts them."""

    def __init__(self, n_workers, memory="400MB"):
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "scheduler.json"
        self.scheduler = self._start("dask_scheduler", "--scheduler-file", file, "--port", "0")
        deadline = time.monotonic() + 600
        while not file.exists() or not file.stat().st_size:
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.1)
        self.file, self.memory, self.workers = file, memory, []
        self.add(n_workers)

    def add(self, count):
        """Start more workers."""
        limits = ("--nthreads", "1", "--no-nanny", "--memory-limit", self.memory)
        limits += ("--death-timeout", "300")  # where a run of the tests was killed
        for _ in range(count):
            given = ("--scheduler-file", self.file, *limits, "--local-directory", self.folder.name)
            self.workers.append(self._start("dask_worker", *given))

    def _start(self, module, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard"]
        paths = [SOURCE, str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        environment["MALLOC_TRIM_THRESHOLD_"] = "65536"  # as Dask's nannies set it
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*command, *map(str, arguments)], env=environment, **quiet)

    def kill(self, process):
        """As the kernel does when memory runs out."""
        process.kill()
        process.wait()

    def close(self):
        """Kill what is left."""
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                self.kill(process)
        self.folder.cleanup()


@dataclass(eq=False, repr=False, kw_only=True)
class SlowFStatistic(FStatisticSelector):
    """Takes its time, and leaves a file behind when it begins."""

    folder: str = ""

    def _fit(self, data):
        Path(self.folder, uuid.uuid4().hex).touch()
        time.sleep(0.3)
        return super()._fit(data)
