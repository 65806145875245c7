"""One file per command of `python -m solver`: what it is asked (see `declared`), and how the result is shown.

The work is done by the public function. Whatever needs numpy is imported by `run`, so that a help text is
there at once.
"""
