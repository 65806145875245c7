"""What the report of a suppression says: from its JSON to a document, for readers inside and outside."""
