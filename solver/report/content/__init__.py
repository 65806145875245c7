"""What a report says: one file per section, from the JSON of results to a `Document`.

May import charts, measures and what is below them; never the page or the commands.
"""
