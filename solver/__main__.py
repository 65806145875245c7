"""Run `python -m solver`."""

import sys

if __name__ == "__main__":
    try:
        from linkrisk.__main__ import start

        start()
    except KeyboardInterrupt:  # before `start` has begun
        sys.exit("interrupted")
