"""One HTML page that answers `predict` and `plan` in a browser, by the program's own code in WebAssembly."""
