"""The table of peaks: data sheets of devices, by every name that software prints for a device (docs/peaks.md).

This package needs no other package and starts no program. Its numbers are those of `ridgebench info --on DEVICE --json`.
"""
