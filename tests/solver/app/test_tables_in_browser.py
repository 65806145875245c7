"""The page of tables in a real browser: from files, columns and rules to a grid; what is wrong is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
from application import IN_BROWSER, base, choose, choose_several, no_serious_violation, started
from small_tables import write_table_files

from linkrisk import open_table
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.writing import internal_files

pytestmark = IN_BROWSER


def test_a_table_is_protected_and_its_grid_is_seen(page: Any, address: str, folder: Path) -> None:
    write_table_files(folder / "data")
    page.goto(f"{base(address)}/tables")
    for label, name in (("File of cells", "data/cells.csv"), ("File of relations", "data/relations.csv")):
        choose(page, label, name)
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^done$")).wait_for()
    assert "Both sensitive cells are protected" in page.locator(".headline").inner_text()
    report = page.frame_locator("iframe")
    report.locator('html[data-ready="yes"]').wait_for(state="attached")
    report.locator(".cells td").nth(9).hover()
    report.locator(".cells .said", has_text="an outsider finds 7 to 13").wait_for()
    for name in ("table-published.csv", "table-internal.csv", "report-outside.html"):
        page.get_by_role("link", name=name).wait_for()
    no_serious_violation(page)


def test_what_a_file_is_for_is_offered(page: Any, address: str, folder: Path) -> None:
    """Records are masked or counted; cells of a table are protected or audited."""
    write_table_files(folder / "data")
    for name, offered, asked in (
        ("cells", "Protect this table", "File of cells"),
        ("cells", "Audit it", "File of cells"),
        ("original", "Make a table of it", "File of microdata"),
    ):
        page.goto(f"{base(address)}/file?name=data/{name}.csv")
        page.get_by_role("button", name=offered).click()
        page.get_by_label(asked, exact=True).wait_for()
        assert page.get_by_label(asked, exact=True).input_value() == f"data/{name}.csv"


def test_hierarchies_and_insiders_are_asked_for(page: Any, address: str, folder: Path) -> None:
    lines = [f"f{at},{'NS'[at % 2]}{at % 4},{'ab'[at % 3 % 2]},{10 + at}" for at in range(24)]
    (folder / "data" / "firms.csv").write_text("\n".join(["firm,region,size,turnover", *lines]) + "\n")
    (folder / "data" / "regions.hrc").write_text("N\n@N0\n@N2\nS\n@S1\n@S3\n")
    page.goto(f"{base(address)}/tables")
    page.get_by_text("A table of microdata").click()
    choose(page, "File of microdata", "data/firms.csv")
    choose_several(page, "By", "region", "size")
    choose(page, "What is summed", "turnover")
    choose_several(page, "Hierarchy of region", "data/regions.hrc")
    assert not page.get_by_label("Names of respondents").is_visible()
    choose(page, "Besides outsiders", "every respondent")
    choose(page, "Names of respondents", "firm")
    page.get_by_text("Where a level cannot be kept").click()
    choose(page, "Method", "optimal")
    shown = page.locator("pre.code").inner_text()
    for word in ("--hierarchy region=data/regions.hrc", "--respondent firm", "--as-far-as-possible"):
        assert word in shown
    started(page)
    assert "insiders" in page.locator(".headline").inner_text()
    page.get_by_role("link", name="table-contributors.csv").wait_for()
    page.locator(".course svg").first.wait_for()
    page.get_by_role("link", name="Ask again with other settings").click()
    page.get_by_text("--as-far-as-possible").wait_for()
    no_serious_violation(page)


def test_a_ready_file_and_what_is_wrong_with_one(
    page: Any, address: str, folder: Path, tmp_path: Path
) -> None:
    (folder / "data" / "people of a town.csv").write_text("age,region\n30,N\n40,S\n")
    cells = {"region": ["Total", "a", "b", "c"], "value": [9, 2, 3, 4]}
    table = open_table(
        pd.DataFrame({**cells, "status": ["z", "u", "s", "s"], "upper_protection": [0, 1, 0, 0]})
    )
    given = tmp_path / "ready.jj"
    write_all(internal_files(table, given))
    page.goto(base(address))
    page.locator("input[type=file]").set_input_files(given)
    page.get_by_role("link", name="data/ready.jj").click()
    page.get_by_text("--table data/ready.jj").wait_for()
    assert not page.get_by_label("File of relations").is_visible()
    no_serious_violation(page)
    choose(page, "File of cells", "data/people of a town.csv")
    wrong = page.get_by_text("has no column 'value': choose the column of values, or another file")
    wrong.wait_for()
    assert page.get_by_label("File of relations").is_visible()
    choose(page, "Column of values", "age")
    wrong.wait_for(state="hidden")
    no_serious_violation(page)
    choose(page, "File of cells", "data/ready.jj")
    page.get_by_text("--table data/ready.jj").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^(done|failed)$")).wait_for()
    assert "is protected" in page.locator(".headline").inner_text()


def test_two_quick_choices_of_a_list_are_both_kept(page: Any, address: str, folder: Path) -> None:
    (folder / "data" / "quick.csv").write_text("group,region,turnover\n" + "a,R1,10\nb,R2,20\n" * 6)
    page.goto(f"{base(address)}/tables")
    page.get_by_text("A table of microdata").click()
    choose(page, "File of microdata", "data/quick.csv")
    page.get_by_label("By", exact=True).click()
    offered = page.get_by_role("option")
    offered.first.wait_for()
    # Both before the program can answer to the first.
    offered.evaluate_all("all => { all[0].click(); setTimeout(() => all[1].click(), 0) }")
    page.get_by_text("--by group,region").wait_for()


def test_weights_holdings_and_two_hierarchies_are_asked_for(page: Any, address: str, folder: Path) -> None:
    lines = [f"g{at // 2},R{at % 4},{10 + at},{1 + at % 3}" for at in range(24)]
    (folder / "data" / "weighted.csv").write_text("\n".join(["group,region,turnover,weight", *lines]) + "\n")
    for name, below in (("county", "NNSS"), ("zone", "EWEW")):
        tree = "".join(f"R{at},{parent}\n" for at, parent in enumerate(below))
        above = "".join(f"{parent},Total\n" for parent in sorted(set(below)))
        (folder / "data" / f"{name}.csv").write_text(f"code,parent\n{above}{tree}")
    page.goto(f"{base(address)}/tables")
    page.get_by_text("A table of microdata").click()
    choose(page, "File of microdata", "data/weighted.csv")
    page.get_by_text("needs explanatory variables: choose one or more").wait_for()
    choose_several(page, "By", "region")
    choose_several(page, "By, of table 2", "group")
    page.get_by_label("Hierarchy of group").wait_for()
    assert page.get_by_label("By, of table 3", exact=True).is_visible()
    page.get_by_text("--by region --by group").wait_for()
    choose_several(page, "By, of table 2", "group")  # which takes it away again
    page.get_by_label("Hierarchy of group").wait_for(state="hidden")
    choose(page, "What is summed", "turnover")
    choose(page, "Holdings", "group")
    assert not page.get_by_label("Weights in rules").is_visible()
    choose(page, "Sampling weights", "weight")
    choose(page, "Weights in rules", "respondents know weights")
    choose_several(page, "Hierarchy of region", "data/county.csv", "data/zone.csv")
    page.get_by_label("Rules, one a line").fill("p=ten")
    page.get_by_text("'p=ten' is no rule").wait_for()
    page.get_by_label("Rules, one a line").fill("request=70")
    page.get_by_text("choose who asked for protection").wait_for()
    assert page.get_by_label("Who asked for protection").is_visible()
    page.get_by_label("Rules, one a line").fill("frequency=8")
    page.get_by_text("--rule frequency=8").wait_for()
    shown = page.locator("pre.code").inner_text()
    for word in (
        *("--weight weight --weights-in-rules known", "--holding group"),
        "--hierarchy region=data/county.csv --hierarchy region=data/zone.csv",
    ):
        assert word in shown.replace("\n", " ")
    started(page)
    assert "protected from outsiders" in page.locator(".headline").inner_text()
    page.get_by_role("link", name="Ask again with other settings").click()
    page.get_by_text("--hierarchy region=data/zone.csv").wait_for()
