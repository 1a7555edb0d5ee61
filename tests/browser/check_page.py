#!/usr/bin/env python3
"""Drives the page that simulates, in headless Chromium, as a reader would: check_page.py PAGE.html [SCREENSHOTS]

Checked: every scene runs and draws, nothing but the file is asked for and no script fails; all networks on record have the
command's results, to the last byte; a dragged node, a moved slider and another scheme change the network; the address that
the page makes opens the same network with the same results; a wrong scenario is refused with its line; the page is no wider
than the window from 360 px on. Exit status: 0 all is well, 1 something is not, 2 there is no Chromium or no page.
"""

import json
import pathlib
import sys
import time

from chromium import Browser, Failure, chromium, screenshot, window

PATIENCE = 30
HALL = "Forty stations in a lecture hall"
# The results of the network on show, as text: what must be the same behind a shared address.
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


def start(browser: Browser, url: str) -> None:
    """Opens the page; returns when the first scene runs."""
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=url)
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


def check(browser: Browser, page: pathlib.Path, pictures: pathlib.Path | None) -> list[str]:
    """The list of what is wrong."""
    wrong, url = [], page.resolve().as_uri()

    def expect(condition, what):
        if not condition:
            wrong.append(what)

    window(browser, 1280, "light")
    start(browser, url)
    scenes = browser.evaluate("scenes.length")
    for index in range(scenes):
        browser.evaluate(f"(at('scene').value = {index}, at('scene').onchange())")
        until(browser, "stage !== null && rows.t.length > 5 && rows.latency.some((one) => one > 0)", f"scene {index}")
        seen = browser.evaluate("({ air: air.length, got: got.size, radio: places.filter(Boolean).length })")
        expect((seen["air"] > 20 and seen["got"] > 10) or not seen["radio"], f"scene {index}: {seen}")
        for width, scheme in ((1280, "light"), (360, "dark")):
            window(browser, width, scheme)
            time.sleep(0.3)
            wide = browser.evaluate("document.documentElement.scrollWidth")
            expect(wide <= width, f"scene {index}: {wide} px wide in a window of {width}")
            if pictures:
                screenshot(browser, pictures / f"page-{index}-{width}.png")
        window(browser, 1280, "light")

    checked = browser.evaluate("verify()")
    expect(checked["of"] >= 2 * scenes and checked["right"] == checked["of"], f"results of the command: {checked}")

    start(browser, url)
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
    browser.evaluate("at('share').onclick()")
    start(browser, url + "#" + browser.evaluate("location.hash.slice(1)"))
    expect(browser.evaluate("scheme") == "turns", "the address forgets the scheme")
    expect(browser.evaluate(RESULTS) == cured, "the network behind the address has other results")

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


def scene(browser: Browser, name: str) -> None:
    """Chooses a scene; returns when it runs."""
    browser.evaluate(f"(at('scene').value = scenes.findIndex(({{ name }}) => name === {json.dumps(name)}), at('scene').onchange())")
    until(browser, f"scene.name === {json.dumps(name)} && stage !== null && time > 0.3", name)


# A text with a bar where the cursor is, and some of what completion has to offer there.
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
    # As a reader types: a fault is shown while the text stands in the editor.
    browser.evaluate("(source.text = scenes[0].toml, source.view.focus(), 0)")
    browser.evaluate("source.view.dispatch({ changes: { from: 0, insert: 'titel = 1\\n' } })")
    until(browser, "document.querySelector('.cm-lintRange-error')?.textContent.includes('titel')", "the mark at a wrong line")
    return wrong


def main() -> int:
    page = pathlib.Path(sys.argv[1])
    if not page.is_file():
        print(f"{page} is missing: make page", file=sys.stderr)
        return 2
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    try:
        with chromium() as browser:
            wrong = check(browser, page, pictures)
    except Failure as failure:
        wrong = [str(failure)]
    for one in wrong:
        print(f"page: {one}")
    print(f"page: {'all is well' if not wrong else 'something is wrong'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
