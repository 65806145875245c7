"""Public functions for tables, one file each; `source` and `result` have what they share."""
