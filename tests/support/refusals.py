"""What is said where something is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linkrisk.errors import LinkriskError


def refusal(call: Callable[[], object]) -> str:
    """The one line that a refused call says."""
    with pytest.raises(LinkriskError) as error:
        call()
    said = str(error.value)
    assert "\n" not in said
    return said
