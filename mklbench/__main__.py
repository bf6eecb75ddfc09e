"""``python -m mklbench``, and the command ``mklbench``."""

import sys

from mklbench import interruption


def main() -> int:
    """Run the command line as a program; return the exit status."""
    try:
        interruption.listen()
        from mklbench import cli

        return cli.main()
    except KeyboardInterrupt as interrupt:
        interruption.leave(str(interrupt))
        raise
    finally:  # an import that is interrupted may make another error of it
        if interruption.was_heard():
            interruption.leave()


if __name__ == "__main__":
    sys.exit(main())
