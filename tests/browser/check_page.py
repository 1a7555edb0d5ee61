#!/usr/bin/env python3
"""Drives the page that simulates as a reader would: check_page.py PAGE.html REPORT.html [SCREENSHOTS]. The report is of

    sluice reproduce adth-s1a --seeds 1 --interactive

Checked in headless Chromium: every scene runs and draws, nothing but the file is asked for and no script fails; all networks
on record have the command's results, to the last byte; a dragged node, a moved slider and another scheme change the network;
the address that the page makes opens the same network with the same results; a wrong scenario is refused with its line; the
page is no wider than the window from 360 px on; where a server's policy forbids what it needs, and after a failure, it says
so. In the report: without changes the charts drawn anew are those reported; with another rate they differ, and "As reported"
restores them; a wrong key is refused as by the command; the experiment's network runs packet by packet. In Firefox and
WebKitGTK: the scenes, the results on record and the address. Exit status: 0 all is well, 1 something is not, 2 there is no
page or no report.
"""

import functools
import http.server
import json
import pathlib
import sys
import threading
import time

from chromium import Browser, Failure, chromium, open_drawn, screenshot, window
from firefox import Firefox, firefox
from webkit import WebKit, webkit

PATIENCE = 30
HALL = "Forty stations in a lecture hall"
# Results of the network shown, as text; they must be the same behind a shared address.
RESULTS = """(async () => {
  tell({ call: "pause" });
  const { text } = await ask({ call: "whole", request: { ...request(), set: [...sets(), "duration=2 s"] } }, () => {});
  return fingerprint(text);
})()"""


def until(browser, expression, what):
    """Waits until an expression of the page is true."""
    end = time.monotonic() + PATIENCE
    while not browser.evaluate(expression):
        if time.monotonic() > end:
            raise Failure(f"{what} did not happen within {PATIENCE} s")
        time.sleep(0.05)


def start(browser: Browser | Firefox | WebKit, url: str) -> None:
    """Opens the page; returns when the first scene runs."""
    browser.open(url)
    until(browser, "typeof ready !== 'undefined' && ready.then(() => true)", "the start")
    until(browser, "stage !== null && time > 0.3", "the first scene")


def drag(browser: Browser, name: str, by: tuple[int, int]) -> None:
    """Drags a node with the mouse."""
    place = browser.evaluate(f"""(() => {{
      const box = at("plan").getBoundingClientRect();
      const node = stage.nodes.findIndex((one) => one.name === {json.dumps(name)});
      const [x, y] = view(box.width, box.height).to(places[node]);
      return [box.left + x, box.top + y];
    }})()""")
    point = {"button": "left", "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=place[0], y=place[1], **point)
    for share in (0.5, 1):
        x, y = place[0] + by[0] * share, place[1] + by[1] * share
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left")
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=place[0] + by[0], y=place[1] + by[1], **point)


def faults(browser: Browser) -> list[str]:
    """What the browser complained of."""
    found = []
    for event in browser.events:
        kind, params = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            found.append(params["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif kind == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "blob:", "data:", "about:")):
                found.append(f"asks for {url}")
    return found


def every_scene(browser: Browser | Firefox | WebKit, page: pathlib.Path, sizes, size, picture) -> list[str]:
    """What is wrong with the scenes in windows of these sizes, and with the networks on record."""
    wrong = []
    start(browser, page.resolve().as_uri())
    scenes = browser.evaluate("scenes.length")
    for index in range(scenes):
        browser.evaluate(f"(at('scene').value = {index}, at('scene').onchange())")
        until(browser, "stage !== null && rows.t.length > 5 && rows.latency.some((one) => one > 0)", f"scene {index}")
        seen = browser.evaluate("({ air: air.length, got: got.size, radio: places.filter(Boolean).length })")
        wrong += [] if (seen["air"] > 20 and seen["got"] > 10) or not seen["radio"] else [f"scene {index}: {seen}"]
        for wide in sizes:
            size(wide)
            time.sleep(0.3)
            over = browser.evaluate("document.documentElement.scrollWidth - innerWidth")
            wrong += [f"scene {index}: wider than a window of {wide} px by {over} px"] if over > 0 else []
            first = browser.evaluate("at('answer').getBoundingClientRect().bottom <= at('schemes').getBoundingClientRect().top")
            wrong += [] if first else [f"scene {index}: at {wide} px other things stand before the answer"]
            picture(f"{index}-{wide}")
        size(sizes[0])
    checked = browser.evaluate("verify()")
    right = checked["of"] >= 2 * scenes and checked["right"] == checked["of"]
    return wrong if right else [*wrong, f"results of the command: {checked}"]


def shared(browser: Browser | Firefox | WebKit, page: pathlib.Path) -> list[str]:
    """What is wrong with the network behind the address that the page makes."""
    results, scheme = browser.evaluate(RESULTS), browser.evaluate("scheme")
    browser.evaluate("at('share').onclick()")
    start(browser, page.resolve().as_uri() + "#" + browser.evaluate("location.hash.slice(1)"))
    wrong = [] if browser.evaluate("scheme") == scheme else ["the address forgets the scheme"]
    same = browser.evaluate(RESULTS) == results
    return wrong if same else [*wrong, "the network behind the address has other results"]


def elsewhere(browser: Firefox | WebKit, page: pathlib.Path, pictures: pathlib.Path | None) -> list[str]:
    """The list of what is wrong in a browser whose windows are 500 px wide at least."""
    engine = type(browser).__name__.lower()
    picture = lambda name: pictures and browser.screenshot(pictures / f"{engine}-{name}.png")  # noqa: E731
    wrong = every_scene(browser, page, (1280, 500), browser.window, picture)
    scene(browser, "A home with one upload")
    browser.evaluate("choose(scene.cure)")
    return wrong + shared(browser, page)


def check(browser: Browser, page: pathlib.Path, pictures: pathlib.Path | None) -> list[str]:
    """The list of what is wrong in Chromium."""
    size = lambda wide: window(browser, wide, "dark" if wide == 360 else "light")  # noqa: E731
    picture = lambda name: pictures and screenshot(browser, pictures / f"page-{name}.png")  # noqa: E731
    size(1280)
    wrong = every_scene(browser, page, (1280, 360), size, picture)

    def expect(condition, what):
        if not condition:
            wrong.append(what)

    start(browser, page.resolve().as_uri())
    before = browser.evaluate(RESULTS)
    drag(browser, "laptop", (30, 20))
    until(browser, "Object.keys(moved).includes('laptop')", "the drag")
    moved = browser.evaluate(RESULTS)
    expect(moved != before, "a dragged node changes nothing")
    browser.evaluate("(() => { const one = at('sliders').querySelector('input'); one.value = 4; one.onchange(); })()")
    slid = browser.evaluate(RESULTS)
    expect(slid != moved, "a slider changes nothing")
    browser.evaluate("at('cure').click()")
    until(browser, "scheme === 'turns' && stage !== null && time > 0", "the scheme")
    cured = browser.evaluate(RESULTS)
    expect(cured != slid, "another scheme changes nothing")
    wrong += shared(browser, page)

    scene(browser, "Three hops of mesh")
    browser.evaluate(f"(settings = {{}}, seed = 1, {RESULTS})")
    drag(browser, "n2", (0, 20))
    until(browser, "Object.keys(moved).includes('n2') && stage !== null && time > 0.3", "the drag of a placed node")
    drag(browser, "n3", (10, 140))
    until(browser, "at('notice').textContent.startsWith('n3 cannot stand there') && stage !== null", "a place out of range")
    scene(browser, "ADTH: a bound on each hop's delay")
    until(browser, "dropped.some(({ all }) => all > 0)", "drops")
    scene(browser, HALL)
    drag(browser, "seat1", (-40, 30))
    until(browser, "Object.keys(moved).length === 1 && stage !== null && time > 0", "the drag of one of a group")

    browser.evaluate("(source.text = source.text.replace('mcs = 7', 'mcs = 99'), at('apply').onclick())")
    until(browser, "stage === null", "the refusal")
    said = browser.evaluate("at('fault').textContent")
    expect("page.toml:6" in said and "MCS" in said, f"a wrong scenario: {said}")
    wrong += complete(browser)
    return wrong + faults(browser)


# Servers' policies under which the page cannot simulate, and what it says then.
POLICIES = [
    ("sandbox; default-src 'none'; style-src 'unsafe-inline'", "Scripts do not run here"),
    ("script-src 'none'", "Scripts do not run here"),
    ("script-src 'self' 'unsafe-inline'", "The simulator cannot start"),
    ("script-src 'self' 'unsafe-inline' blob:", "The simulator cannot start"),
    ("script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'none'", "The simulator cannot start"),
    ("require-trusted-types-for 'script'", "The simulator cannot start"),
]
# Under this policy it simulates without its colours.
PLAIN = "style-src 'none'"


class Served(http.server.SimpleHTTPRequestHandler):
    """Serves the page under each of the policies: `/sluice.html?0` under the first."""

    def end_headers(self):
        policy, _ = [*POLICIES, (PLAIN, "")][int(self.path.partition("?")[2] or 0)]
        self.send_header("Content-Security-Policy", policy)
        super().end_headers()

    def log_message(self, *_):
        pass


def refused(browser: Browser, page: pathlib.Path) -> list[str]:
    """What is wrong where the page cannot simulate, or can no longer."""
    wrong = []
    handler = functools.partial(Served, directory=page.resolve().parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for number, (policy, said) in enumerate(POLICIES):
            browser.open(f"http://127.0.0.1:{server.server_port}/{page.name}?{number}")
            there = f"(document.getElementById('broken')?.textContent ?? '').startsWith({json.dumps(said)})"
            until(browser, there, f"a sentence under {policy}")
            shown = browser.evaluate("document.getElementById('broken').offsetHeight > 0 && document.querySelector('main').offsetHeight === 0")
            wrong += [] if shown else [f"under {policy} the page has buttons without effect, or no sentence"]
        start(browser, f"http://127.0.0.1:{server.server_port}/{page.name}?{len(POLICIES)}")
        server.shutdown()
    start(browser, page.resolve().as_uri())
    browser.evaluate("tell({ call: 'run', id: 0, number: 1e6, speed: 1, simulated: 0 })")
    until(browser, "at('broken').textContent.startsWith('The simulation has stopped')", "a sentence after a trap")
    return wrong


def scene(browser: Browser | Firefox | WebKit, name: str) -> None:
    """Chooses a scene; returns when it runs."""
    browser.evaluate(f"(at('scene').value = scenes.findIndex(({{ name }}) => name === {json.dumps(name)}), at('scene').onchange())")
    until(browser, f"scene.name === {json.dumps(name)} && stage !== null && time > 0.3", name)


# A text with a bar at the cursor, and some of the completions that are offered there.
OFFERS = [
    ("dur|", ["duration"]),
    ("[radio]\nmc|", ["mcs"]),
    ("[queue]\nlimit = 3\ndiscipline = \"fq|", ['"fq-codel"']),
    ("[[flow]]\nname = \"x\"\ntraffic = { kind = \"cbr\", ra|", ["rate"]),
    ("[[node]]\nname = \"[b]\" # [a]\nqueue.li|", ["limit"]),
    ("[mac.e|", ["edca"]),
]


def complete(browser: Browser) -> list[str]:
    """What is wrong with the completion of keys and values, and with the mark at a wrong line."""
    wrong = []
    for text, expected in OFFERS:
        place = text.index("|")
        text = text.replace("|", "")
        browser.evaluate(f"""(source.text = {json.dumps(text)}, source.view.focus(),
          source.view.dispatch({{ selection: {{ anchor: {place} }} }}), libraries.closeCompletion(source.view), libraries.startCompletion(source.view), 0)""")
        until(browser, "document.querySelector('.cm-tooltip-autocomplete li') !== null", f"completion in {text!r}")
        offered = browser.evaluate("[...document.querySelectorAll('.cm-completionLabel')].map((one) => one.textContent)")
        wrong += [f"{text!r}: {one} is not offered: {offered}" for one in expected if one not in offered]
    # As when a reader types: a fault is shown while the text is in the editor.
    browser.evaluate("(source.text = scenes[0].toml, source.view.focus(), 0)")
    browser.evaluate("source.view.dispatch({ changes: { from: 0, insert: 'titel = 1\\n' } })")
    until(browser, "document.querySelector('.cm-lintRange-error')?.textContent.includes('titel')", "the mark at a wrong line")
    return wrong


# All that the first chart shows: its lines and their points.
SHOWN = """[...document.querySelectorAll("#chart-0-0-0 svg path")].map((path) => path.getAttribute("d")).join(" ")"""
BUTTONS = """Object.fromEntries([...document.querySelectorAll(".trial button")].map((one) => [one.textContent, one]))"""


def again(browser: Browser, keys: str) -> str:
    """Draws the charts anew with these keys; what the report then says."""
    browser.evaluate(f"""(document.querySelector(".trial textarea").value = {json.dumps(keys)},
      document.querySelector(".trial input[type=checkbox]").checked = false,
      {BUTTONS}["Draw the charts anew"].click())""")
    until(browser, f"{BUTTONS}['Draw the charts anew'] !== undefined", "the charts")
    return browser.evaluate("document.querySelector('.trial .note').textContent")


def trial(browser: Browser, page: pathlib.Path, pictures: pathlib.Path | None) -> list[str]:
    """The list of what is wrong with an interactive report."""
    wrong = []

    def expect(condition, what):
        if not condition:
            wrong.append(what)

    window(browser, 1280, "light")
    open_drawn(browser, page.resolve().as_uri())
    until(browser, "document.querySelector('.trial') !== null", "the form")
    chart = browser.evaluate("document.querySelector('.plot').id.replace(/-\\d+$/, '')")
    shown = SHOWN.replace("chart-0-0", chart)
    reported = browser.evaluate(shown)
    expect(len(reported) > 100, "the report's chart is empty")
    said = again(browser, "")
    expect(said.startswith("The charts are of"), said)
    expect(browser.evaluate(shown) == reported, "without changes the charts are others")
    said = again(browser, "flow.forward.traffic.rate=1 Mb/s")
    expect("1 Mb/s" in said and browser.evaluate(shown) != reported, f"another rate changes nothing: {said}")
    if pictures:
        screenshot(browser, pictures / "trial.png", 1600)
    browser.evaluate(f"{BUTTONS}['As reported'].click()")
    until(browser, f"{shown} === {json.dumps(reported)}", "the reported charts")
    said = again(browser, "queue.limt=3")
    expect("did you mean" in said, f"a wrong key: {said}")
    browser.evaluate(f"(document.querySelector('.trial textarea').value = '', {BUTTONS}['Packet by packet'].click())")
    inside = "document.querySelector('iframe').contentWindow"
    until(browser, f"{inside}.eval('typeof stage !== \"undefined\" && stage !== null && time > 0.3')", "the network, packet by packet")
    if pictures:
        screenshot(browser, pictures / "trial-packets.png", 2400)
    return wrong + faults(browser)


def main() -> int:
    page, report = map(pathlib.Path, sys.argv[1:3])
    if missing := [str(file) for file in (page, report) if not file.is_file()]:
        print(f"missing: {', '.join(missing)}: make page-test", file=sys.stderr)
        return 2
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name, open_browser, check_in, file in (
        ("page", chromium, check, page),
        ("page that cannot simulate", functools.partial(chromium, online=True), lambda browser, file, _: refused(browser, file), page),
        ("interactive report", chromium, trial, report),
        ("page in Firefox", firefox, elsewhere, page),
        ("page in WebKitGTK", webkit, elsewhere, page),
    ):
        try:
            with open_browser() as browser:
                found = check_in(browser, file, pictures)
        except Failure as failure:
            found = [str(failure)]
        wrong += [f"{name}: {one}" for one in found]
        print(f"{name}: {'something is wrong' if found else 'all is well'}", flush=True)
    for one in wrong:
        print(one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
