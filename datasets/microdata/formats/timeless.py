"""Files without the moment at which they were written: the same table is the same file, byte for byte."""

from __future__ import annotations

import io
import re
import zipfile

_SPSS_MOMENT = slice(92, 109)
_SPSS_NEVER = b"01 Jan 8000:00:00"
"""Date and time, nine and eight letters, in the header of a file of SPSS (PSPP developer's guide)."""

_SAS_MOMENT = re.compile(rb"\d{2}[A-Z]{3}\d{2}:\d{2}:\d{2}:\d{2}")
_SAS_NEVER = b"01JAN80:00:00:00"
_SAS_HEADERS = 880
"""Eleven records of 80 letters, among them those of library and member (SAS technical note TS-140)."""

_EXCEL_NEVER = (1980, 1, 1, 0, 0, 0)
_EXCEL_MOMENT = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*<")


def spss(content: bytes) -> bytes:
    """A file of SPSS."""
    return content[: _SPSS_MOMENT.start] + _SPSS_NEVER + content[_SPSS_MOMENT.stop :]


def sas_transport(content: bytes) -> bytes:
    """A transport file of SAS."""
    return _SAS_MOMENT.sub(_SAS_NEVER, content[:_SAS_HEADERS]) + content[_SAS_HEADERS:]


def excel(content: bytes) -> bytes:
    """A workbook: its properties, and the files in it."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as book,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name in book.namelist():
            part = _EXCEL_MOMENT.sub(rb"\g<1>1980-01-01T00:00:00Z<", book.read(name))
            made.writestr(zipfile.ZipInfo(name, _EXCEL_NEVER), part, zipfile.ZIP_DEFLATED)
    return target.getvalue()
