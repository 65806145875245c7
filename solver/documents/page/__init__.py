"""Rendering of a document as one HTML file with its scripts.

May import `documents`, `schemas`, `charts` and `run`; never what the document is made from.
"""

from linkrisk.errors import needs_extra

needs_extra("a report", "jinja2", "vl_convert")

from linkrisk.solver.documents.page.rendering import render_page as render_page  # noqa: E402
