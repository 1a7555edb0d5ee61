"""Headless Chromium, driven over its debugging pipe, so that no port is opened. Standard library only."""

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
]  # fmt: skip
# Fetching must fail.
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9"]
PATIENCE = 120


class Failure(Exception):
    """The browser did not do what it was asked to."""


class Browser:
    """One Chromium with one page, spoken to over file descriptors 3 and 4."""

    def __init__(self, program: str, profile: str, flags: list[str]) -> None:
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def connect() -> None:
            # The copies' numbers are far above 3 and 4, which either end may already use.
            high = [os.dup2(to_browser, 100), os.dup2(from_browser, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, *flags, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.events: list[dict] = []
        self.last = 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params) -> dict:
        """Sends a command and waits for its answer; events on the way are kept."""
        number = self.send(method, params)
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(end)
            if answer.get("id") != number:
                self.events.append(answer)
                if answer.get("method") == "Page.javascriptDialogOpening":
                    # The page does not move until it is closed.
                    self.send("Page.handleJavaScriptDialog", {"accept": False})
            elif "error" in answer:
                raise Failure(f"{method}: {answer['error'].get('message')}")
            else:
                return answer["result"]

    def send(self, method: str, params: dict) -> int:
        """Sends a command and returns its number."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        return self.last

    def receive(self, end: float) -> dict:
        """The next message."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reader], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self.reader, 1 << 16) if ready else b""
            if not piece:
                raise Failure("Chromium ended" if ready else f"Chromium did not answer within {PATIENCE} s")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, url: str) -> None:
        """Opens a page anew, even if only what follows its `#` is another."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def evaluate(self, expression: str):
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failure(f"in the page: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def close(self) -> None:
        """Ends the browser."""
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def chromium(online: bool = False) -> Iterator[Browser]:
    """A browser with a profile of its own, while it is needed. Raises Failure where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        raise Failure("there is no Chromium; on Debian: python3 tests/debian.py browser")
    with tempfile.TemporaryDirectory(prefix="sluice-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile, [] if online else OFFLINE)
        try:
            yield browser
        finally:
            browser.close()


def window(browser: Browser, width: int, scheme: str, scale: int = 1) -> None:
    """Makes the window `width` px wide, in a colour scheme; below 640 px it is a phone."""
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.call("Emulation.setEmulatedMedia", media="screen", features=media)
    phone = width < 640
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=2 if phone else scale, mobile=phone
    )


def open_drawn(browser: Browser, url: str) -> None:
    """Opens a report; returns when its script has drawn everything or given up."""
    browser.call("Page.navigate", url=url)
    end = time.monotonic() + PATIENCE
    while not browser.evaluate("document.documentElement?.dataset.charts || ''"):
        if time.monotonic() > end:
            return
        time.sleep(0.05)


def screenshot(browser: Browser, file: pathlib.Path, height: float | None = None) -> None:
    """Writes a picture of the page, all of it or its top."""
    size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
    # Chromium cannot draw a higher picture in one piece.
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(height or size["height"], 12000), "scale": 1}
    shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    file.write_bytes(base64.b64decode(shot["data"]))
