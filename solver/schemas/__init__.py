"""What the JSON of each result holds, declared once: schema, reader, and what outsiders may know."""
