"""Writes the pages beside the scripts of this folder: pages.py [--check].

A script is the page and runs as it is: comments that begin in the first column are its text, everything else its code.
"""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent
WRITTEN = "<!-- Written by docs/python/pages.py; edit {name} instead. -->\n\n"


def page(script):
    """The page of a script, as Markdown."""
    parts = []
    for line in script.read_text().splitlines():
        kind = "text" if line.startswith("#") else "code"
        if not parts or parts[-1][0] != kind:
            parts.append((kind, []))
        parts[-1][1].append(line.removeprefix("#").removeprefix(" ") if kind == "text" else line)
    text = ""
    for kind, lines in parts:
        body = "\n".join(lines).strip("\n")
        if body:
            text += f"{body}\n\n" if kind == "text" else f"```python\n{body}\n```\n\n"
    heading, _, rest = text.partition("\n\n")
    return f"{heading}\n\n{WRITTEN.format(name=script.name)}{rest.rstrip()}\n"


def main():
    stale = []
    for script in sorted(FOLDER.glob("*.py")):
        if script.name == pathlib.Path(__file__).name:
            continue
        written = script.with_suffix(".md")
        if written.exists() and written.read_text() == page(script):
            continue
        stale.append(written.name)
        if "--check" not in sys.argv:
            written.write_text(page(script))
    if stale and "--check" in sys.argv:
        sys.exit(f"pages.py: run it again for {', '.join(stale)}")


if __name__ == "__main__":
    main()
