"""`mask` as a function: methods applied to a table, and the record of what they did."""
