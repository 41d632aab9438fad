"""A headless Chromium, driven by its DevTools protocol over a pipe: real keys, mouse, media and screenshots."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Optional

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Home": 36, "End": 35, "Tab": 9, "Enter": 13,
        "PageUp": 33, "PageDown": 34}
SHIFT = 8
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
         "--remote-debugging-pipe", "--no-first-run")  # root has no sandbox


class Browser:
    """One page of one process. `requests` has what the page loaded, `errors` its exceptions and refused requests."""

    def __init__(self, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'  # the protocol's pipes are 3 and 4
        command = ["/bin/bash", "-c", shell, PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self._process = subprocess.Popen(command, pass_fds=(to_browser, from_browser), **silent)
        os.close(to_browser), os.close(from_browser)
        self._buffer, self._number, self._session, self._loaded = b"", 0, None, False
        self.requests: list[str] = []
        self.errors: list[str] = []
        page = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)  # a headless window is else not the active one

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)  # the browser ends with its pipe
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._read, 1 << 20)
            assert data, "Chromium ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def _note(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(str(details.get("exception", {}).get("description") or details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the protocol; returns its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        command |= {"sessionId": self._session} if self._session else {}
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def prefer(self, scheme: str) -> None:
        """The user's colour scheme: light or dark."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path: Path, width: int = 1280, height: int = 1000) -> None:
        """Loads a file, and waits until its scripts have run."""
        self.requests.clear(), self.errors.clear()
        self.prefer("light")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        self.navigate(path)

    def navigate(self, path: Path, fragment: str = "") -> None:
        """Goes to a file, and waits until it is loaded; with a fragment from an empty page, so that it is loaded anew."""
        if fragment:
            self.visit("about:blank")
        self.visit(path.resolve().as_uri() + fragment)

    def visit(self, url: str) -> None:
        """Goes to another page than the present one, and waits until it is loaded."""
        self._loaded = False
        self.send("Page.navigate", url=url)
        while not self._loaded:
            self._note(self._message())

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, modifiers: int = 0) -> None:
        """Presses and releases a key."""
        known = {"windowsVirtualKeyCode": KEYS.get(key, ord(key[0])), "key": key, "modifiers": modifiers}
        if len(key) == 1:
            known["text"] = key
        elif key == "Enter":
            known["text"] = "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", **known)
        self.send("Input.dispatchKeyEvent", type="keyUp", **known)

    def point_at(self, x: float, y: float, button: str = "none") -> None:
        """Moves the mouse; with a button, clicks."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if button != "none" else ():
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def swipe(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Moves a finger over the page."""
        self.send("Emulation.setTouchEmulationEnabled", enabled=True)
        (x, y), (to_x, to_y) = start, end
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchMove", [{"x": to_x, "y": to_y}]), ("touchEnd", [])):
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.send("Emulation.setTouchEmulationEnabled", enabled=False)

    def printed(self) -> bytes:
        """The page as PDF, in the paper size of its style."""
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def screenshot(self, path: Optional[Path] = None) -> bytes:
        """The window as PNG."""
        picture = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        if path:
            path.write_bytes(picture)
        return picture
