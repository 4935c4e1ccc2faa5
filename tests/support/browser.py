"""A headless Chromium for tests of pages, driven through a pipe by its DevTools protocol.

``CHROMIUM`` names the program; without it one of the usual names is looked for on the path. Pages
forbid scripts that are not their own, so that a test cannot look at them from the inside: the
protocol evaluates beside them.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from fcntl import F_DUPFD, fcntl
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FIRST_SECONDS, SECONDS = 60.0, 600.0  # to wait for the first answer, and for others
# The browser reads its orders from descriptor 3 and answers on 4.
WIRED = "import os, sys; os.dup2({0}, 3); os.dup2({1}, 4); os.execvp(sys.argv[1], sys.argv[1:])"


def find_chromium() -> str | None:
    """Return the program to run, or ``None`` where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class NoAnswerError(RuntimeError):
    """The browser does not answer."""


class Browser:
    """A running browser; a context manager."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        (orders, self._orders), (self._answers, answers) = os.pipe(), os.pipe()
        high = [fcntl(end, F_DUPFD, 10) for end in (orders, answers)]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                WIRED.format(*high),
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={self._folder.name}",
            ],
            pass_fds=high,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (orders, answers, *high):
            os.close(end)
        self._count = 0
        self._seconds = FIRST_SECONDS
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(FIRST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._orders)
        os.close(self._answers)
        self._folder.cleanup()

    def answers(self) -> bool:
        """Return whether this is a browser: elsewhere the program says how to install one."""
        try:
            self.call("Browser.getVersion")
        except (NoAnswerError, BrokenPipeError):
            return False
        self._seconds = SECONDS
        return True

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Give an order and return its result; messages that come before it go to `events`."""
        self._count += 1
        order: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            order["sessionId"] = session
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") != self._count:
                self.events.append(message)
            elif "error" in message:
                raise RuntimeError(f"{method}: {message['error']['message']}")
            else:
                result: dict[str, Any] = message["result"]
                return result

    def wait_for(self, method: str, session: str) -> None:
        """Wait until something happens, unless it has."""
        while not any(
            event.get("method") == method and event.get("sessionId") == session
            for event in self.events
        ):
            self.events.append(self._read())

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + self._seconds
        while b"\0" not in self._rest:
            left = max(0.0, until - time.monotonic())
            ready, _, _ = select.select([self._answers], [], [], left)
            part = os.read(self._answers, 1 << 20) if ready else b""
            if not part:
                raise NoAnswerError
            self._rest += part
        line, self._rest = self._rest.split(b"\0", maxsplit=1)
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, url: str, **options: Any) -> Page:
        """Open a page; the options are those of `Page`."""
        return Page(self, url, **options)


class Page:
    """A page in a window of its own.

    Parameters
    ----------
    browser, url
        Where, and what.
    width, height
        Of the window, in pixels.
    scheme
        What the user prefers, ``"light"`` or ``"dark"``.
    scripts
        Whether the page may run scripts.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        width: int = 1100,
        height: int = 900,
        scheme: str = "light",
        scripts: bool = True,
    ) -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", features=features)
        self._call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self._call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self._session)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page, as JSON can hold it."""
        found = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def point_at(self, selector: str) -> None:
        """Move the mouse over the first element of a selector."""
        x, y = self.evaluate(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
            ".getClientRects()[0]; return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click on the first element of a selector."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def allow(self, permission: str) -> None:
        """Grant a permission to all pages."""
        self._browser.call("Browser.grantPermissions", permissions=[permission])

    def screenshot(self) -> bytes:
        """Return a picture of the window, as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def pdf(self) -> bytes:
        """Return the page as it is printed."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def _events(self, method: str) -> list[dict[str, Any]]:
        self.evaluate("0")  # everything that happened before is known after
        return [
            event["params"]
            for event in self._browser.events
            if event.get("method") == method and event.get("sessionId") == self._session
        ]

    def problems(self) -> list[str]:
        """Return all complaints so far: errors, violations of the policy, uncaught exceptions."""
        found = [event["entry"]["text"] for event in self._events("Log.entryAdded")]
        found += [
            str(event["exceptionDetails"]) for event in self._events("Runtime.exceptionThrown")
        ]
        found += [str(event["args"]) for event in self._events("Runtime.consoleAPICalled")]
        return found

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for, its own included, and was not refused."""
        failed = self._events("Network.loadingFailed")
        refused = {event["requestId"] for event in failed if event.get("blockedReason")}
        asked = self._events("Network.requestWillBeSent")
        return [e["request"]["url"] for e in asked if e["requestId"] not in refused]
