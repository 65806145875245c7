"""`verify`: certificates of fits, of tables and bundles, checked against the files they speak of."""
