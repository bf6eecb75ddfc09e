"""``python -m mklbench``, and the command ``mklbench``."""

import sys

from mklbench import interruption


def main() -> int:
    """Run the command line as a program; return the exit status."""
    sentence = ""
    try:
        interruption.listen()
        from mklbench import cli

        return cli.main()
    except KeyboardInterrupt as interrupt:
        sentence = str(interrupt)
        raise
    finally:  # an import that is interrupted may make another error of it
        if interruption.was_heard():
            interruption.leave(sentence)


if __name__ == "__main__":
    sys.exit(main())
