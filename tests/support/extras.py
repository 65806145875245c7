"""Tests that need an extra are skipped, with a reason, where it is not installed."""

from __future__ import annotations

from typing import Any

import pytest

from linkrisk.errors import EXTRAS, MissingExtraError


def of_extra(module: str) -> Any:
    """A module that an extra brings; the test is skipped where it is missing."""
    return pytest.importorskip(module, reason=_reason(module))


def _reason(module: str) -> str:
    extra = next((name for name, brought in EXTRAS.items() if module in brought), "dev")
    return f"needs {module}: pip install 'linkrisk[{extra}]'"


class TestFile(pytest.Module):
    """A file of tests, skipped as a whole if it imports a module that is missing."""

    def collect(self) -> Any:
        """Its tests."""
        try:
            return super().collect()
        except MissingExtraError as error:
            pytest.skip(str(error), allow_module_level=True)
        except self.CollectError as error:
            module = (getattr(error.__cause__, "name", None) or "").partition(".")[0]
            if module in {"polars", *(one for brought in EXTRAS.values() for one in brought)}:
                pytest.skip(_reason(module), allow_module_level=True)
            raise
