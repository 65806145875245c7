"""The application: fit, verify, link, mask, risk, report, sweep and more, as commands and functions.

May import `linkrisk.formulations` and `linkrisk.datasets`; neither may import this. What it offers is listed
in `linkrisk`: ``from solver import fit`` is ``from linkrisk import fit``.
"""

TYPE_CHECKING = False  # that of `typing` takes milliseconds, in which Ctrl-C would print a traceback
if TYPE_CHECKING:
    from linkrisk import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """Import what linkrisk offers when it is first asked for."""
        import linkrisk

        if name.startswith("__") or name not in dir(linkrisk):
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        return getattr(linkrisk, name)
