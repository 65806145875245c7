"""The scripts of a page: Vega-Lite as its packages bundle it, and our own; and what lets only these run."""

from __future__ import annotations

import base64
import contextlib
import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.datasets.public.download import cache_folder

_HERE = Path(__file__).parent / "scripts"
# In the order in which they are put together.
OWN = ("format.js", "grid.js", "charts.js", "records.js", "choice.js", "copy.js", "start.js")
_ENTRY = "window.vegaEmbed = vegaEmbed;"


@cache
def bundled() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script of 0.9 MB.

    To bundle them takes 1.3 s, and up to 6 s when the machine is busy; so the script is kept in the cache
    folder, under the version of the package that it comes from.
    """
    import vl_convert

    kept = cache_folder() / f"vega-{metadata.version('vl-convert-python')}.js"
    script = _read(kept)
    if script is None:
        script = str(vl_convert.javascript_bundle(_ENTRY)).replace("</script", "<\\/script")
        _keep(kept, script)
    return script


def _read(kept: Path) -> str | None:
    """The script of a file whose first line has its hash; None of any other file."""
    try:
        first, _, script = kept.read_bytes().decode("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if first == _seal(script) else None


def _keep(kept: Path, script: str) -> None:
    """Keep a script for other runs; without a folder that can be written, every run makes its own."""
    with contextlib.suppress(OSError, DataError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, f"{_seal(script)}\n{script}")


def _seal(script: str) -> str:
    return f"// sha256-{_digest(script)}"


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
