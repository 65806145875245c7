"""What all results about tables share: the page of what was done, for readers inside and outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.solver.run.result import Reported

if TYPE_CHECKING:
    from linkrisk.solver.documents.document import Audience, Document


class ReportedTable(Reported):
    """A result about a table whose JSON makes a page.

    That for readers outside has no values of suppressed cells, levels, intervals or parameters, and does
    not say which suppressed cells are the sensitive ones.
    """

    def document(self, audience: Audience) -> Document:
        """Say all of it, or what readers outside may have."""
        from linkrisk.solver.tables.pages.build import table_document

        return table_document(self.to_dict(), audience)
