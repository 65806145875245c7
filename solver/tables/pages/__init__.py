"""What the report of a protected table says: from its JSON to a document, for readers inside and outside."""
