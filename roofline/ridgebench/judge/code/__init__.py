"""Machine code of two programs: what differs once addresses, names of the compiler and line information are left out."""
