"""What holds for the package as a whole: types, stubs, style, pages."""

import os
import runpy
import subprocess
import sys

import pytest

import sluice
from api import page
from sluice import theory

SCRIPTS = ["compare", "learn"]


def tool(root, *arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=root / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_tells_what_the_compiled_module_has(root):
    tool(root, "mypy.stubtest", "sluice._sluice")


def test_types(root):
    tool(root, "pyright", "--pythonpath", sys.executable)


@pytest.mark.slow
def test_types_as_the_other_checker_sees_them(root):
    tool(root, "mypy")


def test_style(root):
    tool(root, "ruff", "check", ".")
    tool(root, "ruff", "format", "--check", ".")


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_of_the_docs_run(root, tmp_path, name, monkeypatch):
    (tmp_path / "scenarios").symlink_to(root / "scenarios")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(root / "docs/python" / f"{name}.py"), run_name="__main__")


def test_the_pages_are_those_of_the_scripts(root):
    subprocess.run([sys.executable, "docs/python/pages.py", "--check"], cwd=root, check=True)
    written = {path.stem for path in (root / "docs/python").glob("*.py")} - {"pages"}
    assert written == set(SCRIPTS)
    summary = (root / "docs/SUMMARY.md").read_text()
    assert all(f"(python/{name}.md)" in summary for name in SCRIPTS)


def test_the_reference_has_every_public_name():
    written = page()
    missing = [name for module in (sluice, theory) for name in module.__all__ if f"\n### {name}\n" not in written]
    assert missing == ["__version__"]


def test_no_credentials_or_network_are_needed_to_import():
    code = "import sys, sluice; assert 'polars' not in sys.modules and 'altair' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PATH": os.environ["PATH"]})
