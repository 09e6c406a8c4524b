#!/usr/bin/env python3
"""Kinds, keys and commands in messages exist: `filter "density"`, `solver.operator`, `hextop check`.

    test_message_names.py HEXTOP SRCDIR"""
import pathlib
import re
import subprocess
import sys

HEXTOP, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
KIND = re.compile(r"\b(filter|operator|preconditioner|generator|objective|update) (?:\\\"|')([a-z][\w-]*)(?:\\\"|')")
KEY = re.compile(r'(?<![\w./-])((?:mesh|material|optimization|solver|output|supports|loads|springs|convection|passive|sets)'
                 r'(?:\[[^]]*\])?(?:\.[a-z_]+)+)(?![\w(])')
COMMAND = re.compile(r"`hextop ([a-z]+)")
FILE_ENDINGS = ("h", "c", "md", "cfg", "vtk", "geo", "msh", "inp")  # "mesh.h" in a text is a file


def said(*words):
    return subprocess.run([HEXTOP, *words], capture_output=True, text=True, check=True).stdout


def main():
    faults, found = [], {"kinds": 0, "keys": 0, "commands": 0}
    listed = set(re.findall(r"[a-z][\w-]*", said("list")))
    keys = {key.replace("[]", "") for key in re.findall(r"^\| `([^`]+)`", said("list", "--keys"), re.M)}
    keys |= {key[:at] for key in keys for at in (m.start() for m in re.finditer(r"\.", key))}
    commands = set(re.findall(r"^  hextop ([a-z]+) ", said("help"), re.M))
    files = [f for folder in ("app", "core", "filters", "gpu", "lib") for f in sorted((ROOT / folder).rglob("*.c*"))
             if f.suffix in (".c", ".cu")]
    for file in files:
        source = re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8"))
        for text in TEXT.findall(source):
            if " " not in text:  # names of their own, such as arrays in summary.json
                continue
            for kind, word in KIND.findall(text):
                found["kinds"] += 1
                if word not in listed:
                    faults.append(f'{file.relative_to(ROOT)}: no {kind} "{word}": {text}')
            for key in KEY.findall(text):
                name = re.sub(r"\[[^]]*\]", "", key)
                if name.rsplit(".", 1)[1] in FILE_ENDINGS:
                    continue
                found["keys"] += 1
                if name not in keys:
                    faults.append(f"{file.relative_to(ROOT)}: no key {key}: {text}")
            for command in COMMAND.findall(text):
                found["commands"] += 1
                if command not in commands:
                    faults.append(f"{file.relative_to(ROOT)}: no command {command}: {text}")
    print("\n".join(faults))
    print(", ".join(f"{n} {what}" for what, n in found.items()), f"in {len(files)} files, {len(faults)} faults")
    if min(found.values()) == 0:
        sys.exit("nothing was found: is this the root of the source?")
    return bool(faults)


sys.exit(main())
