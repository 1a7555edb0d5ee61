#!/usr/bin/env python3
"""Opens a report in headless Chromium and checks what a reader would see.

    check_report.py REPORT.html [SCREENSHOTS]

Checked, at 360, 400 and 1280 pixels, in light and dark: the page's script runs without an error,
nothing but the file itself is asked for, every chart is drawn, the page is not wider than the window
and at 1280 pixels no table is wider than the page,
texts of the charts stand out from the page; each experiment begins with its answer and a chart, claims
that do not hold are open and the others folded, each count filters the claims. On paper: every chart
and claim is there, in light. Without scripts, and under the policy with which Jenkins serves files: every
chart is there as a picture with lines, labels and colours. Exit status: 0 all is well, 1 something is not, 2 there is no Chromium or
no report.
"""

import base64
import contextlib
import http.server
import pathlib
import struct
import sys
import threading
import time
import xml.etree.ElementTree
from collections.abc import Iterator

from chromium import Browser, Failure, chromium, open_drawn, screenshot, window

# The page as it looks. Contrast is that of WCAG 2: 4.5 for text, 3 for lines.
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
    // What begins a study, in order: the answer, its chart, the counts of verdicts, the claims.
    studies: [...document.querySelectorAll(".study:has(.facts)")].filter((s) => s.querySelector(".id")).map((study) => ({
      id: study.querySelector(".id").textContent,
      order: [...study.querySelectorAll(":scope > .answer, :scope > figure, :scope > .tally, :scope > .claims, :scope > .rest")]
        .map((part) => part.classList[0] || part.tagName.toLowerCase()),
      open: study.querySelectorAll(":scope > .claims > .claim").length,
      failing: study.querySelectorAll(".claim:is([data-verdicts~=differs], [data-verdicts~=not-confirmed])").length,
      folded: [...study.querySelectorAll(".rest")].every((rest) => !rest.open),
    })),
    // Parts that only scrolling shows.
    hidden: [...document.querySelectorAll(".scroll")].filter((part) => part.scrollWidth > part.clientWidth + 1).length,
    answer: document.querySelector(".answer")?.getBoundingClientRect().top ?? null,
    statement: Math.min(1e4, ...[...document.querySelectorAll(".claim th")].map((th) => th.clientWidth).filter((w) => w)),
  };
})()"""


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
    if look["answer"] is not None and look["answer"] > 300:
        found.append(f"the first answer begins at {look['answer']:.0f} px")
    if width >= 1280 and look["hidden"]:
        found.append(f"{look['hidden']} tables are wider than the page")
    if look["statement"] < 240:
        found.append(f"statements of claims have {look['statement']} px")
    for study in look["studies"]:
        order = study["order"]
        first = [part for part, before in zip(order, ["", *order]) if part != before]
        wanted = ["answer", *(part for part in ("figure", "tally", "claims", "rest", "figure") if part in order)]
        if first not in (wanted, wanted[:-1]):
            found.append(f"{study['id']} begins with {', '.join(first)}")
        if study["open"] != study["failing"] or not study["folded"]:
            found.append(f"{study['id']}: {study['open']} claims are open where {study['failing']} do not hold")
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


# Presses each count. Returns those that leave another number of verdicts, and whether a second press shows all.
FILTER = """(() => {
  const claims = [...document.querySelectorAll(".claim")];
  const shown = () => claims.filter((claim) => claim.checkVisibility());
  const wrong = [];
  const before = shown().length;
  for (const button of document.querySelectorAll(".study .tally button, nav .tally button")) {
    const { verdict, origin } = button.dataset;
    const within = button.closest(".study") ?? document;
    const wanted = [...within.querySelectorAll(`.claim[data-verdicts~=${verdict}][data-origin=${origin}]`)];
    button.click();
    const left = shown();
    const verdicts = wanted.flatMap((claim) => [...claim.querySelectorAll(".tag")]).filter((tag) => tag.dataset.verdict === verdict);
    const good = wanted.every((claim) => left.includes(claim)) && verdicts.length === parseInt(button.lastChild.textContent)
      && left.every((claim) => claim.dataset.verdicts.split(" ").includes(verdict) && claim.dataset.origin === origin);
    if (!good || button.getAttribute("aria-pressed") !== "true") wrong.push(button.textContent);
    button.click();
    if (shown().length !== before) wrong.push(`${button.textContent}, pressed twice`);
  }
  return wrong;
})()"""


def filters(browser: Browser) -> list[str]:
    """Each count of verdicts shows the claims that it counts, and no other."""
    return [f"'{count}' does not filter the claims" for count in browser.evaluate(FILTER)]


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


# Clicks a button of a figure and returns what would be saved: name, type, and the picture.
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


def check(browser: Browser, report: pathlib.Path, folder: pathlib.Path | None) -> list[str]:
    """All checks; returns what is wrong."""
    url = report.resolve().as_uri()
    found = []
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
    for width in (1280, 400, 360):
        for scheme in ("light", "dark"):
            name = f"{scheme}-{width}"
            window(browser, width, scheme)
            started = time.monotonic()
            open_drawn(browser, url)
            took = time.monotonic() - started
            look = browser.evaluate(LOOK)
            wrong = faults(look, width, scheme == "dark")
            print(f"{name}: {len(look['plots'])} panels in {look['figures']} figures, drawn in {took:.1f} s")
            if folder:
                screenshot(browser, folder / f"{name}.png")
            if not wrong:
                wrong = filters(browser)
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
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    hidden = browser.evaluate("[...document.querySelectorAll('.claim')].filter((claim) => !claim.checkVisibility()).length")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=False)["data"])
    if folder:
        (folder / "print.pdf").write_bytes(pdf)
    found = [f"print: {plot['id']} is missing" for plot in look["plots"] if plot["height"] < 100 or not plot["marks"]]
    if look["dark"]:
        found.append("print: the page is dark")
    if hidden:
        found.append(f"print: {hidden} claims are folded")
    if not pdf.startswith(b"%PDF") or len(pdf) < 5000:
        found.append("print: no document")
    return found


# Jenkins sends this policy with files of a build: no script, and styles only from files next to it.
POLICY = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"


@contextlib.contextmanager
def served(report: pathlib.Path) -> Iterator[str]:
    """The address at which the report is served under this policy."""
    content = report.read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        """Answers every request with the report."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing is written."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/report.html"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def unscripted(report: pathlib.Path, folder: pathlib.Path | None) -> list[str]:
    """Every chart is there where no script runs."""
    found = []
    with chromium() as browser, served(report) as address:
        window(browser, 1280, "light")
        browser.call("Page.navigate", url=address)
        time.sleep(1)
        found += [f"under Jenkins' policy: {fault}" for fault in still(browser)]
        if folder:
            screenshot(browser, folder / "policy.png")
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.call("Page.navigate", url=report.resolve().as_uri())
        time.sleep(1)
        found += [f"without scripts: {fault}" for fault in still(browser)]
        if folder:
            screenshot(browser, folder / "unscripted.png")
    return found


def still(browser: Browser) -> list[str]:
    """What a reader of the page misses; asked of the document alone, since no script runs there."""
    browser.call("DOM.enable")
    browser.call("CSS.enable")
    root = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]

    def nodes(query: str, within: int = root) -> list[int]:
        return browser.call("DOM.querySelectorAll", nodeId=within, selector=query)["nodeIds"]

    def styles(node: int) -> dict[str, str]:
        listed = browser.call("CSS.getComputedStyleForNode", nodeId=node)["computedStyle"]
        return {entry["name"]: entry["value"] for entry in listed}

    found = []
    plots, figures = nodes(".plot"), nodes("figure")
    if not plots and len(figures) > len(nodes("figure > .empty")):
        found.append("no chart has a place")
    for number, plot in enumerate(plots):
        pictures = nodes("svg", plot)
        if len(pictures) != 1:
            found.append(f"panel {number} has {len(pictures)} pictures")
            continue
        corners = browser.call("DOM.getBoxModel", nodeId=pictures[0])["model"]
        texts = len(nodes("text", pictures[0]))
        marks = nodes("path[class^=stroke], g[class^=stroke] circle", pictures[0])
        colours = {styles(mark)["stroke"] for mark in marks[:20]}
        if corners["width"] < 300 or corners["height"] < 120 or texts < 4 or not marks or colours & {"none", "rgb(0, 0, 0)"}:
            found.append(f"panel {number}: {corners['width']} x {corners['height']}, {texts} texts, {len(marks)} marks, {colours}")
    for line in nodes(".legend line"):
        if styles(line)["stroke"] in ("none", "rgb(0, 0, 0)"):
            found.append("the legend has no colours")
    return list(dict.fromkeys(found))


def main() -> int:
    """Runs the checks of the report named on the command line."""
    if len(sys.argv) not in (2, 3):
        print("usage: check_report.py REPORT.html [SCREENSHOTS]", file=sys.stderr)
        return 2
    report = pathlib.Path(sys.argv[1])
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else None
    if not report.is_file():
        print(f"check_report: no file {report}", file=sys.stderr)
        return 2
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with chromium() as browser:
            try:
                found = check(browser, report, folder) + unscripted(report, folder)
            except Failure as failure:
                found = [str(failure)]
    except Failure as failure:
        print(f"check_report: {failure}", file=sys.stderr)
        return 2
    for fault in dict.fromkeys(found):
        print(f"FAILED {fault}", file=sys.stderr)
    print(f"{report}: {'FAILED' if found else 'ok'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
