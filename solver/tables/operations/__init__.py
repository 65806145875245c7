"""Tables as functions: a file for each that is called, `source` and `result` for what they share."""
