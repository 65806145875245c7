"""What all results about tables share: the page of what was done, for readers inside and outside."""

from __future__ import annotations

from pathlib import Path

from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.solver.run.result import Result


class Reported(Result):
    """A result whose JSON makes a report."""

    def to_html(self, external: bool = False) -> str:
        """What `report` writes."""
        from linkrisk.solver.documents.document import Audience
        from linkrisk.solver.documents.page import render_page
        from linkrisk.solver.report.content.tables.build import table_document

        return render_page(
            table_document(self.to_dict(), Audience.EXTERNAL if external else Audience.INTERNAL)
        )

    def report(self, output: str | Path, external: bool = False) -> None:
        """Write what was done and found as one HTML page.

        Parameters
        ----------
        output : str or Path
        external : bool
            Whether readers outside may have it. Such a page has no values, levels, intervals or parameters,
            and does not say which suppressed cells are the sensitive ones.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        write_whole(output, self.to_html(external))
