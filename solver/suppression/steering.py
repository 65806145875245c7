"""Tuning numbers of the searches for a suppression, each with what it trades; 0 switches off where noted."""

from __future__ import annotations

# ---- cover: one set cover for each kind of record

BRANCHES = 1 << 20
"""Of branch and bound for one record or household, after which it keeps its best answer and bound."""

COVERS_AT_ONCE = 256
"""Set covers between two readings of the clock."""

# ---- recount: prices of records (the volume algorithm)

PRICE_STEPS = 50
"""Between two readings of the clock and of the bound."""

STALLED_ROUNDS, LEAST_RISE = 4, 1e-5
"""So many rounds that raise the bound by no more than this share end the algorithm."""

LEAST_PRICE_STEPS, LEAST_PRICE_SECONDS = 3_000, 10.0
"""Steps before a stalled bound is believed, unless they take longer than that."""

PRICE_SHARE, PRICE_SECONDS = 0.2, 120.0
"""Of the time, at most, for prices; a share of 0 leaves the trivial ones."""

# ---- recount: diving on the relaxation of the prices

DIVE_SHARE, DIVE_SECONDS = 0.5, 600.0
"""Of the time, at most, for the dive; a share of 0 switches it off."""

NEARLY_OPEN, HARDLY_OPEN = 0.8, 0.05
"""Nodes of which the relaxation opens so much are opened, or else those of which most is; none below the
second number."""

DIVE_STEPS = 40
"""Of the volume algorithm between two rounds: more give better answers, and take longer."""

OPENED_AT_ONCE, SHARE_OPENED_AT_ONCE = 50, 10
"""So many nodes, or this part of the likely ones, are opened in a round: fewer give better answers."""

# ---- recount: the rest of the program, solved by a backend

WHOLE_AT_ONCE, WHOLE_AT_MOST = 20_000, 200_000
"""Entries that the prices leave, up to which the program is solved right after the dive, and ever; negative
numbers switch it off."""

FIRST_WHOLE_SECONDS = 5.0
"""For the program at first; twice as long each time."""

SEARCH_PER_WHOLE = 2.0
"""So many times its seconds are spent on neighbourhoods in between."""

# ---- recount: large neighbourhood search

FREE_RECORDS, LEAST_FREE_RECORDS, MOST_FREE_RECORDS = 300, 30, 5_000
"""Placed anew at first, and the limits between which that adapts: more find more, in longer programs."""

NEIGHBOURHOOD_SECONDS, SOON = 8.0, 2.0
"""For one program; one that is solved sooner than the second number makes the next ones larger."""

FREE_GROWTH, FREE_SHRINKAGE = 1.03, 0.9
"""Factors of the free records after a program that was solved soon, or not in its time."""

STAR_DISTANCE = 0.3
"""Of a star to a value, where two different values are 1 apart: which nodes are neighbours."""

FURTHER_THAN_PRICE = 1.5
"""Entries that cost so much more than the price, in mean costs of a value, are in no neighbourhood."""

# ---- recount where a missing value matches anything

ROWS_AT_MOST = 512
"""Rows of the program, a multiple of the word of `coverage`: more prove more, in longer programs."""

# ---- joint

LATTICE_POINTS = 2_000_000
"""Points that are put in order for the start with whole records suppressed; 0 switches that off."""

START_SHARE, START_SECONDS = 0.1, 60.0
"""Of the time, at most, for that start."""

PRICED_SECONDS = 20.0
"""For the prices of a point before it is decided whether to search it."""

POINT_SECONDS, POINT_SHARE = 10.0, 0.15
"""For the first search of a point: at least so long, or this share of the time left; then twice as long."""

KEPT_ENTRIES = 15_000_000
"""Of searches that are kept in memory to be continued; beyond that those of the worst points start anew."""

# ---- audit

DIFFERENT_ROWS = 25_000
"""Different rows that are compared in pairs, where a missing value matches loosely; more are not audited."""

PAIRS_AT_ONCE = 20_000_000
"""Of these rows: memory against speed."""
