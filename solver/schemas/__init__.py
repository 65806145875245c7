"""Types of the JSON of all results: schemas, readers, and the keys that are public."""
