"""The page of a suppression in a real browser, narrow and dark, with names that are long and hostile."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from browsers import chromium, opened

from linkrisk import suppress

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def result():
    chance = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "a_long_name_without_any_space_" * 6: chance.choice(["v" * 120, "<img src=x>", "&amp;"], 80),
            "</script><script>alert(1)</script>": chance.integers(0, 40, 80),
            "town": chance.choice(["Urk", "Delft"], 80),
        }
    )
    return suppress(frame, keys=list(frame), k=3)


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_nothing_sticks_out_and_everybody_can_read_it(browser, result, tmp_path, external, width, scheme):
    with opened(browser, result.to_html(external=external), tmp_path, width=width, scheme=scheme) as one:
        root = "document.documentElement"
        assert one.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
        assert one.page.locator("img").count() == 0
        assert one.page.locator("[role=tab]").count() == 3
        assert one.violations() == []
