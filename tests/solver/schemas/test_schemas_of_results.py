"""The JSON of every result fits its schema, which is published with the pages, and nothing else does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from every_result import EVERY, as_read

from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.solver.schemas.keys import wrong
from linkrisk.solver.schemas.kinds import KINDS, content_schema, file_schema

FOLDER = Path(__file__).parents[3] / "docs" / "schemas"


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_schema_is_that_of_today(kind):
    schema = file_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    path = FOLDER / f"{kind}.json"
    text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("LINKRISK_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__.strip("_"))
def test_every_json_fits_its_schema(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for result in make():
        found = as_read(result)
        kind = kind_of(found)
        validator = jsonschema.Draft202012Validator(file_schema(kind))
        complaints = [
            f"{list(one.absolute_path)}: {one.message[:300]}" for one in validator.iter_errors(found)
        ]
        assert complaints == []
        content = {name: value for name, value in found.items() if name not in ("format", "version")}
        assert wrong(content_schema(kind), content) is None
        for spoilt in ({**found, "invented": 1}, {**found, "format": "linkrisk-other"}):
            assert not validator.is_valid(spoilt) or kind == "measure"
