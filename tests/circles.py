"""Check that folders and files use each other in one direction only, in every crate and in the Python package:
`circles.py [FOLDER ...]`

Use goes one way between the folders that stand side by side, between the files at the root of a crate, and between all files
but that one may use the file of a folder in which it stands.

A Rust file uses another where its code names that one's module, by `crate::`, `super::` or as its own child. What a file
only hands on (`pub use`) is used from where it stands. What an argument of a macro names (`crate::$module`) is used where
the macro is called. A Python module uses what it imports, also in a function. Tests may use whatever they test.
"""

import ast
import pathlib
import re
import sys

import rust

COMMENT = re.compile(r"//.*")
INLINE = re.compile(r"( *)(?:pub(?:\([a-z]+\))? )?mod (\w+) \{$")
PATH = re.compile(r"(?<![\w:])(\w+)::")
ROOT = rust.ROOT
ROOTS = ("lib.rs", "main.rs")
HANDED_ON = re.compile(r"^ *pub(?:\([a-z]+\))? use ", re.MULTILINE)


def paths(text, at=0):
    """Those that begin at `at` in `a::b::{c, d::e}`: each as a list of its names."""
    names = []
    while True:
        name = re.compile(r"\s*(\w+)").match(text, at)
        if name:
            names.append(name[1])
            at = name.end()
            if text.startswith("::", at):
                at += 2
                # Names in a macro's arguments are used by every caller of the macro.
                if text.startswith("$", at):
                    return [], at
                continue
            return [names], at
        if not text.startswith("{", at):
            return [names], at
        found = []
        while text[at] != "}":
            parts, at = paths(text, at + 1)
            found += [names + part for part in parts]
            # What may follow a name in a group: `as x`, or `*`.
            at = re.compile(r"[^,{}]*").match(text, at).end()
        return found, at + 1


def code(text):
    """The lines of a file that are no tests, each with how many modules within the file it stands in."""
    lines = text.splitlines()
    tests = {number for rows, *_ in rust.tested(lines) for number in rows}
    inside = []
    for number, line in enumerate(lines):
        line = COMMENT.sub("", line)
        opened = INLINE.match(line)
        if number in tests or not line.strip():
            continue
        if opened:
            inside.append(opened[1])
        elif inside and line == f"{inside[-1]}}}":
            inside.pop()
        else:
            yield number + 1, line, len(inside)


class Crate:
    """The files below a folder of a crate's sources, by the names of their modules."""

    def __init__(self, folder):
        root = next(path for path in (folder, *folder.parents) if any((path / name).exists() for name in ROOTS))
        self.files = {}
        for path in sorted([*folder.rglob("*.rs"), *folder.parent.glob(f"{folder.name}.rs")]):
            parts = path.relative_to(root).with_suffix("").parts
            is_root = path.parent == root and path.name in ROOTS
            self.files[() if is_root else tuple(part for part in parts if part != "mod")] = path
        tests = rust.test_files(set(self.files.values()))
        self.files = {module: path for module, path in self.files.items() if path not in tests}
        self.code = {module: list(code(path.read_text())) for module, path in self.files.items()}
        self.handed_on = {module: self.hands_on(module) for module in self.files}
        self.uses = {module: self.used(module) for module in self.files}

    def hands_on(self, module):
        """What a file hands on and does not use itself: the paths, by their names."""
        text = "\n".join(line for _, line, _ in self.code[module])
        found = [path for match in HANDED_ON.finditer(text) for path in paths(text, match.end())[0]]
        return {path[-1]: path for path in found if len(re.findall(rf"\b{path[-1]}\b", text)) == 1}

    def used(self, module):
        """The modules that a file uses, and the line at which it first does."""
        lines = self.code[module]
        joined = "\n".join(line for _, line, _ in lines)
        starts = [0]
        for _, line, _ in lines:
            starts.append(starts[-1] + len(line) + 1)
        children = {name[len(module)] for name in self.files if name[: len(module)] == module and len(name) > len(module)}
        found, place = {}, 0
        for match in PATH.finditer(joined):
            while starts[place + 1] <= match.start():
                place += 1
            number, _, depth = lines[place]
            if match[1] not in ("crate", "super", *children):
                continue
            for path in paths(joined, match.start())[0]:
                if self.handed_on[module].get(path[-1]) == path:
                    continue
                target = self.target(module, depth, path)
                if target is not None and target != module:
                    found.setdefault(target, number)
        return found

    def target(self, module, depth, path):
        """The file in which stands what `path` names in a module so deep in the file of `module`."""
        if path[0] == "crate":
            name = path[1:]
        else:
            ups = next((at for at, part in enumerate(path) if part != "super"), len(path))
            if ups < depth:
                return None
            up = ups - depth if ups else 0
            name = [*module[: len(module) - up], *(path[ups:] if path[0] != "self" else path[1:])]
        for length in range(len(name), -1, -1):
            found = tuple(name[:length])
            if found in self.files:
                handed = self.handed_on[found].get(name[length]) if length < len(name) else None
                return self.target(found, 0, handed) if handed else found
        return None

    def of_files(self):
        """Which file uses which, and where, but for the file of a folder in which it stands."""
        return {
            "::".join(module): {
                "::".join(target): f"{self.files[module]}:{number}"
                for target, number in used.items()
                if target != module[: len(target)]
            }
            for module, used in self.uses.items()
        }

    def of_folders(self):
        """Each circle, in words: of what stands side by side in a folder."""
        for level in sorted({name[:length] for name in self.files for length in range(len(name))}):
            graph = {}
            for module, used in self.uses.items():
                for target, number in used.items():
                    ends = [self.node(level, name) for name in (module, target)]
                    if None not in ends and ends[0] != ends[1]:
                        graph.setdefault(ends[0], {}).setdefault(ends[1], f"{self.files[module]}:{number}")
            yield from told(graph, f"in {'::'.join(('crate', *level))}")

    def node(self, level, module):
        """What `module` is part of among its neighbours in the folder `level`: a folder, or a file at the root."""
        if module[: len(level)] != level or module == level:
            return None
        node = module[: len(level) + 1]
        is_folder = any(name[: len(node)] == node and len(name) > len(node) for name in self.files)
        return "::".join(node) if is_folder or not level else None


def of_python(folder):
    """Which module of a Python package imports which, and where; and how many there are."""
    files = {path.relative_to(folder).with_suffix("").parts: path for path in sorted(folder.rglob("*.py"))}
    modules = {name[:-1] if name[-1] == "__init__" else name: path for name, path in files.items()}
    graph = {}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name[:-1]
        for line in ast.walk(ast.parse(path.read_text())):
            if not isinstance(line, ast.ImportFrom) or line.level == 0:
                continue
            origin = (*package[: len(package) - line.level + 1], *(line.module or "").split("."))
            origin = tuple(part for part in origin if part)
            for alias in line.names:
                target = next((known for known in ((*origin, alias.name), origin) if known in modules), None)
                if target and target != name:
                    graph.setdefault(".".join(name), {}).setdefault(".".join(target), f"{path}:{line.lineno}")
    return graph, len(modules)


def told(graph, where):
    """The circles of a graph, in words."""
    for circle in circles_of(graph):
        yield "\n".join([f"a circle {where}:", *(f"  {one} uses {other} at {line}" for one, other, line in circle)])


def circles_of(graph):
    """A shortest circle through each node that is in one, without those that were found; as steps with their places."""
    seen = set()
    for start in sorted(graph):
        came, queue = {}, [start]
        while queue and start not in came:
            node = queue.pop(0)
            for target in sorted(graph.get(node, {})):
                if target not in came:
                    came[target] = node
                    queue.append(target)
        if start not in came or start in seen:
            continue
        circle, node = [], start
        while not circle or node != start:
            before = came[node]
            circle.insert(0, (before, node, graph[before][node]))
            node = before
        seen |= {node for node, _, _ in circle}
        yield circle


def main():
    chosen = [pathlib.Path(word).resolve() for word in sys.argv[1:]]
    wrong, count = [], 0
    for folder in chosen or [*sorted(ROOT.glob("crates/*/src")), ROOT / "python/sluice"]:
        if any(folder.glob("*.py")):
            graph, files = of_python(folder)
        else:
            crate = Crate(folder)
            wrong += crate.of_folders()
            graph, files = crate.of_files(), len(crate.files)
        count += files
        wrong += told(graph, f"in {folder.relative_to(ROOT)}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"circles: none among the folders and the files, of which there are {count}")


if __name__ == "__main__":
    main()
