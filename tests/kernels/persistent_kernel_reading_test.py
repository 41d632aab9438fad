"""How many files a reader of the persistent Hopper kernel opens."""

import re

from golden import ROOT

KERNEL = "kernels/matmul/hopper/wgmma_persistent.cu"
MOST_FILES = 18
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# The interface between kernels and harness, which has no device code.
SHARED_WITH_THE_HOST = re.compile(r"kernels/common/\w+\.hpp")


def included_from(name: str) -> set[str]:
    """The file and all project files that it includes, directly or not."""
    found, unread = set(), [name]
    while unread:
        name = unread.pop()
        if name not in found:
            found.add(name)
            unread += INCLUDE.findall((ROOT / name).read_text())
    return found


def test_the_persistent_kernel_is_read_in_few_files():
    files = {name for name in included_from(KERNEL) if not SHARED_WITH_THE_HOST.fullmatch(name)}
    assert all(name.startswith("kernels/") for name in files)
    assert len(files) <= MOST_FILES, sorted(files)
