"""Check that every relative link in the Markdown files leads to a file."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def main():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    broken = []
    count = 0
    for name in listed.stdout.split():
        for target in LINK.findall((ROOT / name).read_text()):
            if "://" in target:
                continue
            count += 1
            if not ((ROOT / name).parent / target).exists():
                broken.append(f"{name}: no file {target}")
    if broken:
        sys.exit("\n".join(broken))
    print(f"links: {count} lead somewhere")


if __name__ == "__main__":
    main()
