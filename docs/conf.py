"""How `make docs` builds the site: pages of this folder, and a reference that is made from the code."""

from __future__ import annotations

import os
import re
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

import latex2mathml.converter
from docutils import nodes
from nbclient.client import NotebookClient
from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import reference_pages  # noqa: E402

from linkrisk import __version__  # noqa: E402

reference_pages.write(HERE / "reference")

project = "linkrisk"
author = "the linkrisk developers"
version = release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
exclude_patterns = ["**.ipynb_checkpoints"]
templates_path = ["_templates"]
nitpicky = False
keep_warnings = True

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 600
nb_merge_streams = True
# What a command of a tutorial prints comes in pieces, which end anywhere: join them as they are.
NotebookClient.__init__ = partialmethod(NotebookClient.__init__, coalesce_streams=True)  # type: ignore[assignment]
os.environ["LINKRISK_PROGRESS"] = "none"

autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_use_plots = False

html_theme = "pydata_sphinx_theme"
html_title = f"linkrisk {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"**": ["contents.html"]}
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options: dict[str, Any] = {
    "navbar_align": "left",
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
}


def _math(translator: Any, node: Any, *, block: bool) -> None:
    """Write a formula as MathML, which browsers draw by themselves: no script is fetched."""
    mathml = latex2mathml.converter.convert(node.astext(), display="block" if block else "inline")
    translator.body.append(mathml)
    raise nodes.SkipNode


INSIDE = r"(?:start|tutorials|how-to|methods|reference|results|schemas|figures|pictures|gallery)/|index\.md"
OUTWARD = re.compile(rf"(?<!!)\[([^\]]+)\]\((?:\.\./)+(?!\.|{INSIDE})([^)\s#]+)[^)\s]*\)")


def _name_files_of_the_repository(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Links to files outside of these pages lead nowhere on a site: say where they are instead."""
    source[0] = OUTWARD.sub(r"\1 (`\2` in the repository)", source[0])


def _skip(_app: Sphinx, _what: str, name: str, *_: object) -> bool | None:
    """What scikit-learn gives every estimator is explained there."""
    inherited = name.endswith("_request") or name == "get_metadata_routing"
    return True if inherited else None


def setup(app: Sphinx) -> None:
    """Draw formulas without a network, and make a site of pages that are also read as files."""
    app.connect("source-read", _name_files_of_the_repository)
    app.connect("autodoc-skip-member", _skip)
    app.add_node(nodes.math, override=True, html=(lambda t, n: _math(t, n, block=False), None))
    app.add_node(nodes.math_block, override=True, html=(lambda t, n: _math(t, n, block=True), None))
