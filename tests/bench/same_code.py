#!/usr/bin/env python3
"""Compares the machine code of two trees of which one only renames or moves the other's files, functions and types.

    same_code.py OLD_BUILD NEW_BUILD [RENAMES]

Build both with the same compiler and `-g0 -D__LINE__=1 -Wno-builtin-macro-redefined -fmacro-prefix-map=ROOT/=x/`, so that
neither lines nor paths enter the code. RENAMES has lines "OLD_OBJECT NEW_OBJECT" (base names) for renamed files that are
not identified by their number of functions; objects of equal path need no line. Functions are compared in order,
instruction by instruction. Symbols may differ if they map one to one over the whole program, and offsets into sections of
strings may differ. Exit status 1 if anything else differs."""
import os
import re
import subprocess
import sys

SECTIONS = ("-j", ".text", "-j", ".text.unlikely", "-j", ".text.startup")


def objects(build):
    found = {}
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".o"):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, build)] = path
    return found


def functions(path):
    """[(name, lines)]; a line is ("R", type, symbol and offset) of a relocation or ("I", instruction)."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", *SECTIONS, path], capture_output=True, text=True, check=False).stdout
    found = []
    for line in text.split("\n"):
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        reloc = re.match(r"\s*[0-9a-f]+:\s+(R_\w+)\s+(.*)$", line)
        code = re.match(r"\s*[0-9a-f]+:\s+(.*)$", line)
        if head:
            found.append((head[1], []))
        elif reloc and found:
            found[-1][1].append(("R", reloc[1], reloc[2]))
        elif code and found:
            found[-1][1].append(("I", re.sub(r"<[^>]*>", "<>", re.sub(r"\s*#.*", "", code[1]).strip())))
    return found


class Comparison:
    def __init__(self):
        self.new, self.old, self.faults = {}, {}, []
        self.n_function = self.n_line = 0

    def pair(self, place, old, new):
        """The symbol `old` corresponds to `new` from here on, and no other symbol does: in the whole program or, if it is
        static, in its object."""
        place = "" if old.startswith("hx_") else place
        if self.new.setdefault((place, old), new) != new or self.old.setdefault((place, new), old) != old:
            self.faults.append(f"{place}: {old} and {new} are not one to one")

    def lines_agree(self, place, x, y):
        if x[0] != y[0] or x[0] == "I":
            return x == y
        (old, by_old), (new, by_new) = (re.match(r"(.*?)([-+]0x[0-9a-f]+)?$", s).groups() for s in (x[2], y[2]))
        if old.startswith((".rodata.str", ".LC")) and new.startswith((".rodata.str", ".LC")):
            return True
        if x[1] != y[1] or by_old != by_new or (old.startswith(".") and not old.startswith(".gomp_critical_user") and old != new):
            return False
        self.pair(place, old, new)
        return True

    def objects(self, place, old_path, new_path):
        old, new = functions(old_path), functions(new_path)
        if len(old) != len(new):
            self.faults.append(f"{place}: {len(new)} functions, was {len(old)}")
            return
        for (old_name, old_lines), (new_name, new_lines) in zip(old, new):
            self.pair(place, old_name, new_name)
            self.n_function += 1
            self.n_line += len(old_lines)
            if len(old_lines) != len(new_lines) or not all(self.lines_agree(place, x, y) for x, y in zip(old_lines, new_lines)):
                self.faults.append(f"{place}: {old_name} has other code")


def main(old_build, new_build, renames=None):
    renamed = {}
    if renames:
        with open(renames, encoding="utf-8") as file:
            renamed = dict(line.split() for line in file)
    old, new = objects(old_build), objects(new_build)
    comparison = Comparison()
    for place, path in sorted(old.items()):
        folder, name = os.path.split(place)
        partner = os.path.join(folder, renamed.get(name, name))
        if partner in new:
            comparison.objects(place, path, new[partner])
        else:
            comparison.faults.append(f"{place}: no object {partner}")
    for fault in comparison.faults:
        print(fault)
    n_renamed = sum(old_name != new_name for (_, old_name), new_name in comparison.new.items())
    print(f"{len(old)} objects, {comparison.n_function} functions, {comparison.n_line} lines, "
          f"{n_renamed} symbols renamed, {len(comparison.faults)} differences")
    return 1 if comparison.faults or not comparison.n_function else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
