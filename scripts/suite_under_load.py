"""Run the tests on a machine that is busy or slow: they must pass there as well.

    python scripts/suite_under_load.py tests/solver/backends tests/solver/commands/test_cli_streams.py
    python scripts/suite_under_load.py --under slow

Each of the paths given (all tests, if none) is tested twice: beside two processes that only burn time, and
at a third of the processor's speed: the tests and all that they start run for a moment, stand still for two,
and so on. Exit code 1 when a test failed.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import psutil

RUN = 0.05
"""Seconds that slowed processes run before they stand still for twice as long."""


def main() -> None:
    """Test the paths under each load, and say what failed."""
    parser = argparse.ArgumentParser(description="Run the tests on a busy and on a slow machine.")
    parser.add_argument("paths", nargs="*", default=[], help="as for pytest; default: all tests")
    parser.add_argument("--under", choices=["busy", "slow"], help="only this load")
    parser.add_argument("--loops", type=int, default=2, help="processes that burn time; default: 2")
    parser.add_argument("--pytest", default="", metavar="OPTIONS", help="more options of pytest")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "pytest", "-q", *arguments.pytest.split(), *arguments.paths]
    codes = {}
    if arguments.under != "slow":
        with busy_loops(arguments.loops):
            codes[f"beside {arguments.loops} busy loops"] = subprocess.run(command, check=False).returncode
    if arguments.under != "busy":
        codes["at a third of the speed"] = slowly(command)
    for load, code in codes.items():
        print(f"{load}: {'passed' if code == 0 else f'FAILED, exit code {code}'}")
    sys.exit(any(codes.values()))


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Burn time in so many processes while the block runs."""
    loops = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(count)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def _burn() -> None:
    while True:
        pass


def slowly(command: Sequence[str]) -> int:
    """Stop a command and all that it started for two thirds of the time; its exit code."""
    process = psutil.Popen(command)
    while process.poll() is None:
        time.sleep(RUN)
        stopped = []
        for each in [process, *_started(process)]:
            with contextlib.suppress(psutil.Error):
                each.suspend()
                stopped.append(each)
        time.sleep(2 * RUN)
        for each in reversed(stopped):
            with contextlib.suppress(psutil.Error):
                each.resume()
    return int(process.returncode)


def _started(process: psutil.Popen) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return list(process.children(recursive=True))
    return []


if __name__ == "__main__":
    main()
