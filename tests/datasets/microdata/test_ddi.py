"""Codebooks of DDI: files as archives write them, schemas there and back, and files that mean harm."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.ddi import Codebook, ddi_losses, ddi_text, read_ddi
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.roles import Role, Scale
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.schema_files import read_schema, write_schema

NESSTAR = """<?xml version="1.0" encoding="ISO-8859-1"?>
<codeBook version="1.2.2" ID="study" xml-lang="en" xmlns="http://www.icpsr.umich.edu/DDI">
  <docDscr><citation><titlStmt><titl>Household budget</titl></titlStmt></citation></docDscr>
  <stdyDscr><citation><titlStmt><titl>Household budget</titl></titlStmt></citation></stdyDscr>
  <dataDscr>
    <varGrp ID="VG1" name="all" var="V1 V2"><labl>Everything</labl></varGrp>
    <var ID="V1" name="hhsize" files="F1" dcml="0" intrvl="contin">
      <location StartPos="1" EndPos="2" width="2"/>
      <labl>
        <![CDATA[ Size of the
           household ]]>
      </labl>
      <qstn><qstnLit>How many are you?</qstnLit></qstn>
      <valrng><range UNITS="REAL" min="1" max="12"/></valrng>
      <sumStat type="mean">3.1</sumStat>
      <catgry><catValu>12</catValu><labl>12 and more</labl></catgry>
      <catgry missing="Y"><catValu>Sysmiss</catValu><catStat type="freq">4</catStat></catgry>
      <varFormat type="numeric" schema="other"/>
    </var>
    <var ID="V2" name="tenure" files="F1" intrvl="discrete">
      <labl xml:lang="en">Tenure</labl><labl xml:lang="fr">Statut</labl>
      <invalrng><item VALUE="8"/><range min="97"/></invalrng>
      <catgry><catValu>1</catValu><labl>Eigentum, geh\xf6rt</labl></catgry>
      <catgry><catValu>2</catValu><labl>Rent</labl></catgry>
      <catgry missing="Y"><catValu>8</catValu><labl>Refused</labl></catgry>
      <catgry missing="Y"><catValu>99</catValu><labl>Unknown</labl></catgry>
    </var>
    <var ID="V3" name="opinion" intrvl="discrete" nature="ordinal">
      <catgry><catValu>-1</catValu></catgry><catgry><catValu>0</catValu></catgry><catgry><catValu>1</catValu></catgry>
    </var>
    <var ID="V4" name="age" intrvl="discrete">
      <catgry><catValu>30</catValu><catStat>2</catStat></catgry><catgry><catValu>31</catValu></catgry>
    </var>
    <var ID="V5" name="born"><varFormat type="character" category="date">DD.MM.YYYY</varFormat></var>
    <var ID="V6" name="w" wgt="wgt" intrvl="contin"/>
    <var ID="V7" name="remark" intrvl="contin"><varFormat type="character"/></var>
  </dataDscr>
</codeBook>
"""


def test_a_codebook_as_archives_write_it():
    schema = read_ddi(NESSTAR.encode("latin-1"), Path("a.xml"))
    assert schema == Schema(
        (
            Attribute("hhsize", None, Scale.NUMERIC, None, "Size of the household", {"12": "12 and more"}),
            Attribute(
                "tenure", None, Scale.NOMINAL, ("1", "2"), "Tenure",
                {"1": "Eigentum, gehört", "2": "Rent", "8": "Refused", "99": "Unknown"},
                ("8", MissingRange(97.0)),
            ),
            Attribute("opinion", None, Scale.ORDINAL, ("-1", "0", "1")),
            Attribute("age"),
            Attribute("born", None, Scale.DATE, form="DD.MM.YYYY"),
            Attribute("w", Role.WEIGHT, Scale.NUMERIC),
            Attribute("remark"),
        )
    )  # fmt: skip


TEXTS = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")),
    min_size=1,
    max_size=8,
)
CODES = st.lists(TEXTS.filter(lambda text: text.lower() != "sysmiss"), max_size=4, unique=True)


@st.composite
def attributes(draw, name):
    scale = draw(st.sampled_from([None, *Scale]))
    codes, missing = draw(CODES), draw(CODES)
    codes = [code for code in codes if code not in missing]
    listed = tuple(codes) if scale in (Scale.ORDINAL, Scale.NOMINAL) and codes else None
    ranges = draw(st.sampled_from([(), (MissingRange(1e9),), (MissingRange(-2.5e8, -1e8),)]))
    labelled = codes if scale is not Scale.TEXT else []  # text that has labels is no free text
    if scale in (Scale.ORDINAL, Scale.NOMINAL) and not codes:
        scale = None
    return Attribute(
        name,
        draw(st.sampled_from([None, Role.WEIGHT, Role.KEY])),
        scale,
        listed,
        label=draw(TEXTS | st.just("")),
        labels={code: draw(TEXTS) for code in [*labelled, *missing] if draw(st.booleans())},
        missing=(*missing, *ranges),
        hierarchy=Hierarchy.from_rows(name, dict.fromkeys(listed, ("*",))) if listed else None,
        form="DD.MM.YYYY" if scale is Scale.DATE and draw(st.booleans()) else None,
    )


@given(
    st.lists(TEXTS, min_size=1, max_size=4, unique=True).flatmap(
        lambda them: st.tuples(*map(attributes, them))
    )
)
def test_what_a_codebook_holds_comes_back_and_what_it_does_not_is_said(made):
    try:
        schema = Schema(made)
    except DataError:
        return  # codes that spell the same number as one that is missing
    text = ddi_text(schema, Codebook("title"))
    read = read_ddi(text.encode(), Path("a.xml"))
    said = " ".join(ddi_losses(schema))
    for before, after in zip(schema.attributes, read.attributes, strict=True):
        role = before.role if before.role is Role.WEIGHT else None
        assert after == replace(before, role=role, hierarchy=None)
        assert dict(after.labels) == dict(before.labels)
    assert ("roles" in said) == any(each.role is Role.KEY for each in made)
    assert ("hierarchies" in said) == any(each.hierarchy is not None for each in made)
    ElementTree.fromstring(text)


def test_codes_that_are_no_list_become_one():
    labelled = Attribute("a", None, Scale.NOMINAL, labels={"1": "one", "9": "none"}, missing=("9",))
    schema = Schema((labelled,))
    assert ddi_losses(schema) == ("codes with labels become the list of all categories (a)",)
    read = read_ddi(ddi_text(schema, Codebook("t")).encode(), Path("a.xml"))
    assert read == Schema((replace(labelled, categories=("1",)),))


def test_a_schema_file_may_be_a_codebook(tmp_path):
    schema = Schema((Attribute('a "b" <c>\n', None, Scale.ORDINAL, ("lo & hi", "]]>"), label="<x>"),))
    write_schema(schema, tmp_path / "a.xml")
    assert read_schema(tmp_path / "a.xml") == schema


LAUGHS = "<!DOCTYPE x [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {name} '{('&' + before + ';') * 10}'>"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
WHOLE = '<codeBook xmlns="ddi:codebook:2_5"><dataDscr>{}</dataDscr></codeBook>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS + "]>\n<codeBook>&i;</codeBook>", "line 1: a document type declaration"),
        ('<!DOCTYPE codeBook SYSTEM "file:///x">\n<codeBook/>', "line 1: a document type declaration"),
        ("<codeBook>\n&lt;&bad;</codeBook>", "line 2: no valid XML: undefined entity; correct it"),
        ("<codeBook>\n<dataDscr>\n</codeBook>", "line 3: no valid XML: mismatched tag; correct it"),
        ("", "line 1: no valid XML: no element found; correct it"),
        ("<html/>", "line 1: no codebook of DDI (<codeBook>), but <html>"),
        (
            '<DDIInstance xmlns="ddi:instance:3_2"/>',
            "line 1: no codebook of DDI (<codeBook>), but DDI-Lifecycle; export it as DDI-Codebook",
        ),
        ("<codeBook>" + "<a>" * 100, "line 1: elements are nested more than 64 deep; this is no codebook"),
        ("<codeBook/>", " describes no variables (<dataDscr>, <var>)"),
        (WHOLE.format("\n<var/>"), "line 2: an attribute of the schema has no name"),
        (WHOLE.format('<var name="a"/><var name="a"/>'), ": the attribute 'a' is given twice in the schema"),
        (
            WHOLE.format('\n\n<var name="a" nature="nominal"><catgry><catValu>1</catValu></catgry><catgry>'
                         "<catValu>1</catValu></catgry></var>"),
            "line 3: attribute 'a' lists a category twice",
        ),
        (
            WHOLE.format('<var name="a"><invalrng><range min="x"/></invalrng></var>'),
            "line 1: the missing codes from 'x' to '': could not convert",
        ),
        (WHOLE.format('<var><invalrng><range min="2" max="1"/></invalrng></var>'), "no number is between"),
        (WHOLE.format("<var><invalrng><range/></invalrng></var>"), "needs at least one end"),
    ],
)  # fmt: skip
def test_what_is_no_codebook_is_refused_in_a_line(text, message):
    with pytest.raises(DataError) as refused:
        read_ddi(text.encode(), Path("a.xml"))
    assert message in str(refused.value)
    assert str(refused.value).startswith("a.xml")
    assert "\n" not in str(refused.value)


def test_a_codebook_that_is_too_large_is_not_parsed(monkeypatch):
    monkeypatch.setattr("linkrisk.datasets.microdata.ddi._LARGEST", 10)
    with pytest.raises(DataError, match="has 11 bytes; a codebook of at most 10 is read"):
        read_ddi(b"<codeBook/>", Path("a.xml"))


@given(st.data())
def test_damaged_codebooks_are_read_or_refused(data):
    content = NESSTAR.encode("latin-1")
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 30)))
    damage = data.draw(
        st.binary(max_size=3) | st.sampled_from([b"<", b"&", b'"', b"</var>", b"<var>", b"<catgry>"])
    )
    with contextlib.suppress(DataError):
        read_ddi(content[:start] + damage + content[end:], Path("a.xml"))


def test_control_characters_are_refused():
    with pytest.raises(DataError, match=r"cannot hold the control character '\\x07'"):
        ddi_text(Schema((Attribute("a", label="ring\a"),)), Codebook("t"))
