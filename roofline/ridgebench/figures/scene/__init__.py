"""What is drawn where, in numbers: `page`, `slides` and `html` draw it."""
