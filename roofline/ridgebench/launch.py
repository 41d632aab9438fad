"""Starts a command: launch.py PROGRAM COMMAND [ARGUMENTS]. PROGRAM is the program ridgebench that does so, else empty.

Every entry point runs this file. `python3 -m ridgebench` would put the current folder first on the path of modules, and a
file there may be called numpy.py. PYTHONPATH would reach the programs that a command starts. An old Python must be able
to read this file.
"""

import sys

if __name__ == "__main__":
    if sys.version_info < (3, 9):
        _found = (sys.executable,) + sys.version_info[:2]
        sys.stderr.write("ridgebench: %s is Python %d.%d; allowed: 3.9 or newer\n" % _found)
        sys.exit(2)
    _folder = __file__.rpartition("/")[0]  # its modules have common names
    sys.path[:] = [_folder.rpartition("/")[0]] + [path for path in sys.path if path not in ("", _folder)]

    from ridgebench.base import command_line
    from ridgebench.__main__ import start

    command_line.BINARY = sys.argv.pop(1)
    sys.exit(start(sys.argv[1:]))
