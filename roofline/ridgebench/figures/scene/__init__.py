"""The places of everything that a figure draws, in numbers: `page`, `slides` and `html` draw it."""
