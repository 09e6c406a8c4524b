#!/usr/bin/env python3
"""The tutorial's commands, run as they stand there, print what it quotes: words as they are, numbers within 2 %, percentages
within 0.3, counts of triangles and PCG iterations within 10 %. Times, memory, residuals and the places of largest values are
not compared, nor what a quotation leaves out by "...".

    test_tutorial.py HEXTOP SRCDIR [TUTORIAL.md]"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PAGE = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else os.path.join(ROOT, "doc", "tutorial.md")
ENV = dict(os.environ, OMP_NUM_THREADS="2")
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
ROW = re.compile(r" *\d+ of \d+ ")
UNCOMPARED = re.compile(r"\d[\d.]*(?:e[-+]\d+)? (?:s|min|[kMG]?B)\b")  # times and memory
PLACE = re.compile(r"^ *(?:element, case|at|surface +\S+: |von Mises, Gauss|displacement) ")
COUNT = re.compile(r"(?:PCG iterations|triangles|vertices|iterations$)")
n_check = n_failed = 0


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def parts(page):
    """("text", sentences) and (language, name, lines) of the page's blocks, in their order."""
    text, block, head = [], None, ""
    for line in page.split("\n"):
        if line.startswith("```") and block is None:
            yield "", "", " ".join(text)
            text, block, head = [], [], line[3:].strip()
        elif line.startswith("```"):
            language, _, name = head.partition(" ")
            yield language, name, "\n".join(block)
            block = None
        elif block is None:
            text.append(line)
        else:
            block.append(line)


def run(command):
    words = shlex.split(command)
    done = subprocess.run([HEXTOP, *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV, timeout=400,
                          check=False)
    check(done.returncode == 0, f"{command}: exit {done.returncode}, {done.stderr[-300:]}")
    return (done.stdout + done.stderr).split("\n")


def value(text):
    return float(text.replace(",", "").rstrip("."))


def is_like(quoted, printed):
    """True if a printed line agrees with the quoted one."""
    if ROW.match(quoted):  # iteration, compliance, volume, change, greyness
        quoted, printed = (" ".join(line.split()[:7]) for line in (quoted, printed))
    quoted, printed = (" ".join(UNCOMPARED.sub("#", line).split()) for line in (quoted, printed))
    if NUMBER.sub("#", quoted) != NUMBER.sub("#", printed):
        return False
    if PLACE.match(quoted):
        return True
    bound = 0.1 if COUNT.search(quoted) else 0.02
    for a, b in zip(NUMBER.finditer(quoted), NUMBER.finditer(printed)):
        one, two = value(a[0]), value(b[0])
        share = 0.3 if quoted[a.end():a.end() + 2] == " %" else 1e-3
        if abs(one - two) > bound * abs(one) + share:
            return False
    return True


def compare(quotation, printed):
    """Every quoted line is printed, in the order of the quotation."""
    at = 0
    for line in quotation.split("\n"):
        if line.strip() in ("", "..."):
            continue
        found = next((i for i in range(at, len(printed)) if is_like(line, printed[i])), None)
        near = [p for p in printed if p.split()[:1] == line.split()[:1]][:3]
        check(found is not None, f"quoted: {line!r}\n  printed: {near}")
        at = found + 1 if found is not None else at


def main():
    printed, n_quoted = [], 0
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    for language, name, body in parts(page):
        if name:
            with open(name, "w", encoding="utf-8") as file:
                file.write(body + "\n")
        elif language == "sh":
            commands = [line.partition(" #")[0] for line in body.split("\n") if line.startswith("hextop ")]
            printed = [line for command in commands for line in run(command)]
        elif language == "text":
            compare(body, printed)
            n_quoted += 1
        elif not language:  # commands within a sentence
            for command in re.findall(r"`(hextop (?:verify|mesh) [^`]*)`", body):
                printed = run(command)
    check(n_quoted >= 8, f"{n_quoted} quotations")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(1 if n_failed else 0)
