"""The scripts of a page: Vega-Lite as its packages bundle it, and our own; and what lets only these run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent / "scripts"
# In the order in which they are put together.
OWN = ("format.js", "grid.js", "charts.js", "records.js", "choice.js", "copy.js", "start.js")
_ENTRY = "window.vegaEmbed = vegaEmbed;"


@cache
def bundled() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, 0.9 MB; made once a process, in about 1.3 s."""
    import vl_convert

    return str(vl_convert.javascript_bundle(_ENTRY)).replace("</script", "<\\/script")


@cache
def own() -> str:
    """Our scripts in one, with nothing left behind in the page's global names."""
    parts = "\n".join((_HERE / name).read_text(encoding="utf-8") for name in OWN)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def policy(*scripts: str) -> str:
    """The content policy of a page that loads nothing and runs these scripts alone."""
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
