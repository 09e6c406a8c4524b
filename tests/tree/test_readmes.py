#!/usr/bin/env python3
"""Statements of the READMEs: links and anchors have targets, source files that are named exist, headers
are named in the README of their room, and every `hextop` line in a ```sh block works. tests/README.md describes what is
run and how it is cut short. The README of a room has at most 60 lines and no measured number: measurements are
entries of doc/notebook, which keep the file names and commands of their day, so only their links are checked.

    test_readmes.py HEXTOP SRCDIR [-v]      -v: prints the lines that are run

Needs only Python 3. If gmsh is not installed, the rest of a block that needs it is skipped, with a note."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HEXTOP = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(sys.argv[2]).resolve()
FOLDERS = ("app", "configs", "core", "doc", "examples", "filters", "gpu", "lib", "tests")
ROOMS = ("app", "core", "filters", "gpu", "lib", "tests")
NOTEBOOK = pathlib.Path("doc/notebook")
COMMANDS = ("hextop", "build/app/hextop")
SOURCE = re.compile(r"`([\w./-]+\.(?:c|h|cu|cuh|inc|py|sh))`")
# The coarse meshes in examples/, which gmsh makes in a second.
COARSE = {"bracket": "6.9", "hook": "7", "bell-crank": "6"}
# CAD models and a coarse size of their elements, in mm.
MODELS = {"bearing": 8, "l-bracket": 12, "motor-mount": 20}
# Spline volumes, refined to the fewest spans that still give a part.
REFINE = {"pipe_bracket": "[2,2,2]", "spline_part": "[1,1,1]"}

PAGE = re.compile(r"\bdoc/[\w/.-]+\.md\b")
# The README of a room.
MOST_LINES = 60
# A number with a unit of measurement.
UNIT = (r"[num\u00b5]?s|min|seconds?|minutes?|hours?|days?|[kMGT]?i?B(?:/s)?|bytes?|[kMG]?Hz|times|iterations|"
        r"(?:G|M|million) (?:elements|tetrahedra|nodes)(?:/s| a second)?")
MEASURED = re.compile(rf"(?<![\w.#/-])\d[\d.,]*(?: to \d[\d.,]*)?[ -]?(?:%|(?:{UNIT})(?![\w-]))")
n_checked = {"links": 0, "rooms": 0, "entries": 0, "names": 0, "commands": 0, "mentions": 0}
faults = []


def fault(path, number, text):
    faults.append(f"{path.relative_to(ROOT)}:{number}: {text}")


def pages():
    """The project's own Markdown files, without build folders and output of runs."""
    yield from sorted(ROOT.glob("*.md"))
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.md"))


class Page:
    """The text of a file outside code blocks, [(number, line)], and the blocks, [(number, info, lines)]."""

    def __init__(self, path):
        self.path, self.text, self.blocks = path, [], []
        block = indented = None
        blank = True
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if block is not None:
                if line.startswith("```"):
                    block = None
                else:
                    block.append(line)
            elif line.startswith("```"):
                block = []
                self.blocks.append((number, line[3:].strip(), block))
            elif line.startswith("    ") and (indented is not None or blank):
                if indented is None:
                    indented = []
                    self.blocks.append((number - 1, "", indented))
                indented.append(line[4:])
                continue
            else:
                self.text.append((number, line))
            indented, blank = None, not line.strip()

    def anchors(self):
        """The anchor that GitHub gives to a heading."""
        seen = {}
        for _, line in self.text:
            if not re.match(r"#{1,6} ", line):
                continue
            name = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            seen[name] = seen.get(name, -1) + 1
            yield f"{name}-{seen[name]}" if seen[name] else name


def check_links(page, all_pages):
    for number, line in page.text:
        line = re.sub(r"(`+).*?\1(?!\()", lambda m: m.group(0) if "](" in m.group(0) else "`x`", line)
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            n_checked["links"] += 1
            name, _, anchor = target.partition("#")
            path = (page.path.parent / name).resolve() if name else page.path
            if not path.exists():
                fault(page.path, number, f"no such file: {target}")
            elif anchor and (path not in all_pages or anchor not in all_pages[path].anchors()):
                fault(page.path, number, f"no such heading: {target}")


def check_names(page, sources):
    """File names are unique, so a bare name identifies a file; a path must be correct."""
    for number, line in page.text:
        for name in SOURCE.findall(line):
            if "*" in name or "NAME" in name or name.startswith("."):
                continue
            n_checked["names"] += 1
            if not any(s == name or s.endswith("/" + name) for s in sources):
                fault(page.path, number, f"no such source file: {name}")


def check_rooms(sources, all_pages):
    """Each room of core and app has a README, which names each of its headers."""
    for header in sources:
        path = ROOT / header
        if not header.startswith(("core/", "app/")) or header.count("/") != 2:
            continue
        page = all_pages.get(path.parent / "README.md")
        if not page:
            fault(path, 1, "its room has no README.md")
        elif header.endswith(".h") and not any(f"`{path.name}`" in line for _, line in page.text):
            fault(page.path, 1, f"does not name {path.name}, which lies beside it")


def check_backends(all_pages):
    """Each room of the two backends has a README, and that of the tests of the tree names each of them."""
    for home in ("gpu", "core/cpu"):
        for path in sorted((ROOT / home).glob("*/")):
            if any(path.glob("meson.build")) and path / "README.md" not in all_pages:
                fault(path, 1, "this room has no README.md")
    page = all_pages[ROOT / "tests/tree/README.md"]
    text = "\n".join(line for _, line in page.text)
    for path in sorted((ROOT / "tests/tree").glob("test_*")):
        if f"`{path.name}`" not in text:
            fault(page.path, 1, f"does not name {path.name}, which lies beside it")


def check_rule():
    """The rule has to find measurements in made-up sentences, and nothing in others."""
    for text in ("a look takes 0.05 s", "of 140 GB", "takes 12 iterations", "it is 3 times faster", "1.2 to 1.4 ms",
                 "26.0 G tetrahedra/s", "half of it, 8.3 %", "22.0 G elements/s", "24 bytes a node", "47.9 GB/s"):
        if not MEASURED.search(text):
            sys.exit(f"the rule does not find the measurement in: {text}")
    for text in ("symmetric 3x3 blocks", "numbered in 31 bits", "degrees are 1 to 4", "at most 32 ranks", "P1 to P5",
                 "hex20 and tet10", "compute capabilities, 80 and 90", "a 0/1 design", "IEEE 754 singles", "C3D8S"):
        if MEASURED.search(text):
            sys.exit(f"the rule finds a measurement in: {text}")


def check_size(page):
    """The README of a room: short, and without measurements."""
    n = len(page.path.read_text(encoding="utf-8").splitlines())
    n_checked["rooms"] += 1
    if n > MOST_LINES:
        fault(page.path, n, f"{n} lines; a room's README has at most {MOST_LINES}: method belongs in doc/theory.md, "
                            "measurements in doc/notebook")
    for number, line in page.text:
        found = MEASURED.search(re.sub(r"(`+).*?\1", "`x`", line))
        if found:
            fault(page.path, number, f"a measured number, '{found.group(0)}': it belongs in doc/notebook")


def check_index(all_pages):
    """The notebook's README lists each of its entries."""
    index = (ROOT / NOTEBOOK / "README.md").read_text(encoding="utf-8")
    for path in all_pages:
        if path.parent == ROOT / NOTEBOOK and path.name != "README.md" and f"({path.name})" not in index:
            fault(path, 1, f"{NOTEBOOK}/README.md does not list it")


def check_entries(sources):
    """Pages of doc that a source names exist, such as the measurement of a constant. Some tests of texts make up
    names."""
    for source in sources:
        if source.endswith((".c", ".h", ".cu", ".cuh", ".inc", ".py", ".sh")) and "tests/tree/" not in source:
            text = (ROOT / source).read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.split("\n"), 1):
                for name in PAGE.findall(line):
                    n_checked["entries"] += 1
                    if not (ROOT / name).exists():
                        fault(ROOT / source, number, f"no such page: {name}")


def hextop(*words):
    return subprocess.run([HEXTOP, *words], capture_output=True, text=True, check=False)


def check_mentions(page):
    """`hextop ...` within a sentence or a table: its command and its options exist."""
    general = hextop("help").stdout
    for number, line in page.text:
        for mention in re.findall(r"`hextop ([^`]+)`", line):
            n_checked["mentions"] += 1
            words = [w.strip("[],") for w in mention.split()]
            command = next((w for w in words if not w.startswith("-")), None)
            about = hextop("help", command) if command and command.islower() else None
            if about and about.returncode != 0:
                fault(page.path, number, f"no such command: hextop {mention}")
                continue
            known = general + (about.stdout if about else "")
            for option in (w for w in words if w.startswith("-")):
                if not re.search(re.escape(option.split("=")[0]) + r"\b", known):
                    fault(page.path, number, f"no such option: {option} in hextop {mention}")
            if command == "help" and len(words) > 1 and not any(w.isupper() for w in words):
                if hextop(*words).returncode != 0:
                    fault(page.path, number, f"fails: hextop {mention}")


def shortened(line, words):
    """The line with changes that make it take a second instead of minutes."""
    add = []
    command = next((w for w in words[1:] if not w.startswith("-")), "")
    if "--paper" in words:
        add += ["--sizes", "20x4x4"]
    elif command in ("run", "check", "analyse", "compare", "matrix", "mesh") and re.search(r"configs/(?!first\b|inverter|gripper)\w+\.cfg\b", line):
        add += ["mesh.size=0", "mesh.nx=20", "mesh.ny=", "mesh.nz="]
    if command in ("run", "check", "analyse", "compare", "matrix", "verify"):
        add += ["solver.device=cpu", "solver.tolerance=1e-3"]
    for part, size in MODELS.items():
        if f"/{part}.cfg" in line:
            add.append(f"mesh.element_size={size}")
    for part, refine in REFINE.items():
        if f"/{part}.cfg" in line:
            add.append(f"'mesh.refine={refine}'")
    if command in ("run", "lightest"):
        add.append("optimization.iterations=2")
    if command == "lightest":
        add += ["--tries", "1", "--refine", "0"]
    if command == "compare":
        add += ["--repeats", "3", "--iterations", "3"]
    return " ".join([line, *add])


def find_result(line):
    """A shortened run ends with a lower number. If a line names a result that does not exist, the last result is
    copied to that name."""
    for name in re.findall(r"\S+/density_\d{4}\.vtk", line):
        path = pathlib.Path(name)
        written = sorted(path.parent.glob("density_*.vtk"))
        if not path.exists() and written:
            shutil.copy(written[-1], path)


def run_block(page, number, lines, work, environment):
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).split("\n"):
        command, _, comment = line.partition(" #")
        command = command.strip()
        words = shlex.split(command, comments=True)
        if not words or comment.strip().startswith("GPU"):
            continue
        if (words[0] == "gmsh" or any(f"/{model}." in command for model in MODELS)) and not shutil.which("gmsh"):
            print(f"{page.path.relative_to(ROOT)}:{number}: no gmsh: rest of the block not run")
            return
        if words[0] == "gmsh":
            for part, size in COARSE.items():
                if f"/{part}.geo" in command:
                    command = re.sub(r"(-setnumber h) \S+", rf"\1 {size}", command)
        elif words[0] in COMMANDS:
            find_result(command)
            command = shortened(re.sub(r"^\S+", "hextop", command), words)
        else:
            continue
        n_checked["commands"] += 1
        began = time.monotonic()
        done = subprocess.run(command, shell=True, cwd=work, env=environment, capture_output=True,
                              text=True, check=False)
        if "-v" in sys.argv:
            print(f"{time.monotonic() - began:5.1f} s  {command}", flush=True)
        # Two designs do not make a part that meets its limits: lightest exits with 4.
        if done.returncode != 0 and not (done.returncode == 4 and "lightest" in words):
            said = done.stdout[-500:] + done.stderr[-500:]
            fault(page.path, number, f"exit status {done.returncode}: {command}\n{said}")


def run_page(page, parent):
    """Runs the page's blocks in order, in a folder of their own."""
    work = pathlib.Path(tempfile.mkdtemp(dir=parent))
    os.chdir(work)
    shutil.copytree(ROOT / "configs", work / "configs")
    shutil.copytree(ROOT / "examples", work / "examples", ignore=shutil.ignore_patterns("pictures"))
    environment = dict(os.environ, PATH=f"{HEXTOP.parent}:{os.environ['PATH']}", PWD=str(work),
                       OMP_NUM_THREADS="1")  # meshes are small: threads would only wait for each other
    for number, info, lines in page.blocks:
        language, _, name = info.partition(" ")
        if language == "sh":
            run_block(page, number, lines, work, environment)
        elif any(re.match(r"\s*(\$ )?(build/app/)?hextop (?![\[\d*])\S", line) for line in lines):
            fault(page.path, number, "a hextop line outside of a ```sh block: it is not tested")
        if name:
            (work / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.chdir(ROOT)
    shutil.rmtree(work)


def main():
    all_pages = {path: Page(path) for path in pages()}
    sources = [str(p.relative_to(ROOT)) for folder in FOLDERS
               for p in (ROOT / folder).rglob("*") if p.is_file()]
    check_rule()
    check_rooms(sources, all_pages)
    check_backends(all_pages)
    check_index(all_pages)
    check_entries(sources)
    with tempfile.TemporaryDirectory() as parent:
        for page in all_pages.values():
            place = page.path.relative_to(ROOT)
            check_links(page, all_pages)
            if place.parts[0] in ROOMS and page.path.name == "README.md":
                check_size(page)
            if NOTEBOOK in place.parents and page.path.name != "README.md":
                continue
            check_mentions(page)
            if page.path.name != "CHANGELOG.md":  # it names files that do not exist any longer
                check_names(page, sources)
            run_page(page, parent)
    print("\n".join(faults))
    print(", ".join(f"{n} {what}" for what, n in n_checked.items()),
          f"of {len(all_pages)} pages, {len(faults)} faults")
    if min(n_checked.values()) == 0:
        sys.exit("nothing was checked: is this the root of the source?")
    sys.exit(bool(faults))


main()
