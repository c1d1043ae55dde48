#!/usr/bin/env python
"""The command `turnwire`, of a clone and of the installed package, of which this file is `__init__.py`."""

import sys
from pathlib import Path


def main() -> None:
    # Whatever folder this is called in.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from config import command

    command.main(sys.argv[1:])


if __name__ == "__main__":
    main()
