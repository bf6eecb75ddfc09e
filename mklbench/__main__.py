"""``python -m mklbench``, and the command ``mklbench``."""

import sys

from mklbench import interruption


def main() -> int:
    """Run the command line as a program; return the exit status."""
    interruption.listen()
    try:
        from mklbench import cli

        return cli.main()
    except KeyboardInterrupt as interrupt:
        interruption.leave(str(interrupt))
        raise


if __name__ == "__main__":
    sys.exit(main())
