"""The risk-utility map: `sweep` measures many maskings, keeps what is done, finds which are not dominated."""
