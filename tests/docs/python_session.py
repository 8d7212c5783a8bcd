"""The Python of a page: runs statements from stdin as the prompt would, answers what it prints."""

import contextlib
import io
import json
import sys
import traceback

END = "\x1e"


def main() -> None:
    sys.path.insert(0, "")  # as at the prompt: the folder where one stands
    names: dict = {"__name__": "__main__"}
    answer = sys.stdout
    for line in sys.stdin:
        answer.write(f"{run(json.loads(line), names)}{END}0{END}")
        answer.flush()


def run(source: str, names: dict) -> str:
    """What the prompt prints after `source`; of a traceback the first and the last lines only."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            exec(compile(source, "<stdin>", "single"), names)
        except Exception as error:
            print("Traceback (most recent call last):\n  ...")
            print("".join(traceback.format_exception_only(error)), end="")
    lines = printed.getvalue().splitlines()
    return "".join(f"{line or '<BLANKLINE>'}\n" for line in lines)


if __name__ == "__main__":
    main()
