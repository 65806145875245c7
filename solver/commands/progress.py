"""A line on the terminal that shows the current attack and bound; nothing where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from solver.engines.base import EngineProgress, Reporter

_PHASES = {"attack": "looking for an attack", "build": "building the model", "solve": "proving"}


@contextmanager
def progress_line() -> Iterator[Reporter | None]:
    """Show progress on standard error while the block runs.

    Yields
    ------
    callable or None
        To hand to `fit`; None when standard error is no terminal.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("reading") as status:

        def report(progress: EngineProgress) -> None:
            what = _PHASES.get(progress.phase, progress.phase)
            status.update(
                f"{progress.seconds:6.1f} s  {what}: linked [bold]{progress.linked:g}[/bold], "
                f"at most [bold]{progress.bound:g}[/bold]  (Ctrl-C to stop with this)"
            )

        yield report
