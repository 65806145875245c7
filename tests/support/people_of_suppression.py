"""Records that tests of `suppress` share: people, and members of households."""

from __future__ import annotations

import pandas as pd

PEOPLE = """id,town,sex,trade
1,Urk,f,smith
2,Urk,f,nurse
3,Urk,f,nurse
4,Urk,m,smith
5,Urk,m,smith
6,Delft,f,smith
7,Delft,f,smith
8,Delft,m,nurse
"""
HOMES = pd.DataFrame(
    {
        "home": [1, 1, 2, 2, 3, 3, 4],
        "street": ["a", "a", "b", "b", "b", "b", "c"],
        "sex": ["f", "m", "f", "m", "f", "m", "f"],
        "age": [1, 2, 1, 2, 1, 2, 1],
    }
)
ASKED = ["suppress", "--input", "people.csv"]
