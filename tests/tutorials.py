#!/usr/bin/env python3
"""Runs the tutorials of docs/learn, and that of docs/add-a-discipline.md, as they are written, each in a folder of its own.

A TOML block whose first line is `# NAME.toml` is a file that the reader saves. In a console block lines after `$ ` are
commands, which go on in lines after `> `, and the lines below are what they print: `...` alone stands for any lines, within a line for any text. A command ends
with status 0, or its last line is the status in brackets. A page that begins with `<!-- interface wlan0 -->` is run in a
network namespace with an interface of that name, and says so where none can be made.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLUICE = pathlib.Path(os.environ.get("SLUICE", ROOT / "target/release/sluice")).resolve()
TUTORIALS = [*sorted((ROOT / "docs/learn").glob("*.md")), ROOT / "docs/add-a-discipline.md"]
BLOCK = re.compile(r"^```(toml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.toml)\n")
INTERFACE = re.compile(r"<!-- interface (\w+) -->")
MARK = "-- tutorials.py --"
SECONDS = 300
# State of live use is of this namespace alone. A neighbour in one of its own answers echoes.
SET_UP = """
mount -t tmpfs none /run
ip link add {name} type veth peer name far
ip link set {name} up
ip addr add 10.9.0.1/24 dev {name}
ip link set far address 02:00:00:00:00:02
unshare -n sleep {seconds} > /dev/null 2>&1 &
trap "kill $!" EXIT
while [ "$(readlink /proc/$!/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
ip link set far netns $!
nsenter -t $! -n ip addr add 10.9.0.2/24 dev far
nsenter -t $! -n ip link set far up
ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev {name}
"""


def main():
    pages = [pathlib.Path(name) for name in sys.argv[1:]] or TUTORIALS
    wrong = [complaint for page in pages for complaint in tried(page)]
    if wrong:
        sys.exit("\n\n".join(wrong))
    print(f"tutorials: {len(pages)} run as they are written")


def tried(page):
    """What does not come out as the page says."""
    text = page.read_text()
    with tempfile.TemporaryDirectory(prefix="tutorial-") as place:
        folder = pathlib.Path(place)
        tools = folder / ".tools"
        tools.mkdir()
        for program in ("sluice", "own-discipline"):
            (tools / program).symlink_to(SLUICE.with_name(program))
        (tools / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
        (tools / "sudo").chmod(0o755)
        steps = []
        script = ""
        interface = INTERFACE.search(text)
        if interface:
            script += SET_UP.format(name=interface.group(1), seconds=SECONDS)
        for kind, block in BLOCK.findall(text):
            if kind == "toml":
                named = FILE.match(block)
                if named:
                    script += f"cat > {named.group(1)} <<'{MARK}'\n{block}{MARK}\n"
                continue
            for command, expected in commands(block):
                steps.append((command, expected))
                script += f"echo '{MARK}'\n{command}\necho \"[$?]\"\n"
        shell = ["bash", "-c", script]
        if interface:
            if subprocess.run(["unshare", "-rnm", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
                print(f"SKIPPED, {page.name}: this machine allows no user and network namespaces (unshare -rnm)")
                return
            shell = ["unshare", "-rnm", *shell]
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / ".cache")}
        done = subprocess.run(
            shell,
            cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=SECONDS,
        )
    _, *said = done.stdout.split(MARK + "\n")
    if len(said) != len(steps):
        yield f"{page.name}: ended after {len(said)} of {len(steps)} commands:\n{done.stdout}"
    for (command, expected), output in zip(steps, said):
        output = output.removesuffix("[0]\n")
        if not re.fullmatch(pattern(expected), output, re.DOTALL):
            yield f"{page.name}: {command}\nexpected:\n{expected}\nfound:\n{output}"


def commands(block):
    """The commands of a console block, each with what it is expected to print."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        taken = 1
        while lines[taken : taken + 1] and lines[taken].startswith("> "):
            taken += 1
        command = "\n".join([lines[0], *(line.removeprefix("> ") for line in lines[1:taken])])
        yield command, "\n".join(lines[taken:])


def pattern(expected):
    """`...` for any text, and for any lines where it stands alone."""
    lines = []
    for line in expected.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:[^\n]*\n)*")
        else:
            lines.append(r"[^\n]*".join(map(re.escape, line.rstrip().split("..."))) + r"[ ]*\n")
    return "".join(lines)


if __name__ == "__main__":
    main()
