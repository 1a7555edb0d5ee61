"""Check that the folders of a crate use each other in one direction only: `circles.py crates/linux/src ...`

A file uses another where its code names that one's module, by `crate::`, `super::` or as its own child. What a file only hands
on (`pub use`) is used from where it stands. A folder is one thing among the folders beside it; within a folder files may use
each other as they like.
What an argument of a macro names (`crate::$module`) is used where the macro is called. Tests are left out: they may use
whatever they test.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"//.*")
INLINE = re.compile(r"( *)(?:pub(?:\([a-z]+\))? )?mod (\w+) \{$")
TEST_FILE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[path = \"[^\"]*\"\]\s*)?(?:pub(?:\([a-z]+\))? )?mod (\w+);")
PATH = re.compile(r"(?<![\w:])(\w+)::")
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
                # What an argument of a macro names, whoever calls the macro uses.
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
            # What follows a name in a group: `as x`, or `*`.
            at = re.compile(r"[^,{}]*").match(text, at).end()
        return found, at + 1


def code(text):
    """The lines of a file that are no tests, each with how many modules within the file it stands in."""
    inside, skipped, is_test = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        line = COMMENT.sub("", line)
        if skipped is not None:
            skipped = None if line == f"{skipped}}}" else skipped
            continue
        opened = INLINE.match(line)
        if opened and is_test:
            skipped = opened[1]
        elif opened:
            inside.append(opened[1])
        elif inside and line == f"{inside[-1]}}}":
            inside.pop()
        elif line.strip():
            yield number, line, len(inside)
        if line.strip():
            is_test = line.strip() == "#[cfg(test)]"


class Crate:
    """The files below a folder of a crate's sources, by the names of their modules."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        root = next(path for path in (folder, *folder.parents) if any((path / name).exists() for name in ROOTS))
        self.files = {}
        for path in sorted([*folder.rglob("*.rs"), *folder.parent.glob(f"{folder.name}.rs")]):
            parts = path.relative_to(root).with_suffix("").parts
            is_root = path.parent == root and path.name in ROOTS
            self.files[() if is_root else tuple(part for part in parts if part != "mod")] = path
        for module, path in list(self.files.items()):
            for test in TEST_FILE.findall(path.read_text()):
                for name in [name for name in self.files if name[: len(module) + 1] == (*module, test)]:
                    del self.files[name]
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

    def circles(self):
        """Each circle, in words: of the folders beside each other in one folder."""
        folders = {name[:length] for name in self.files for length in range(1, len(name))}
        for level in sorted({()} | folders):
            graph = {}
            for module, used in self.uses.items():
                for target, number in used.items():
                    ends = [name[: len(level) + 1] for name in (module, target)]
                    beside = all(end in folders and end[: len(level)] == level for end in ends)
                    if beside and ends[0] != ends[1]:
                        where = f"{self.files[module]}:{number}"
                        graph.setdefault(ends[0], {}).setdefault(ends[1], where)
            for circle in circles_of(graph):
                steps = [f"  {'::'.join(a)} uses {'::'.join(b)} at {where}" for a, b, where in circle]
                yield "\n".join([f"a circle of folders in {'::'.join(('crate', *level))}:", *steps])


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
    found, files = [], 0
    for folder in sys.argv[1:] or sys.exit("give the folders of sources to look at"):
        crate = Crate(folder)
        files += len(crate.files)
        found += crate.circles()
    if found:
        sys.exit("\n".join(found))
    print(f"circles: none among the folders of {files} files")


if __name__ == "__main__":
    main()
