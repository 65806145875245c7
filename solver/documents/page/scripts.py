"""Scripts of a page, Vega-Lite's bundle and our own, and the policy that lets only these run."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.datasets.public.sources import cache_folder

_HERE = Path(__file__).parent / "scripts"
# In the order in which they are put together.
OWN = ("format.js", "grid.js", "charts.js", "records.js", "cells.js", "choice.js", "copy.js", "start.js")
_ENTRY = "window.vegaEmbed = vegaEmbed;"
_MAKING = f"import vl_convert; print(vl_convert.javascript_bundle({_ENTRY!r}))"


@cache
def bundled() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script of 0.9 MB.

    To bundle them takes 1.4 s, and up to 6 s when the machine is busy; so the script is kept in the cache
    folder, under the version of the package that it comes from.
    """
    kept = _place()
    script = _read(kept)
    if script is None:
        script = (_from_child() or _bundle()).replace("</script", "<\\/script")
        _keep(kept, script)
    return script


@contextlib.contextmanager
def bundling() -> Iterator[None]:
    """Have `bundled` ready sooner: unless a copy is kept, a process of its own bundles while the body runs.

    A thread would not do: bundling holds the interpreter all the time.
    """
    if _place().exists():
        yield
        return
    with subprocess.Popen(
        [sys.executable, "-c", _MAKING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        _children.append(child)
        try:
            yield
        finally:
            _children.remove(child)
            child.kill()


_children: list[subprocess.Popen[bytes]] = []


def _from_child() -> str:
    """What the process of `bundling` has made; empty where there is none, or it failed."""
    if not _children:
        return ""
    made, _ = _children[-1].communicate()
    return made.decode("utf-8").removesuffix("\n") if _children[-1].returncode == 0 else ""


def _bundle() -> str:
    import vl_convert

    return str(vl_convert.javascript_bundle(_ENTRY))


def _place() -> Path:
    return cache_folder() / f"vega-{metadata.version('vl-convert-python')}.js"


def _read(kept: Path) -> str | None:
    """The script of a file whose first line has its hash; None of any other file."""
    try:
        first, _, script = kept.read_bytes().decode("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if first == f"// sha256-{_digest(script)}" else None


def _keep(kept: Path, script: str) -> None:
    """Keep a script for other runs; without a folder that can be written, every run makes its own."""
    with contextlib.suppress(OSError, DataError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, f"// sha256-{_digest(script)}\n{script}")


@cache
def own() -> str:
    """Our scripts in one, with nothing left behind in the page's global names."""
    parts = "\n".join((_HERE / name).read_text(encoding="utf-8") for name in OWN)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def policy(*scripts: str) -> str:
    """The content policy of a page that loads nothing and runs these scripts alone."""
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    # Charts are drawn with attributes `style`, for which a policy knows no hashes.
    styles = "style-src 'unsafe-inline'"
    return f"default-src 'none'; script-src {allowed}; {styles}; base-uri 'none'; form-action 'none'"


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
