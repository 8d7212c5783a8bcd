"""`python -m breaks` and the entry point: no traceback even for Ctrl-C while modules load."""

import gc
import sys

from breaks.leave import run_and_leave


def main() -> None:
    """Runs the command line and exits with its code, for whoever calls it from Python."""
    try:
        from breaks.cli import cli

        sys.exit(cli.run())
    except KeyboardInterrupt:
        sys.exit(130)


def program() -> None:
    """The same for the program itself, which ends with it."""
    gc.disable()  # a command is short: to look for cycles takes longer than what they hold is worth
    run_and_leave(main)


if __name__ == "__main__":
    program()
