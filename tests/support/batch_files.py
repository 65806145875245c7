"""Firms as tau-ARGUS reads them, and batches of them."""

from __future__ import annotations

from pathlib import Path

ASC = """N1big   900.01a1.0
N1big    60.50b1.0
N1small  20.00c2.0
N2small  35.00c1.0
N2small  40.00d1.0
S1big   500.00e1.0
S1small  25.00f1.0
S1small  30.02g1.5
"""
KEYED = "".join(
    f"{line}{key:.4f}\n"
    for line, key in zip(
        ASC.splitlines(), (0.1234, 0.5678, 0.9012, 0.3456, 0.7890, 0.2345, 0.6789, 0.0123), strict=True
    )
)
"""The same with record keys."""

RDA = """region 1 2 "99"
  <RECODEABLE>
  <TOTCODE> "Total"
  <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "@"
size 3 5
  <RECODEABLE>
turnover 8 6
  <NUMERIC>
  <DECIMALS> 1
asks 14 1
  <REQUEST> "1" "2"
group 15 1
  <HOLDING>
w 16 3
  <WEIGHT>
  <DECIMALS> 1
"""
HEAD = '// made by hand\n<OPENMICRODATA> "firms.asc"\n<OPENMETADATA> "firms.rda"\n'
TABLE = '<SPECIFYTABLE> "region""size"|"turnover"|""|""\n<SAFETYRULE> P(10,1)\n<READMICRODATA>\n'


def write_batch_files() -> None:
    """Data, metadata and the tree of regions, into the working folder."""
    Path("firms.asc").write_text(ASC, encoding="utf-8")
    Path("firms.rda").write_text(RDA, encoding="utf-8")
    Path("region.hrc").write_text("N \n@N1\n@N2\nS \n@S1\n", encoding="utf-8")


def batch(text: str, head: str = HEAD) -> str:
    """Write a batch; its name."""
    Path("firms.arb").write_text(head + text, encoding="utf-8")
    return "firms.arb"


def rows(name: str) -> list[list[str]]:
    """What was written, between semicolons."""
    return [line.split(";") for line in Path(name).read_text(encoding="utf-8").splitlines()]
