"""The command line: parse, call the function of that name in tasks, print."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Run a command and give its exit code: 0 fine, 1 a problem, 2 wrong usage, 130 Ctrl-C."""
    try:
        # not before, so that Ctrl-C while Python still imports ends without a traceback, too
        from sortal.cli.app import run

        return run(argv)
    except KeyboardInterrupt:
        return 130
