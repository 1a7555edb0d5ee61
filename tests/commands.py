#!/usr/bin/env python3
"""Tries every command of the README and of docs that starts with `sluice`, inline or in a block. The tutorials are not
among them: tests/tutorials.py runs them as they are written.

`run` and `reproduce` find and check their scenarios, and the options of `run` are tried over half a minute. What prints at
once is run. Commands that need an interface, a recording or a placeholder (FILE, ID) are only parsed, without these and
with `--help` at their end: an unknown option or a wrong value before it is an error.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLUICE = pathlib.Path(os.environ.get("SLUICE", ROOT / "target/release/sluice")).resolve()
BLOCK = re.compile(r"^ *(?:\$ )?(?:sudo )?(sluice [^\n]*)$", re.MULTILINE)
INLINE = re.compile(r"`(sluice [^`]+)`")
PLACEHOLDER = re.compile(r"^[A-Z]+$|^\.\.\.$|KEY=VALUE|\bmy\.toml|\beth0|^/")
AT_ONCE = {"check", "claims", "list", "schema", "completions"}
VALUED = {
    *("--set", "--seed", "--seeds", "--out", "--node", "--queue", "--threads", "--case", "--event", "--flow"),
    *("--pcap", "--trace", "--record-intervals", "--target-delay"),
}


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in pages if page.parent.name != "learn"]
    found = {}
    for page in pages:
        text = page.read_text()
        for command in [*BLOCK.findall(text), *INLINE.findall(text)]:
            words = shlex.split(re.split(r" [>|&] ?", command)[0], comments=True)[1:]
            found.setdefault(tuple(words), page.relative_to(ROOT))
    with tempfile.TemporaryDirectory(prefix="commands-") as place:
        folder = pathlib.Path(place)
        for name in ("scenarios", "evidence", "page"):
            (folder / name).symlink_to(ROOT / name)
        wrong = [complaint for words, page in found.items() for complaint in tried(list(words), page, folder)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"commands: the {len(found)} of {len(pages)} pages are understood")


def tried(words, page, folder):
    """What fails of the commands that stand for one."""
    for command in ways(words):
        done = subprocess.run(
            [SLUICE, *command], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        )
        # If a claim differs, the command has not failed.
        if done.returncode not in (0, 1):
            yield f"{page}: sluice {shlex.join(words)}\n  tried as sluice {shlex.join(command)}: {done.stderr.strip()}"


def ways(words):
    """The commands that stand for one."""
    command, rest = words[0], words[1:]
    options = words[: words.index("--")] if "--" in words else words
    # An option belongs to its placeholder. An option at a command's end without its value is only named.
    parsed = [
        word for word, after in zip(options, [*options[1:], "..."])
        if not PLACEHOLDER.search(word) and not (word.startswith("-") and PLACEHOLDER.search(after))
    ] + ["--help"]
    if words[-1] in VALUED:
        return [parsed]
    if any(PLACEHOLDER.search(word) for word in rest if not word.startswith("--")):
        return [parsed]
    if command in AT_ONCE and (rest or command not in {"check", "completions"}):
        return [words]
    targets = [
        word for before, word in zip(words, rest) if not word.startswith("-") and before not in VALUED
    ]
    if command not in {"run", "reproduce"} or not targets:
        return [parsed]
    checked = ["check", *targets]
    return [checked, [*words, "--set", "duration=30 s"]] if command == "run" else [checked, parsed]


if __name__ == "__main__":
    main()
