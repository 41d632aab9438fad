"""The command `ridgebench baseline`, called in this process."""

from ridgebench.judge.past import baseline


def call(*arguments) -> int:
    """Returns the exit code."""
    try:
        return baseline.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code
