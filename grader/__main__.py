"""`python -m grader` and the entry point: no traceback even for Ctrl-C while modules load."""

import gc

from breaks.leave import leave


def main() -> None:
    """Runs the command line and ends the process with its code."""
    gc.disable()  # a command is short: to look for cycles takes longer than what they hold is worth
    try:
        from grader.cli import cli

        leave(cli.run())
    except KeyboardInterrupt:
        leave(130)


if __name__ == "__main__":
    main()
