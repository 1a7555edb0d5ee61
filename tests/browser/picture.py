#!/usr/bin/env python3
"""Draws the first screen of an experiment's report: `make picture`.

    picture.py RESULTS PICTURE.png

The picture says in its text chunk `Description`, as JSON, what it shows: a test compares it with the scenario and the record.
"""

import collections
import json
import pathlib
import struct
import sys
import zlib

from chromium import Failure, chromium, open_drawn, screenshot, window

WIDTH = 1060
# The picture ends below the counts of verdicts.
BOTTOM = "Math.ceil([...document.querySelectorAll('.tally')].at(-1).getBoundingClientRect().bottom + scrollY + 16)"


def shown(results: pathlib.Path) -> dict:
    """What the report of these results shows first."""
    manifest = json.loads((results / "manifest.json").read_text())
    claims = json.loads((results / "claims.json").read_text())
    return {
        "experiment": manifest["id"],
        "title": manifest["title"],
        "says": manifest["answer"]["says"],
        "chart": next(chart["title"] for chart in manifest["charts"] if chart["first"]),
        "claims": len({claim["id"] for claim in claims}),
        "verdicts": dict(sorted(collections.Counter(claim["verdict"] for claim in claims).items())),
    }


def described(png: bytes, description: str) -> bytes:
    """The picture with a text chunk after its header, which takes 33 bytes."""
    chunk = b"tEXtDescription\0" + description.encode("latin-1")
    length, check = struct.pack(">I", len(chunk) - 4), struct.pack(">I", zlib.crc32(chunk))
    return png[:33] + length + chunk + check + png[33:]


def main() -> int:
    """Draws the picture that the command line asks for."""
    if len(sys.argv) != 3:
        print("usage: picture.py RESULTS PICTURE.png", file=sys.stderr)
        return 2
    results, picture = map(pathlib.Path, sys.argv[1:])
    try:
        with chromium() as browser:
            window(browser, WIDTH, "light")
            open_drawn(browser, (results / "report.html").resolve().as_uri())
            screenshot(browser, picture, browser.evaluate(BOTTOM))
    except Failure as failure:
        print(f"picture: {failure}", file=sys.stderr)
        return 2
    picture.write_bytes(described(picture.read_bytes(), json.dumps(shown(results))))
    print(f"{picture}: {picture.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
