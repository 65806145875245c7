"""Probabilistic linkage in passes: only pairs that agree on all keys of one of several passes are compared.

`keys` says what a pass is, `key_values` which value of a key each record has, `joining` which pairs a pass
compares, `levels` how they agree. `learning` puts this together; `deciding` makes links of it.
"""
