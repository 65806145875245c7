"""Charts of results: declarative (Vega-Lite through Altair), the same in report, app, docs and notebooks.

Made from the JSON of results alone; may import `run` and `worst_case` names, never the report or the app.
"""
