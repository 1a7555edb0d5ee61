"""Check that every relative link in the Markdown files leads to a file, and that the book has every page of docs."""

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
    contents = set(LINK.findall((ROOT / "docs/SUMMARY.md").read_text()))
    for name in listed.stdout.split():
        if name.startswith("docs/") and name.removeprefix("docs/") not in contents | {"SUMMARY.md"}:
            broken.append(f"docs/SUMMARY.md: {name} is missing")
    if broken:
        sys.exit("\n".join(broken))
    print(f"links: {count} lead somewhere")


if __name__ == "__main__":
    main()
