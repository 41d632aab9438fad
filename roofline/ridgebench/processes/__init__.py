"""The processes that a command starts, and the signals that end it."""
