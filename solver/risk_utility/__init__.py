"""The risk-utility map of many maskings: what is asked, what has been kept, which are not dominated.

For `api`, `commands` and `report`. How one masking is measured is in `api`.
"""
