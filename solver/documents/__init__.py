"""Results as documents, which are drawn to a terminal, a notebook, or a page.

May import the rooms of data, `run` and the frames of charts and tables; never what makes results.
"""
