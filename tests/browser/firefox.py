"""Headless Firefox, driven by its Marionette protocol over a local port. Standard library only."""

import base64
import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

from chromium import PATIENCE, Failure

NAMES = ("firefox-esr", "firefox")
# Nothing is fetched: every request goes to a port at which no program listens.
SETTINGS = {
    "marionette.port": 0, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False, "toolkit.telemetry.enabled": False,
    "browser.tabs.remote.autostart": True, "dom.ipc.processCount": 1,
}  # fmt: skip


class Firefox:
    """One Firefox with one page."""

    def __init__(self, program: str, profile: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = SETTINGS | {"marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in settings.items()]
        pathlib.Path(profile, "user.js").write_text("".join(lines))
        command = [program, "--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = self.connect(port)
        self.buffer = b""
        self.last = 0
        self.receive()
        self.call("WebDriver:NewSession")
        self.call("WebDriver:SetTimeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)

    def connect(self, port: int) -> socket.socket:
        """The connection, as soon as Firefox takes it."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Failure("Firefox does not start") from None
                time.sleep(0.2)

    def call(self, method: str, **params):
        """Sends a command and waits for its answer."""
        self.last += 1
        message = json.dumps([0, self.last, method, params]).encode()
        self.socket.sendall(f"{len(message)}:".encode() + message)
        _, _, error, result = self.receive()
        if error:
            raise Failure(f"{method}: {error.get('message')}")
        return result.get("value") if isinstance(result, dict) else result

    def receive(self):
        """The next message: its length, a colon, JSON."""
        def more():
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise Failure("Firefox ended")
            self.buffer += piece

        while b":" not in self.buffer:
            more()
        length, _, rest = self.buffer.partition(b":")
        while len(rest) < int(length):
            more()
            rest = self.buffer.partition(b":")[2]
        self.buffer = rest[int(length) :]
        return json.loads(rest[: int(length)])

    def open(self, url: str) -> None:
        """Opens a page."""
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:Navigate", url=url)

    def evaluate(self, expression: str):
        """The value of a JavaScript expression in the page."""
        # The page's names belong to its scripts; only `eval` in its own scope finds them all.
        script = """const done = arguments[arguments.length - 1];
          Promise.resolve(window.wrappedJSObject ? window.wrappedJSObject.eval(arguments[0]) : window.eval(arguments[0]))
            .then((value) => done({ value }), (error) => done({ error: String(error) }));"""
        answer = self.call("WebDriver:ExecuteAsyncScript", script=script, args=[expression], sandbox=None, newSandbox=False)
        if "error" in answer:
            raise Failure(f"in the page: {answer['error']}")
        return answer.get("value")

    def window(self, width: int) -> None:
        """Makes the window so wide."""
        self.call("WebDriver:SetWindowRect", width=width, height=900)

    def screenshot(self, file: pathlib.Path) -> None:
        """Writes a picture of the whole page."""
        file.write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=True)))

    def close(self) -> None:
        """Ends the browser."""
        with contextlib.suppress(Failure, OSError):
            self.call("Marionette:Quit", flags=["eForceQuit"])
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.socket.close()


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """A browser with a profile of its own, while it is needed. Raises Failure where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        raise Failure("there is no Firefox; on Debian: python3 tests/debian.py firefox")
    with tempfile.TemporaryDirectory(prefix="sluice-firefox-", ignore_cleanup_errors=True) as profile:
        browser = Firefox(program, profile)
        try:
            yield browser
        finally:
            browser.close()
