"""Running a measurement in a fresh process, with its peak memory by the system's own account."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import NamedTuple

from bench.figures import Figures, megabytes
from bench.root import ROOT


class Sample(NamedTuple):
    """What one fresh process gave: the figures it returned, and its peak resident memory in MB."""

    figures: Figures
    peak_mb: float


class ChildFailedError(Exception):
    """Raised when a fresh process did not end well. Attributes: `command`, `status`, `stderr`."""

    def __init__(self, command: list[str], status: int, stderr: str) -> None:
        last = stderr.strip().rpartition("\n")[2]
        super().__init__(f"{command[3]} ended with status {status}: {last}")
        self.command = command
        self.status = status
        self.stderr = stderr


def run_fresh(measure: str, **params: object) -> Sample:
    """Call `MODULE:FUNCTION` with the parameters in a fresh process of this interpreter.

    By name, so that this process need not import it. Raises `ChildFailedError`.
    """
    output, peak_mb = run_command([sys.executable, "-m", "bench.child", measure, json.dumps(params)])
    return Sample(json.loads(output), peak_mb)


def run_command(command: list[str]) -> tuple[bytes, float]:
    """The standard output and the peak memory in MB of a command, run at the root. Raises `ChildFailedError`.

    The cache directory of its user is empty: nothing was found out about any session by an earlier process.
    Linux counts the memory of the process that forks into `ru_maxrss` of what it forks. So the caller has to
    stay small: it imports no library, and what builds or reads a session happens in such processes.
    """
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory(prefix="sessiontree-bench-") as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, env=environment)
        assert process.stdout is not None
        with process.stdout as pipe:
            output = pipe.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise ChildFailedError(command, process.returncode, errors.read().decode(errors="replace"))
    return output, megabytes(usage.ru_maxrss)
