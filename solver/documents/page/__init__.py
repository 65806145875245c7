"""How a report looks in a browser: one HTML file with its scripts, made from the Document alone.

May import `report.document` and `report.formats`, `charts` and `run`; never what the document is made from.
"""

from linkrisk.solver.documents.page.rendering import render_page as render_page
