"""What every part of the package may use: options, exit codes, files, texts, units, processes."""
