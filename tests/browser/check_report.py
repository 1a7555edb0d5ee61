#!/usr/bin/env python3
"""Opens a report in headless Chromium and checks what a reader would see.

    check_report.py REPORT.html [SCREENSHOTS]

Checked, at 360 and 1280 pixels, in light and dark: the page's script runs without an error, nothing
but the file itself is asked for, every chart is drawn, the page is not wider than the window, texts
of the charts stand out from the page. On paper: every chart is there, in light. Exit status: 0 all
is well, 1 something is not, 2 there is no Chromium or no report.

Standard library only. Chromium is driven over its debugging pipe, so that no port is opened.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

INSTALL = "apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
    # Whatever would be fetched cannot be.
    "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9",
]  # fmt: skip
PATIENCE = 120

# How the page looks from inside. Contrast is that of WCAG 2: 4.5 for text, 3 for lines.
LOOK = """(() => {
  // Drawn and read back, because browsers write mixed colours in many ways.
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (text) => {
    brush.fillStyle = text;
    brush.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...brush.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = (colour) => {
    const front = luminance(colour);
    return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  };
  const data = JSON.parse(document.getElementById("data").textContent);
  const plots = [...document.querySelectorAll(".plot")].map((plot) => {
    const svg = plot.querySelector("svg");
    const texts = [...plot.querySelectorAll("svg text")];
    const strokes = [...plot.querySelectorAll(".mark-line.role-mark path")];
    const box = svg && svg.getBoundingClientRect();
    return {
      id: plot.id,
      width: box ? box.width : 0, height: box ? box.height : 0, room: plot.clientWidth,
      marks: [...plot.querySelectorAll(".role-mark > path")].filter((p) => (p.getAttribute("d") || "").length > 4).length,
      broken: /NaN|Infinity|undefined/.test(plot.innerHTML),
      labels: texts.length,
      faintest_text: Math.min(21, ...texts.map((t) => contrast(getComputedStyle(t).fill))),
      faintest_line: Math.min(21, ...strokes.map((p) => contrast(getComputedStyle(p).stroke))),
    };
  });
  return {
    state: document.documentElement.dataset.charts || "", dark: back < 0.2, plots,
    expected: data.pictures.flatMap((p) => p.panels.map((_, k) => `${p.id}-${k}`)),
    figures: document.querySelectorAll("figure").length, sentences: document.querySelectorAll("figure > .empty").length,
    pictures: data.pictures.length, window: document.documentElement.clientWidth,
    width: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
    headings: [...document.querySelectorAll("h1, h2, h3, h4")].map((h) => Number(h.tagName[1])),
  };
})()"""


class Failure(Exception):
    """The browser did not do what it was asked to."""


class Browser:
    """One Chromium with one page, spoken to over file descriptors 3 and 4."""

    def __init__(self, program: str, profile: str) -> None:
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def connect() -> None:
            # Through copies far above 3 and 4, which either end may be already.
            high = [os.dup2(to_browser, 100), os.dup2(from_browser, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
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
                    # The page stands still until it is closed.
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


def messages(events: list[dict], url: str) -> list[str]:
    """What went wrong in the page, and what it asked for beside itself."""
    found = []
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            found.append(f"exception: {details.get('exception', {}).get('description', details['text'])}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            values = [str(a.get("value", a.get("description"))) for a in params["args"]]
            found.append(f"console: {' '.join(values)}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            found.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            asked = params["request"]["url"]
            if asked.split("#")[0] != url and not asked.startswith("data:"):
                found.append(f"fetches {asked[:100]}")
        elif method == "Page.javascriptDialogOpening":
            found.append(f"opens a dialog: {params.get('message')}")
    return found


def faults(look: dict, width: int, dark: bool) -> list[str]:
    """What a reader would miss."""
    found = []
    if look["state"] != "drawn":
        found.append(f"the script ended as '{look['state'] or 'not finished'}'")
    if look["dark"] != dark:
        found.append("the page does not follow the colour scheme")
    if look["window"] != width or look["width"] > width:
        found.append(f"the page is {look['width']} px wide in a window of {look['window']} px")
    if [plot["id"] for plot in look["plots"]] != look["expected"]:
        found.append("the places for charts are not those of the data")
    if look["pictures"] + look["sentences"] != look["figures"]:
        found.append(f"{look['figures']} figures, but {look['pictures']} charts and {look['sentences']} sentences")
    headings = look["headings"]
    if headings[:1] != [1] or any(b > a + 1 for a, b in zip(headings, headings[1:])):
        found.append(f"heading levels {headings}")
    for plot in look["plots"]:
        wrong = []
        if not plot["marks"] or not plot["labels"] or plot["height"] < 100:
            wrong.append("is not drawn")
        if plot["broken"]:
            wrong.append("has marks at no number")
        if not 0.9 * plot["room"] <= plot["width"] <= plot["room"] + 1:
            wrong.append(f"is {plot['width']} px wide where there are {plot['room']}")
        if plot["faintest_text"] < 4.5 or plot["faintest_line"] < 3:
            wrong.append(f"is faint: text {plot['faintest_text']:.1f}, lines {plot['faintest_line']:.1f}")
        found += [f"{plot['id']} {reason}" for reason in wrong]
    return found


def wait_until_drawn(browser: Browser) -> None:
    """Returns when the page's script has drawn everything or given up."""
    end = time.monotonic() + PATIENCE
    while not browser.evaluate("document.documentElement?.dataset.charts || ''"):
        if time.monotonic() > end:
            return
        time.sleep(0.05)


def hover_and_toggle(browser: Browser) -> list[str]:
    """The values under the pointer appear, and a press on the legend hides a line."""
    found = []
    middle = """(() => { const p = document.querySelector('.plot'); p.scrollIntoView({block: 'center'});
      const b = p.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"""
    x, y = browser.evaluate(middle)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    if not browser.evaluate("document.querySelectorAll('.plot .tip tr').length"):
        found.append("no values appear under the pointer")
    toggle = """(() => { const b = document.querySelector('.legend button'); if (!b) return true;
      const seen = () => [...b.closest('figure').querySelectorAll('.role-mark')]
        .filter((m) => getComputedStyle(m).display !== 'none').length;
      const before = seen(); b.click(); const hidden = seen(); b.click();
      return hidden < before && seen() === before; })()"""
    if not browser.evaluate(toggle):
        found.append("the legend hides no line")
    return found


# Clicks a button of a figure and gives what would be saved: name, type, and the picture itself.
SAVE = """(format) => new Promise((done) => {
  const made = [];
  URL.createObjectURL = (blob) => { made.push(blob); return "data:,"; };
  HTMLAnchorElement.prototype.click = async function () {
    const blob = made.pop();
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    done({ name: this.download, type: blob.type, content: btoa(text) });
  };
  const button = [...document.querySelectorAll(".save button")].find((b) => b.textContent === format);
  if (!button) done(null);
  else button.click();
})"""


def saved(browser: Browser, folder: pathlib.Path | None) -> list[str]:
    """The first figure can be saved as SVG and as PNG, in light colours, and stands by itself."""
    found = []
    size = browser.evaluate(
        """(() => { const f = document.querySelector(".save").closest("figure");
          const l = f.querySelector(".legend") ?? f.querySelector(".panels");
          const p = f.querySelector(".panels").getBoundingClientRect();
          return [p.right - Math.min(p.left, l.getBoundingClientRect().left), p.bottom - l.getBoundingClientRect().top]
            .map(Math.ceil); })()"""
    )
    for kind in ("SVG", "PNG"):
        got = browser.evaluate(f"({SAVE})({kind!r})")
        if not got or not got["name"].endswith(f".{kind.lower()}"):
            found.append(f"saves no {kind}: {got and got['name']}")
            continue
        content = base64.b64decode(got["content"])
        if folder:
            (folder / f"saved.{kind.lower()}").write_bytes(content)
        if kind == "SVG":
            text = content.decode()
            root = xml.etree.ElementTree.fromstring(text)
            texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text") if node.text]
            if "var(" in text or "NaN" in text or len(texts) < 5 or 'fill="#ffffff"' not in text:
                found.append(f"the SVG does not stand by itself: {len(texts)} texts")
        elif content[:8] != b"\x89PNG\r\n\x1a\n" or list(struct.unpack(">II", content[16:24])) != [3 * s for s in size]:
            found.append(f"the PNG is no picture of three times {size}")
    return found


def screenshot(browser: Browser, file: pathlib.Path) -> None:
    """Writes a picture of the whole page."""
    size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
    # Higher pictures than this exceed what Chromium draws in one piece.
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
    shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    file.write_bytes(base64.b64decode(shot["data"]))


def check(browser: Browser, report: pathlib.Path, folder: pathlib.Path | None) -> list[str]:
    """All checks; returns what is wrong."""
    url = report.resolve().as_uri()
    found = []
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
    for width in (1280, 360):
        for scheme in ("light", "dark"):
            name = f"{scheme}-{width}"
            media = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.call("Emulation.setEmulatedMedia", media="screen", features=media)
            phone = {"deviceScaleFactor": 2 if width == 360 else 1, "mobile": width == 360}
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, **phone)
            started = time.monotonic()
            browser.call("Page.navigate", url=url)
            wait_until_drawn(browser)
            took = time.monotonic() - started
            look = browser.evaluate(LOOK)
            wrong = faults(look, width, scheme == "dark")
            print(f"{name}: {len(look['plots'])} panels in {look['figures']} figures, drawn in {took:.1f} s")
            if folder:
                screenshot(browser, folder / f"{name}.png")
            if look["plots"] and not wrong and width == 1280:
                wrong = hover_and_toggle(browser) + saved(browser, folder)
            found += [f"{name}: {fault}" for fault in wrong]
    found += paper(browser, folder)
    return found + messages(browser.events, url)


def paper(browser: Browser, folder: pathlib.Path | None) -> list[str]:
    """Prints the page as it stands, narrow and dark, which is the hardest case."""
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.call("Emulation.setEmulatedMedia", media="print", features=dark)
    look = browser.evaluate(LOOK)
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=False)["data"])
    if folder:
        (folder / "print.pdf").write_bytes(pdf)
    found = [f"print: {plot['id']} is missing" for plot in look["plots"] if plot["height"] < 100 or not plot["marks"]]
    if look["dark"]:
        found.append("print: the page is dark")
    if not pdf.startswith(b"%PDF") or len(pdf) < 5000:
        found.append("print: no document")
    return found


def main() -> int:
    """Runs the checks of the report named on the command line."""
    if len(sys.argv) not in (2, 3):
        print("usage: check_report.py REPORT.html [SCREENSHOTS]", file=sys.stderr)
        return 2
    report = pathlib.Path(sys.argv[1])
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else None
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        print(f"check_report: no Chromium; on Debian: {INSTALL}", file=sys.stderr)
        return 2
    if not report.is_file():
        print(f"check_report: no file {report}", file=sys.stderr)
        return 2
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sluice-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            found = check(browser, report, folder)
        except Failure as failure:
            found = [str(failure)]
        finally:
            browser.close()
    for fault in dict.fromkeys(found):
        print(f"FAILED {fault}", file=sys.stderr)
    print(f"{report}: {'FAILED' if found else 'ok'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
