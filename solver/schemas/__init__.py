"""What the JSON of each result holds, declared once: its schema, how it is read, what readers outside may know."""
