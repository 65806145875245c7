"""Whether samples are searched instead of all records: what is asked for, checked before anything is read."""

from __future__ import annotations

from linkrisk.solver.run.clock import AUTOMATIC
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.plan import SamplingChoice, check_choice


def sampling_choice(
    sample: int | str | None, samples: int | None, confidence: float, strata: str | None
) -> SamplingChoice:
    """What `fit` was asked for; UsageError when no file could satisfy it.

    Parameters
    ----------
    sample : int, ``auto`` or None
        Records in each sample.
    samples : int or None
        How many samples.
    confidence : float
        Of the limit for the whole file.
    strata : str or None
        Column to draw by.
    """
    for value, what in ((sample, "sample"), (samples, "number of samples")):
        if value is None or (what == "sample" and value == AUTOMATIC):
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"the {what} must be a whole number of at least 1, not {value!r}")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise UsageError(f"the confidence must be a number above 0 and below 1, not {confidence!r}")
    choice = SamplingChoice(sample, samples, float(confidence), strata)
    check_choice(choice)
    return choice
