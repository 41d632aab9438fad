"""How a test waits: for an event, however long a loaded machine takes. The only limit is ctest's TIMEOUT of the whole file,
and pytest.ini has pytest print the place of a wait before that."""

import subprocess
import time
from typing import Callable, Optional, TypeVar

Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found], process: Optional[subprocess.Popen] = None) -> Found:
    """Returns the first true value of the condition. The end of the process that is to make it true is a failure."""
    while True:
        ended = process is not None and process.poll() is not None
        if found := condition():
            return found
        assert not ended, f"the process ended first, with {process.returncode}"
        time.sleep(0.01)
