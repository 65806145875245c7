"""Parameters of linkers are declared without them: what is said there is what the linkers know."""

from __future__ import annotations

from linkrisk.datasets.masking.parameters import PARAMETERS as MASKING
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.microdata.dates import LEVELS
from linkrisk.datasets.options.option import options_of
from linkrisk.formulations.linkage.comparison import Missing
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.solver.linkage.parameters import NORMALISED_BY, PARAMETERS
from linkrisk.solver.linkage.quantifiers import NORMALISATIONS
from linkrisk.solver.linkage.registry import LINKERS


def test_methods_and_linkers_have_the_parameters_that_are_declared_for_their_names():
    assert [name for name in LINKERS if options_of(LINKERS[name])] == list(PARAMETERS)
    for declared, known in (
        (PARAMETERS, LINKERS),
        (MASKING, {name: entry.kind for name, entry in METHODS.items()}),
    ):
        for name, group in declared.items():
            assert issubclass(known[name], group), name
            assert options_of(known[name]) == options_of(group), name


def test_names_in_their_help_are_those_that_are_known():
    assert tuple(NORMALISATIONS) == NORMALISED_BY
    dbrl = {name: one.default for name, one in options_of(LINKERS["dbrl"]).items()}
    assert dbrl["differences"] == Differences.SQUARED
    assert dbrl["standardisation"] == Standardisation.OWN
    assert dbrl["missing"] == Missing.EXPECTED
    assert options_of(MASKING["recode"])["level"].help.endswith(
        ": " + ", ".join(sorted(LEVELS, key=LEVELS.index))
    )
