"""Options of all operations, by subject; nothing here needs a library, for help without delay."""
