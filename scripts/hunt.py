"""Hunt for wrong bounds on nasty file pairs, for as long as it is given.

python scripts/hunt.py --minutes 60 --seed 1000000

The hunt is a part of the tests (`tests/support/hunting`). A case that is wrong is written down, and how to
see it again.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from hunting.session import main

if __name__ == "__main__":
    sys.exit(main())
