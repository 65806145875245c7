"""`tables audit`, and `verify` of what it proves: limits, processes, rationals, and several releases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import check_refusals, flat, refuse, run
from extras import of_extra
from small_tables import write_linked_tables

from linkrisk import audit_table, open_table
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.writing import internal_files
from linkrisk.solver.commands.program import main

HEADER = "region,size,value,status,lower_protection,upper_protection,upper_bound\n"
VALUES = {
    ("Total", "Total"): 260, ("Total", "small"): 90, ("Total", "large"): 170, ("North", "Total"): 120,
    ("North", "small"): 40, ("North", "large"): 80, ("South", "Total"): 140, ("South", "small"): 50,
    ("South", "large"): 90,
}  # fmt: skip
ONE = [("North", "large"), ("South", "small"), ("South", "large")]
OTHER = [("Total", "Total"), ("Total", "small"), ("North", "Total")]


def release(path, hidden, level=8):
    """A release in which North, small is sensitive, and others are suppressed with it."""
    lines = []
    for codes, value in VALUES.items():
        sensitive = codes == ("North", "small")
        status = "u" if sensitive else "m" if codes in hidden else "s"
        levels = f"{level},{level}" if sensitive else ","
        lines.append(f"{','.join(codes)},{value},{status},{levels},999\n")
    Path(path).write_text(HEADER + "".join(lines), encoding="utf-8")


@pytest.fixture(autouse=True)
def releases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release("year.csv", ONE)
    release("revised.csv", OTHER)


def test_each_release_protects_and_both_together_do_not(capsys):
    of_extra("altair")
    for name in ("year.csv", "revised.csv"):
        assert "The sensitive cell is protected" in run(capsys, "tables", "audit", "--cells", name)
    asked = ["tables", "audit", "--cells", "year.csv", "--also", "revised.csv", "--output", "safe.csv"]
    assert main(asked) == 1
    out = capsys.readouterr().out
    assert "1 of 1 sensitive cell is NOT protected" in out
    assert "Not protected 1: cell 4 (region=North, size=small) by 8 " in flat(out)
    assert "1 suppressed cell is known exactly, though not shown." in out
    assert "output      none: 1 not protected" in out
    assert not Path("safe.csv").exists()
    found = audit_table("year.csv", also=["revised.csv"])
    assert found.suppressed.tolist() == [codes == ("North", "small") for codes in VALUES]


def test_a_published_release_lacks_what_is_suppressed(capsys):
    of_extra("altair")
    written = ["--output", "published.csv", "--internal", "internal.csv"]
    run(capsys, "tables", "audit", "--cells", "revised.csv", *written)
    message = (
        "published.csv, row 1 (region=Total, size=Total): its value is empty; give it one, or instead of a "
        "published table the internal one, which has all values"
    )
    refuse(capsys, message, "tables", "audit", "--cells", "year.csv", "--also", "published.csv")
    assert main(["tables", "audit", "--cells", "year.csv", "--also", "internal.csv"]) == 1


def test_a_certificate_is_written_and_verified(capsys):
    files = ["--certificate", "proof.json.gz", "--internal", "internal.csv", "--json", "found.json"]
    out = run(capsys, "tables", "suppress", "--cells", "year.csv", *files)
    assert "In rational numbers every level is met: by " in flat(out)
    assert "certificate proof.json.gz" in out
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["exact"]["protected"]
    asked = ["--cells", "internal.csv", "--by", "region,size"]
    out = run(capsys, "verify", "proof.json.gz", *asked)
    assert "relations   add up exactly" in out
    assert "PROTECTED: 2 levels of 2 met" in out
    assert main(["verify", "proof.json.gz", "--cells", "revised.csv"]) == 1
    assert "rejected: the certificate is about other suppressed cells: cell" in capsys.readouterr().err


def test_one_file_beside_the_certificate_is_enough_for_a_stranger(capsys):
    both = ["--internal", "internal.csv", "--internal", "internal.jj"]
    files = ["--certificate", "proof.json", *both]
    out = run(capsys, "tables", "suppress", "--cells", "year.csv", *files)
    assert "internal    internal.csv\ninternal    internal.jj\n" in out
    out = run(capsys, "verify", "proof.json", "--table", "internal.jj", "--json", "proven.json")
    assert "PROTECTED: 2 levels of 2 met" in out
    proven = json.loads(Path("proven.json").read_text(encoding="utf-8"))
    assert (proven["verified"], proven["protected"], proven["met"]) == (True, True, 2)
    again = ["--cells", "revised.csv", "--json", "proven.json"]
    assert main(["verify", "proof.json", *again]) == 1
    rejected = json.loads(Path("proven.json").read_text(encoding="utf-8"))
    assert not rejected["verified"]
    assert f"rejected: {rejected['rejected']}\n" == capsys.readouterr().err


def test_what_is_not_protected_is_proven_too(capsys):
    release("year.csv", [("North", "large")])
    assert main(["tables", "audit", "--cells", "year.csv", "--certificate", "proof.json"]) == 1
    assert "In rational numbers NOT protected: 2 levels missed, of cell 4 (region=North, size=small)" in flat(
        capsys.readouterr().out
    )
    assert main(["verify", "proof.json", "--cells", "year.csv"]) == 1
    assert "NOT protected: 0 levels of 2 met, by 0 witness vectors; 2 missed" in capsys.readouterr().out


@pytest.mark.usefixtures("argus")
def test_bad_requests(capsys):
    main(["tables", "audit", "--cells", "year.csv", "--certificate", "proof.json"])
    capsys.readouterr()
    audit, size = ["tables", "audit"], ["--table", "by_size.tab"]
    year = [*audit, "--cells", "year.csv"]
    asked = [
        *(
            [*year, *one]
            for one in (["--also", "a,b,c"], ["--also", "revised.csv", "--certificate", "proof.json"])
        ),
        *(
            [*audit, *one]
            for one in (
                [*size, "--table", "by_age.jj"],
                [*size, "--also", "by_age.jj"],
                [*size, *size, "--by", "region"],
            )
        ),
        *(["verify", "proof.json", *year[2:], one, "proof.json"] for one in ("--original", "--certificate")),
    ]
    check_refusals(capsys, "tables-audit", asked)


@pytest.fixture
def argus():
    write_linked_tables(Path())
    for name, end in (("by_size", "tab"), ("by_age", "tab"), ("by_age", "jj")):
        write_all(internal_files(open_table(f"{name}.csv"), f"{name}.{end}"))


@pytest.mark.usefixtures("argus")
def test_cells_of_argus_are_linked(capsys):
    """As the same tables are from files of cells: --table several times, and as what else is published."""
    printed = run(capsys, "tables", "suppress", "--table", "by_size.tab", "--table", "by_age.tab")
    cells = run(capsys, "tables", "suppress", "--cells", "by_size.csv", "--cells", "by_age.csv")
    assert printed == cells.replace(".csv", ".tab")
    assert "at a cost of 410: proven least" in flat(printed)
    for table in (["--table", "by_size.tab"], ["--cells", "by_size.csv"]):
        assert main(["tables", "audit", *table, "--also", "by_age.tab"]) == 1
        assert "2 of 2 sensitive cells are NOT protected" in capsys.readouterr().out
