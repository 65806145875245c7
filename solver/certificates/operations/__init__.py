"""Function `verify`: checks certificates of fits, of tables and of reports against their files."""
