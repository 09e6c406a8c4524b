#!/usr/bin/env python3
"""The rules of language in CONTRIBUTING that a machine can check, over documents, comments and messages.

    test_words.py SRCDIR

Where git finds changes since HEAD, only lines of changed paragraphs, comments and messages are checked; otherwise the whole
tree. First, every rule must find its example. STAY lists the places that a rule finds and that are right, with the reason."""
import io
import pathlib
import re
import subprocess
import sys
import tokenize

# What is found in a sentence, why it is wrong, and an example that must be found.
RULES = [(re.compile(pattern, flags), advice, example) for pattern, advice, example, flags in [
    (r"^(?:Of|The same|Those|So many|So often)\b", "a comment begins with its subject", "Of the last design.", 0),
    (r"\b(?:seconds?|s|ms|bytes|iterations|operations|launches) (?:a|an|each) "
     r"(?:design|element|node|solve|step|product|rank|process|face)\b", "per design, per element", "takes 12 bytes an element", re.I),
    (r"\b(?:says|said|say|tells|told|knows|wants|asks|doubts) (?:so|how|what|whether|that it|nothing)\b",
     "a program prints, returns, reports, warns", "the message says what is wrong", re.I),
    (r"\bwhere (?:there (?:is|are)|it is|one is|no |none )", '"if"', "is 0 where there is none", re.I),
    (r"\b(?:as well|likewise|besides)[.;]", "a word that stands for content at the end", "the others as well.", re.I),
    (r"\bfrom \d[\d,]* on\b", "at least N", "from 500 on it is faster", re.I),
    (r"\b(?:anew|thereof|therein|hereby|whatever (?:its|their))\b", "modern English", "is meshed anew", re.I),
    (r"\bloose (?:bits?|parts?)\b|\blumps?\b", "floating component", "a loose part of the design", re.I),
    (r"\bpoints? in common\b|\bcommon points?\b", "interface nodes", "the points in common of two ranks", re.I),
    (r"\bshares? of (?:a|the) (?:mesh|design)\b", "subdomain", "a share of the mesh", re.I),
    (r"\blattices?\b", "coarse grid, or level", "the first lattice", re.I),
    (r"\bthe paper\b", "author and year", "as in the paper", re.I),
    (r"\bhang(?:s|ing)? on\b", "is connected to", "hangs on nothing but void", re.I),
    (r"\bmend(?:s|ed|ing)?\b|\bmakes? (?:less|more) of\b", "fixes, repairs, reduces", "a finer mesh mends it", re.I),
]]

# (file, phrase): why it stays.
STAY = {
    ("app/help/help_words.c", "loose parts"): "`hextop help` answers old words",
    ("core/base/old_names.c", "loose parts"): "a key of old results, which is still read",
    ("core/surface/cut_mesh.h", "lattice"): "the regular lattice of isosurface stuffing, not a coarse grid",
    ("doc/references.md", "Lattice"): "the title of a paper",
}
FOLDERS = ("app", "configs", "core", "doc", "examples", "filters", "gpu", "lib", "tests")
# Entries of the notebook are never edited; inputs that must be refused, and those of the fuzzer, are data.
LEFT_OUT = ("doc/notebook/", "tests/bad/", "tests/fuzz/found/", "tests/fuzz/seeds/", "tests/tree/test_words.py")
C = re.compile(r'/\*(.*?)\*/|"((?:[^"\\\n]|\\.)*)"|//([^\n]*)|' r"'(?:[^'\\\n]|\\.)+'", re.S)
SHELL = re.compile(r"^[ \t]*#(?!!) ?(.*)$", re.M)


def comments_of_python(text):
    """Comments and docstrings; other strings may hold anything, such as configs and names."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_doc = token.type == tokenize.STRING and not token.line[:token.start[1]].strip()
        if is_doc or token.type == tokenize.COMMENT:
            prose = re.sub(r"`[^`]*`", "x", re.sub(r"\s+", " ", token.string.strip("#\"' ")))
            yield token.start[0], token.end[0] - token.start[0] + 1, prose.strip()


def pieces(path, text):
    """(line, number of lines, prose): comments and messages of a source, paragraphs of a document."""
    suffix = path.rsplit(".", 1)[-1]
    if suffix == "py":
        yield from comments_of_python(text)
        return
    if suffix == "md":
        text = re.sub(r"^(```+)(.*?)^\1", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
        text = re.sub(r"``?[^`]*``?|\"[^\"\n]*\"", "x", text)
        matches = re.finditer(r"(?:^(?!\s*$).+\n?)+", text, re.M)
    elif suffix in ("c", "h", "cu", "cuh", "inc"):
        matches = C.finditer(text)
    else:
        matches = SHELL.finditer(text)
    for m in matches:
        prose = next((g for g in m.groups() if g is not None), None) if m.groups() else m.group(0)
        if prose and " " in prose.strip():
            prose = re.sub(r"\n[ \t]*[*#]? ?", " ", prose)
            yield text.count("\n", 0, m.start()) + 1, m.group(0).count("\n") + 1, re.sub(r"`[^`]*`", "x", prose.strip(" *"))


def git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed(root):
    """{file: set of lines} since HEAD; None for all lines of a new file."""
    lines, path = {}, None
    for line in git(root, "diff", "-U0", "--no-color", "HEAD"):
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@") and path:
            start, _, n = re.search(r"\+(\d+)(,?)(\d*)", line).groups()
            lines.setdefault(path, set()).update(range(int(start), int(start) + int(n or 1)))
    lines.update((name, None) for name in git(root, "ls-files", "--others", "--exclude-standard"))
    return lines


def check_rules():
    for rule, advice, example in RULES:
        if not rule.search(example):
            sys.exit(f"the rule '{advice}' does not find: {example}")
    for path, text, n in (("a.c", '/* Of two\n * lines. */ f("the lattice"); // the paper', 3), ("a.md", "It is\nmeshed anew.\n\n`a lattice`\n", 1),
                          ("a.py", '"""Those of it."""\n# the paper\n', 2), ("a.sh", "#!/bin/sh\n# Of all\n", 1)):
        found = sum(bool(rule.search(prose)) for _, _, prose in pieces(path, text) for rule, _, _ in RULES)
        if found != n:
            sys.exit(f"{path}: {found} places found, not {n}")


def main(root):
    check_rules()
    lines, files, faults, met = changed(root), 0, 0, set()
    paths = [p for p in sorted(pathlib.Path(root).glob("*.md")) if p.name != "CHANGELOG.md"]
    paths += [p for folder in FOLDERS for p in sorted((pathlib.Path(root) / folder).rglob("*"))
              if p.suffix in (".md", ".c", ".h", ".cu", ".cuh", ".inc", ".py", ".sh", ".cfg")]
    for path in paths:
        name = path.relative_to(root).as_posix()
        if name.startswith(LEFT_OUT) or lines and name not in lines:
            continue
        files += 1
        for at, n, prose in pieces(name, path.read_text(encoding="utf-8", errors="replace")):
            if lines and lines[name] is not None and not lines[name] & set(range(at, at + n)):
                continue
            for rule, advice, _ in RULES:
                for hit in rule.finditer(prose):
                    if hit.group(0).isupper():  # a name of the source
                        continue
                    if (name, hit.group(0)) in STAY:
                        met.add((name, hit.group(0)))
                        continue
                    faults += 1
                    around = prose[max(0, hit.start() - 40):hit.end() + 40]
                    print(f"{name}:{at}: '{hit.group(0)}' ({advice}): ...{around}...")
    for name, phrase in () if lines else sorted(set(STAY) - met):
        faults += 1
        print(f"{name}: STAY has '{phrase}', which is not found there")
    print(f"{files} files{' that changed' if lines else ''}, {faults} faults")
    return 1 if faults or not files and not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
