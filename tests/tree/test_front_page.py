#!/usr/bin/env python3
"""README.md for a newcomer: the first example, run as printed, reaches the black-and-white design that it shows, and
every figure is dated and occurs in a notebook entry that the same paragraph links.

    test_front_page.py HEXTOP SRCDIR

First, the rules must find the faults in made-up texts."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ENTRY = re.compile(r"\]\((doc/notebook/(\d{4}-\d\d-\d\d)-[\w-]+\.md)")
# A figure: a number with a decimal point, a percentage, groups of thousands, or in front of a unit of measurement.
FIGURE = re.compile(r"(?<![\w./-])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w./-]*\.\w)")
UNIT = re.compile(r" ?(?:%|(?:s|ms|us|min|minutes|seconds|hours|GB|MB|kB|bytes|times|million|billion|elements|designs|"
                  r"hexahedra|iterations)\b)")
MOST_LINES = 100  # one and a half screens, including lists


def paragraphs(text):
    """Text and ```text blocks in order; a block belongs to the paragraph that follows it. Commands are left out."""
    block = ""
    for part in re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```"):
            block = part if part.startswith("```text") else ""
            continue
        for paragraph in re.split(r"\n\n|\n(?=- )", part):
            if paragraph.strip():
                yield block, paragraph.strip()
                block = ""


def figures(paragraph):
    plain = re.sub(r"`[^`]*`|\]\([^)]*\)|\d{4}-\d\d-\d\d", " ", paragraph)
    for match in FIGURE.finditer(plain):
        number = match.group(0)
        if re.search(r"[.,]\d", number) or UNIT.match(plain[match.end():]):
            yield number


def figure_faults(text, entry):
    """Faults in the figures of a page; entry(path) is the text of a notebook entry, or None."""
    for block, paragraph in paragraphs(text):
        found = list(figures(paragraph))
        links = ENTRY.findall(paragraph)
        shown = [line for line in block.split("\n")[1:-1] if line.strip() not in ("", "...")]
        if not found and not shown:
            continue
        if not links:
            yield f"figures without a notebook entry: {', '.join(found) or shown[0].strip()}"
            continue
        for path, date in links:
            if date not in paragraph.replace(path, ""):
                yield f"{path}: its date is not in the text"
        texts = [entry(path) for path, _ in links]
        if None in texts:
            yield f"no such entry: {', '.join(path for path, _ in links)}"
            continue
        for number in found:
            if not any(re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", t) for t in texts):
                yield f"{number} is in none of {', '.join(path for path, _ in links)}"
        for line in shown:
            if not any(line in t for t in texts):
                yield f"a line of output is in no entry: {line}"


def check_rules():
    entries = {"doc/notebook/2026-01-02-a.md": "takes 0.33 s\n   1 of 2   3.5\n"}
    link = "([2026-01-02](doc/notebook/2026-01-02-a.md))"
    for text in (f"It takes 0.33 s {link}.", f"```text\n   1 of 2   3.5\n...\n```\n\n*Measured: {link}.*", "C11, 3D, Debian 12.",
                 "```sh\nhextop run a.cfg x=0.4\n```\n\nDone."):
        assert not list(figure_faults(text, entries.get)), (text, list(figure_faults(text, entries.get)))
    for text in ("It takes 0.33 s.", f"It takes 0.34 s {link}.", "65 million elements", "93 % of it",
                 "It takes 0.33 s ([then](doc/notebook/2026-01-02-a.md)).", f"It takes 0.33 s {link.replace('-a.md', '-b.md')}.",
                 "```text\n   1 of 2   3.5\n```\n\nOutput.", f"```text\n   1 of 2   3.6\n```\n\n*Measured: {link}.*"):
        assert list(figure_faults(text, entries.get)), f"not found: {text}"


def first_block(text):
    """The commands of the first block that runs a config."""
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if re.search(r"^hextop run ", block, re.MULTILINE):
            return [line.split(" #")[0].strip() for line in block.split("\n") if line.startswith("hextop ")]
    return []


def number(pattern, text):
    match = re.search(pattern, text)
    return float(match.group(1)) if match else float("nan")


def example_faults(hextop, root, text):
    lines = first_block(text)
    if not any(line.startswith("hextop verify ") for line in lines):
        yield f"the first example is not verified: {lines}"
    script = (root / "examples" / "quickstart.sh").read_text(encoding="utf-8")
    for line in lines:
        if line.startswith(("hextop run ", "hextop verify ")) and f"build/app/{line}\n" not in script:
            yield f"examples/quickstart.sh does not run: {line}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "configs", pathlib.Path(folder) / "configs")
        output = ""
        for line in lines:
            done = subprocess.run([hextop, *line.split()[1:]], cwd=folder, capture_output=True, text=True, check=False)
            output += done.stdout
            if done.returncode != 0 or "warning" in done.stderr:
                yield f"{line}: exit status {done.returncode}: {done.stderr}"
        made = [line.split()[-1] for line in lines if re.search(r"\.(stl|html)$", line)]
        for name in made:
            if not (pathlib.Path(folder) / name).stat().st_size > 1000:
                yield f"{name} is empty"
    rules = {r"greyness ([\d.e+-]+) after": (0.0, 0.05), r"compliance, N mm .* ([+-][\d.]+) %": (-3.0, 3.0)}
    for pattern, (least, largest) in rules.items():
        if not least <= number(pattern, output) <= largest:
            yield f"{pattern}: {number(pattern, output)} is not within {least} and {largest}"
    shown, found = (number(r"compliance ([\d.]+) N mm, volume", t) for t in (text, output))
    if not abs(shown - found) <= 0.01 * found:
        yield f"README.md shows a compliance of {shown}, the run ends at {found}"
    if "one piece, all attached" not in output:
        yield "verify does not end with one piece, all attached"


def main(hextop, source):
    check_rules()
    root = pathlib.Path(source).resolve()
    text = (root / "README.md").read_text(encoding="utf-8")

    def entry(path):
        file = root / path
        return file.read_text(encoding="utf-8") if file.exists() else None

    faults = [*figure_faults(text, entry), *example_faults(pathlib.Path(hextop).resolve(), root, text)]
    if len(text.split("\n")) > MOST_LINES:
        faults.append(f"{len(text.split(chr(10)))} lines, {MOST_LINES} at most")
    print("\n".join(faults))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
