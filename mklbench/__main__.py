"""``python -m mklbench``."""

import sys

from mklbench.cli import main

if __name__ == "__main__":
    sys.exit(main())
