#!/usr/bin/env python3
"""Names in comments of C and CUDA sources exist: identifiers (`hx_mesh_free`, `HX_TRY`), members (`dist->dev`,
`hx_device_ops.interface`), arguments (*mesh), endings of names and files (`core/mesh/hex8.h`).

    test_comment_names.py SRCDIR"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
ROOMS = ("core", "app", "gpu", "filters", "lib", "tests")
PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
IDENTIFIER = re.compile(r"\b(?:hx|HX|hextop|HEXTOP)_\w+\b(\*|<|\.\.\.)?")
CHAIN = re.compile(r"(?<![\w./`'\"-])([A-Za-z]\w*)((?:\[[^]]*\])?(?:->|\.)[A-Za-z]\w*(?:(?:->|\.)[A-Za-z]\w*)*)(?!\w|/|\.\w)")
FILE = re.compile(r"(?<![\w.*<>/-])((?:\w[\w-]*/)*\w[\w-]*\.(?:h|c|cu|cuh|inc|py|sh|md|build))\b(?![\w(-])")
ARGUMENT = re.compile(r"(?<![\w*/])\*([a-z]\w+)\b")
ENDING = re.compile(r"`(_\w+)`")
ENDINGS = {"h", "c", "cu", "cuh", "inc", "py", "sh", "md", "build", "vtk"}
NOT_OURS = {"vtkCellType.h", "GmshDefines.h", "file.c"}  # headers of VTK and gmsh; a name in an example


def split(text):
    """(code with every comment and text blanked, [(position, comment)])"""
    comments, code, last = [], [], 0
    for m in PIECE.finditer(text):
        code += [text[last:m.start()], re.sub(r"[^\n]", " ", m[0])]
        last = m.end()
        if m[0][0] == "/":
            comments.append((m.start(), re.sub(r"\n\s*(\*|//) ?", "\n ", m[0])))
    return "".join(code) + text[last:], comments


class Tree:
    def __init__(self, files):
        self.paths = set(files)
        self.names = set()  # of headers that are included, also those that Meson generates or a system has
        self.words, self.texts, self.pairs, self.members, self.types = set(), set(), set(), {}, {}
        self.words_of, self.includes = {}, {}  # by base name of a file

    def read(self, base, text, code):
        words, included = set(re.findall(r"\b[A-Za-z_]\w*\b", code)), re.findall(r"#\s*include\s*[<\"]([^>\"]+)", text)
        included = {path.rsplit("/", 1)[-1] for path in included}
        self.words |= words
        self.words_of.setdefault(base, set()).update(words)
        self.includes.setdefault(base, set()).update(included)
        self.texts |= {m[0][1:-1] for m in PIECE.finditer(text) if m[0][0] == '"'}  # keys, variables of the environment
        self.names |= included
        self.pairs |= set(re.findall(r"\b([A-Za-z_]\w*)\s*(?:\[[^][]*\])?\s*(?:->|\.)\s*(?=([A-Za-z_]\w*))", code))
        for name, body in structs(code):
            self.members.setdefault(name, set()).update(re.findall(r"\b[A-Za-z_]\w*\b", body))
        for kind, name in re.findall(r"\b([A-Za-z_]\w*)\s*(?:\*\s*|const\s+)*\b([A-Za-z_]\w*)\s*(?=[;,)=\[{])", code):
            self.types.setdefault(name, set()).add(kind)

    def finish(self):
        self.words |= self.texts
        self.all_members = set().union(*self.members.values())
        self.ends = {p[at + 1:] for p in self.paths for at in range(len(p)) if p[at] == "/"} | self.paths | NOT_OURS

    def words_near(self, base):
        """Words of the file, of files with the same stem and of those that it includes."""
        near = {base.rsplit(".", 1)[0] + end for end in (".h", ".c", ".cu", ".cuh", ".inc")} | self.includes[base]
        return set().union(*(self.words_of.get(name, ()) for name in near))

    def has_identifier(self, name, is_open):
        return name in self.words or ((is_open or name.endswith("_")) and any(w.startswith(name) for w in self.words))

    def has_file(self, path):
        return path in self.ends or path in self.names

    def has_member(self, owner, member):
        kinds = {owner} | (set() if owner.startswith("hx_") else self.types.get(owner, set()))
        return (owner, member) in self.pairs or any(member in self.members.get(kind, ()) for kind in kinds)

    def may_be_code(self, chain, names):
        """Not a key of the config, a file, a formula or a placeholder."""
        return (names[-1] in self.all_members and chain not in self.texts and not ENDINGS & set(names[1:]) and
                not all(len(n) == 1 for n in names) and not any(n.isupper() and len(n) > 1 for n in names))


def structs(code):
    """(name, text between the braces) of each struct and union, also of inner ones."""
    for m in re.finditer(r"\b(?:struct|union)\s+(\w+)[^;{}()]*\{", code):
        depth, at = 1, m.end()
        while depth and at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        yield m[1], code[m.end():at]


def faults_of(tree, base, comment):
    """Names in a comment that the tree, or the file, lacks."""
    arguments, endings = ARGUMENT.findall(comment), ENDING.findall(comment)
    near = tree.words_near(base) if arguments or endings else ()
    yield from ("*" + name for name in arguments if name not in near)
    yield from (end for end in endings if not any(word.endswith(end) for word in near))
    for m in IDENTIFIER.finditer(comment):
        name = m[0].rstrip("*<.")
        if not tree.has_identifier(name, bool(m[1])):
            yield name
    for m in FILE.finditer(comment):
        if not tree.has_file(m[1]):
            yield m[1]
    for m in CHAIN.finditer(comment):
        names = re.findall(r"[A-Za-z]\w*", re.sub(r"\[[^]]*\]", "", m[0]))
        if "->" not in m[0] and not names[0].startswith("hx_") and not tree.may_be_code(m[0], names):
            continue
        if not all(tree.has_member(owner, member) for owner, member in zip(names, names[1:])):
            yield m[0]


def main():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sources = [f for f in files if f.startswith(tuple(r + "/" for r in ROOMS)) and re.search(r"\.(c|h|cu|cuh|inc)$", f)]
    tree, comments = Tree(files), []
    for file in sources:
        text = (ROOT / file).read_text(encoding="utf-8")
        code, found = split(text)
        tree.read(file.rsplit("/", 1)[-1], text, code)
        comments += [(file, text.count("\n", 0, at) + 1, comment) for at, comment in found]
    tree.finish()
    faults = []
    for file, line, comment in comments:
        faults += [f"{file}:{line}: no {name}" for name in faults_of(tree, file.rsplit("/", 1)[-1], comment)]
    print("\n".join(faults))
    print(f"{len(comments)} comments of {len(sources)} files, {len(faults)} faults")
    return bool(faults)


sys.exit(main())
