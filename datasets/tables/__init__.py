"""Files of tables: cells and the relations between them.

May import `datasets` only.
"""
