"""The folders of an installation or a checkout: data sheets, schemas, programs and the library."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
TREE = _PACKAGE / "tree"  # what a wheel has beside the Python package: bin, lib, include, share
# The checkout, or the folder of an installation with the same subfolders.
ROOT = TREE / "share" / "ridgebench" if TREE.is_dir() else _PACKAGE.parents[1]
SHEETS = ROOT / "roofline" / "devices"
