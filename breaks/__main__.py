"""`python -m breaks` and the entry point: no traceback even for Ctrl-C while modules load."""

import gc
import sys


def main() -> None:
    """Runs the command line and exits with its code."""
    gc.disable()  # a command is short: to look for cycles takes longer than what they hold is worth
    try:
        from breaks.cli import cli

        sys.exit(cli.run())
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
