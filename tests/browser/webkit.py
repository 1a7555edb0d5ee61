"""WebKitGTK, Safari's engine, driven over WebDriver: a local port, and a screen in memory. Standard library only."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

from chromium import PATIENCE, Failure

# In this locale WebKitGTK reports a language to pages that does not exist.
LANGUAGE = {"LC_ALL": "C.UTF-8"}
# Nothing is fetched: every request goes to a port at which no program listens.
OFFLINE = {"proxyType": "manual", "httpProxy": "127.0.0.1:9", "sslProxy": "127.0.0.1:9"}


class WebKit:
    """One browser with one page."""

    def __init__(self, display: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            ["WebKitWebDriver", f"--port={self.port}"], env=os.environ | LANGUAGE | {"DISPLAY": display},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.session = ""
        try:
            self.session = "/" + self.begin()["sessionId"]
            self.call("POST", "timeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)
        except BaseException:
            self.close()
            raise

    def begin(self) -> dict:
        """A session, as soon as the driver gives one."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self.call("POST", "", capabilities={"alwaysMatch": {"proxy": OFFLINE}})
            except ConnectionRefusedError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Failure("WebKitWebDriver does not start") from None
                time.sleep(0.2)

    def call(self, method: str, command: str, **params):
        """Sends a command and waits for its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2 * PATIENCE)
        path = f"/session{self.session}/{command}".rstrip("/")
        connection.request(method, path, json.dumps(params) if method == "POST" else None)
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(value, dict) and "error" in value:
            raise Failure(f"{command}: {value['error']}: {value.get('message')}")
        return value

    def open(self, url: str) -> None:
        """Opens a page anew, even if only what follows its `#` is another."""
        self.call("POST", "url", url="about:blank")
        self.call("POST", "url", url=url)

    def evaluate(self, expression: str):
        """The value of a JavaScript expression in the page."""
        # Indirect `eval` finds the names of the page's scripts.
        script = """const done = arguments[arguments.length - 1];
          new Promise((give) => give((0, eval)(arguments[0])))
            .then((value) => done({ value }), (error) => done({ error: String(error) }));"""
        answer = self.call("POST", "execute/async", script=script, args=[expression])
        if "error" in answer:
            raise Failure(f"in the page: {answer['error']}")
        return answer.get("value")

    def window(self, width: int) -> None:
        """Makes the window so wide."""
        self.call("POST", "window/rect", width=width, height=900)

    def screenshot(self, file: pathlib.Path) -> None:
        """Writes a picture of what the window shows."""
        file.write_bytes(base64.b64decode(self.call("GET", "screenshot")))

    def close(self) -> None:
        """Ends the browser."""
        if self.session:
            with contextlib.suppress(Failure, OSError, http.client.HTTPException):
                self.call("DELETE", "")
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def webkit() -> Iterator[WebKit]:
    """A browser on a screen of its own, while it is needed. Raises Failure where there is none."""
    if not all(map(shutil.which, ("WebKitWebDriver", "Xvfb"))):
        raise Failure("there is no WebKitGTK; on Debian: python3 tests/debian.py webkit")
    reader, writer = os.pipe()
    # It prints the number of the first free screen.
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    screen = subprocess.Popen(command, pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with open(reader) as number:
            browser = WebKit(f":{number.readline().strip()}")
        try:
            yield browser
        finally:
            browser.close()
    finally:
        screen.terminate()
        screen.wait()
