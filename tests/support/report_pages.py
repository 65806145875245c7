"""Reading a report as a browser would: balanced tags, texts and tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from linkrisk.solver.report.page import render_report

VOID = {"meta", "wbr", "br", "hr", "img", "input", "link"}
SVG_LEAVES = {"rect", "line", "path"}


class Page(HTMLParser):
    """Checks that tags are balanced, and collects tags, texts and tables."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.tables, self.texts = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        assert tag in SVG_LEAVES, f"<{tag}/> has no meaning in HTML"
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if "table" in self.open and {"th", "td"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self):
        return re.sub(r"[\s\N{NARROW NO-BREAK SPACE}]+", " ", "".join(self.texts))

    def table(self, first_header):
        return next(table for table in self.tables if table[0][0] == first_header)


def read(result):
    """The report of a result, read."""
    return Page(render_report(result))
