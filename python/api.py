"""Write the reference of the package from its docstrings: api.py FILE."""

import importlib
import inspect
import re
import sys
from pathlib import Path

MODULES = ["sluice", "sluice.theory", "sluice.learn"]
HEAD = """# Python reference

<!-- Written by python/api.py from the docstrings; edit those instead. -->

Everything that the package has, by module. The guides are [compare](compare.md), [learn](learn.md) and
[theory](theory.md). `sluice.theory` and `sluice.learn` are imported by themselves.
"""


def page():
    """Return the page, as Markdown."""
    parts = [HEAD]
    for name in MODULES:
        module = importlib.import_module(name)
        parts.append(f"## {name}\n\n{markdown(module)}\n")
        parts += [entry(public, getattr(module, public)) for public in sorted(module.__all__, key=order)]
    return "\n".join(part for part in parts if part)


def order(name):
    """Functions first, then classes."""
    return name[0].isupper(), name.lower()


def entry(name, thing):
    """Return the entry of a name of a module."""
    if inspect.isclass(thing):
        parts = [f"### {name}\n\n{constructor(name, thing)}{markdown(thing)}\n"]
        parts += [member(key, value) for key, value in members(thing).items() if not key.startswith("_")]
        return "\n".join(part for part in parts if part)
    if inspect.isfunction(thing):
        return f"### {name}\n\n```python\n{name}{signature(thing)}\n```\n\n{markdown(thing)}\n"
    return f"### {name}\n\n`{thing!r}`\n" if isinstance(thing, list) else ""


def members(thing):
    """Return the members of a class, including those of its bases in the package."""
    ours = [one for one in reversed(thing.__mro__) if one.__module__.startswith("sluice")]
    return {key: value for one in ours for key, value in vars(one).items()}


def constructor(name, thing):
    """Return the constructor of a class, if users call it."""
    own = vars(thing).get("__init__")
    if own is None or issubclass(thing, Exception) or "Parameters\n" not in inspect.getdoc(thing):
        return ""
    return f"```python\n{name}{signature(own)}\n```\n\n"


def member(name, value):
    """Return the entry of a method or a property."""
    if isinstance(value, property):
        return f"- `{name}`: {markdown(value)}\n"
    if inspect.isfunction(value) and value.__doc__:
        return f"#### `{name}{signature(value)}`\n\n{markdown(value)}\n"
    return ""


def signature(function):
    """Return the parameters of a function, without `self`, types of modules by their short names."""
    whole = inspect.signature(function)
    kept = [one for one in whole.parameters.values() if one.name != "self"]
    text = str(whole.replace(parameters=kept)).replace("'", "")
    if len(text) < 90:
        return text
    star = next((place for place, one in enumerate(kept) if one.kind is one.KEYWORD_ONLY), None)
    lines = [str(one).replace("'", "") for one in kept]
    if star is not None:
        lines.insert(star, "*")
    end = text[text.rindex(") ->") :] if ") ->" in text else ")"
    return "(\n" + "".join(f"    {line},\n" for line in lines) + end


def markdown(thing):
    """Turn a docstring in numpydoc's style into Markdown."""
    text = re.sub(r"``([^`]*)``", r"`\1`", inspect.getdoc(thing) or "")
    parts = re.split(r"^([A-Z]\w+)\n-+\n", text, flags=re.MULTILINE)
    told = [parts[0].strip()]
    for section, body in zip(parts[1::2], parts[2::2], strict=True):
        told.append(f"**{section}**")
        told.append(listed(body.strip("\n")))
    return "\n\n".join(told).strip()


def listed(body):
    """Turn a section's entries into a list: the name, and what is indented below it."""
    entries = []
    for line in body.split("\n"):
        if line and not line[0].isspace():
            name, _, kind = line.partition(" : ")
            entries.append([f"- `{name}`" + (f" ({kind})" if kind else ""), []])
        elif line.strip():
            entries[-1][1].append(line.strip())
    return "\n".join(f"{head}: {' '.join(about)}" if about else head for head, about in entries)


def main():
    """Write the page to the file that the command line names."""
    Path(sys.argv[1]).write_text(page())


if __name__ == "__main__":
    main()
