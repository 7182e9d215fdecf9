"""A headless chromium, driven by its own protocol over two pipes: pages are opened, keys pressed, pictures taken."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
_PATIENCE_S = 30.0
_HELD = {"": 0, "Alt": 1, "Shift": 8}
_KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), " ": ("Space", 32, " ")}


class Chromium:
    """One tab. What a page logs as an error, and what its policy refuses, is in ``errors``."""

    def __init__(self, program: str, folder: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        here, theirs = os.pipe(), os.pipe()  # from the browser, to the browser
        command = [
            program, *_OPTIONS, "--remote-debugging-pipe", f"--window-size={width},{height}",
            f"--user-data-dir={folder / 'profile'}", "about:blank",
        ]  # fmt: skip

        def as_3_and_4() -> None:
            read, write = os.dup(theirs[0]), os.dup(here[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            command, pass_fds=(3, 4, theirs[0], here[1]), preexec_fn=as_3_and_4, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True,
        )  # fmt: skip
        os.close(theirs[0])
        os.close(here[1])
        self._from, self._to = here[0], theirs[1]
        self._number, self._session, self._rest = 0, "", b""
        self.errors: list[str] = []
        target = self._call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in target if one["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(width, height)
        self.prefer_dark(dark)

    def resize(self, width: int, height: int = 900) -> None:
        """Show pages in a window of this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def prefer_dark(self, is_so: bool) -> None:
        """Show pages in the dark colours, or in the light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if is_so else "light"}]
        self._call("Emulation.setEmulatedMedia", features=features)

    def trust_every_certificate(self) -> None:
        """Open pages of services whose certificate signs itself."""
        self._call("Security.setIgnoreCertificateErrors", ignore=True)

    def save_downloads(self, folder: Path) -> None:
        """Save what is downloaded into a folder, under the names that the server gives."""
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def open(self, address: str) -> None:
        """Open a page and wait until its scripts ran."""
        self._call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true, through changes of the page."""
        self._until(lambda: self._is_true(expression), expression)

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Wait until something outside the page is so."""
        self._until(is_so, "what was waited for")

    def press(self, *keys: str) -> None:
        """Press keys, one after another, once the scripts of the page ran; ``Alt+p`` and ``Shift+Enter`` hold a key."""
        self.wait("document.readyState === 'complete'")
        for pressed in keys:
            held, _, key = pressed.rpartition("+")
            code, number, text = _KEYS[key] if key in _KEYS else (f"Key{key.upper()}", ord(key.upper()), key)
            about = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": _HELD[held]}
            self._call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
            self._call("Input.dispatchKeyEvent", type="keyUp", **about)

    def write(self, text: str) -> None:
        """Write into the field that has the focus."""
        self._call("Input.insertText", text=text)

    def screenshot(self, path: Path) -> Path:
        """Take a picture of what is shown, as PNG, or as WebP with losses."""
        kind = {"format": "webp", "quality": 60} if path.suffix == ".webp" else {"format": "png"}
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", **kind)["data"]))
        return path

    def pdf(self, path: Path) -> Path:
        """Print the page."""
        path.write_bytes(base64.b64decode(self._call("Page.printToPDF")["data"]))
        return path

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._from)
        os.close(self._to)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _is_true(self, expression: str) -> bool:
        answer = self._call("Runtime.evaluate", expression=f"Boolean({expression})", may_fail=True)
        return answer.get("result", {}).get("value") is True

    def _until(self, is_so: Callable[[], bool], what: str) -> None:
        given_up_at = time.monotonic() + _PATIENCE_S
        while not is_so():
            assert time.monotonic() < given_up_at, f"not true within {_PATIENCE_S:g} s: {what}"
            time.sleep(0.01)

    def _call(self, method: str, *, may_fail: bool = False, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert may_fail or "error" not in answer, (method, answer.get("error"))
                return answer.get("result", {})
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        if event.get("method") == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(about["exceptionDetails"]))

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
