#!/usr/bin/env python3
"""Fetch the charting library that the report embeds: `make charts`.

The library is Vega-Lite with Vega, as packed by the PyPI package vl-convert-python. It is installed
below the target folder, never into the system, and packed into the one script that `build.rs` of
crate `lab` embeds. Does nothing when that script is there already in the version named here.
"""

import os
import pathlib
import subprocess
import sys

PACKAGE = "vl-convert-python"
VERSION = "1.9.0.post1"
VEGA_LITE = "6.4"

TARGET = pathlib.Path(__file__).resolve().parents[2] / "target"
SITE = TARGET / "python-charts"
BUNDLE = TARGET / "charts" / "vega.js"

# The licences ask that these notices go along with every copy, and a report is one.
NOTICE = f"""\
/*! Vega-Lite {VEGA_LITE} from {PACKAGE} {VERSION}.
 * Vega, Vega-Lite, Vega-Embed: Copyright University of Washington Interactive Data Lab and
 * contributors, BSD 3-Clause Licence. D3: Copyright Mike Bostock, ISC Licence. TopoJSON: Copyright
 * Mike Bostock, BSD 3-Clause Licence. Provided "as is", without warranty of any kind. */
"""

# Importing vl-convert happens in a second interpreter, which alone sees the folder that pip filled.
PACK = f"""
import sys, vl_convert
snippet = "window.vegaEmbed = vegaEmbed;"
sys.stdout.buffer.write(vl_convert.javascript_bundle(snippet, {VEGA_LITE!r}).encode())
"""


def run(command: list[str], **options) -> subprocess.CompletedProcess:
    """Runs a command; on failure says which one and ends with its status."""
    try:
        return subprocess.run(command, check=True, **options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"charts: failed with status {error.returncode}: {' '.join(command[:4])} ...")


def install() -> None:
    """Installs the package below the target folder."""
    # `--target` instead of a virtual environment: Debian has venv in a package of its own.
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        sys.exit("charts: Python has no pip; on Debian: apt-get install -y python3-pip")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--root-user-action=ignore"]
    where = ["--no-deps", "--only-binary=:all:", "--upgrade", "--target", str(SITE)]
    run([sys.executable, "-m", "pip", "install", *quiet, *where, f"{PACKAGE}=={VERSION}"])


def main() -> None:
    """Writes the bundle unless it is there."""
    if BUNDLE.is_file() and BUNDLE.read_text(encoding="utf-8").startswith(NOTICE):
        return
    print(f"charts: fetching {PACKAGE} {VERSION}", file=sys.stderr)
    install()
    packed = run([sys.executable, "-c", PACK], env=os.environ | {"PYTHONPATH": str(SITE)}, stdout=subprocess.PIPE)
    script = packed.stdout.decode()
    # The page has it inside <script>, which this would close.
    if "</script" in script.lower() or "vegaEmbed" not in script:
        sys.exit("charts: the packed library is not what was expected")
    BUNDLE.parent.mkdir(parents=True, exist_ok=True)
    partial = BUNDLE.with_suffix(".part")
    # In a function of its own: the packed script declares hundreds of short names.
    partial.write_text(f"{NOTICE}(() => {{\n{script}\n}})();\n", encoding="utf-8")
    partial.replace(BUNDLE)
    print(f"charts: wrote {BUNDLE.relative_to(TARGET.parent)}, {len(script) // 1000} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
