#!/usr/bin/env python3
"""CHANGELOG.md: Keep a Changelog's headings, at most 25 changes per release, one line each, the area first, at most one
number; the newest release is the version in meson.build.

    test_changelog.py SRCDIR

First, the rules must find the faults in made-up texts."""
import pathlib
import re
import sys

MOST = 25
LONGEST = 150
GROUPS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Performance")
RELEASE = re.compile(r"(\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d")
CHANGE = re.compile(r"- [a-z0-9]+(?:, [a-z0-9]+)*: [a-z]")
# Numbers in versions, exit codes and names do not count.
NUMBER = re.compile(r"(?<![\w./-])\d[\d.,]*(?![\w/-])")


def faults_of(text, version):
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    names = [section.split("\n", 1)[0] for section in sections]
    released = [match.group(1) for match in map(RELEASE.fullmatch, names) if match]
    for name in names[1:] if names[:1] == ["Unreleased"] else names:
        if not RELEASE.fullmatch(name):
            yield f"not a version and its date: {name}"
    if released != sorted(set(released), key=lambda v: [int(n) for n in v.split(".")], reverse=True):
        yield f"not in descending order: {released}"
    if released[:1] != [version]:
        yield f"the newest release is {released[:1]}, meson.build has {version}"
    for name, section in zip(names, sections):
        lines = section.split("\n")[1:]
        changes = [line for line in lines if line.startswith("- ")]
        if len(changes) > MOST:
            yield f"{name}: {len(changes)} changes, {MOST} at most"
        for line in lines:
            if line.startswith("### ") and line[4:] not in GROUPS:
                yield f"{name}: no group of Keep a Changelog: {line}"
            if line.startswith("  "):
                yield f"{name}: a change of several lines: {line}"
        for line in changes:
            if not CHANGE.match(line):
                yield f"{name}: does not begin with its area: {line}"
            if len(line) > LONGEST:
                yield f"{name}: {len(line)} characters, {LONGEST} at most: {line}"
            if len(NUMBER.findall(re.sub(r"`[^`]*`", "", line))) > 1:
                yield f"{name}: more than one number: {line}"


def check_rules():
    good = "## Unreleased\n\n## 0.2.0 - 2026-01-02\n\n### Added\n- solver, gpu: add a `1 2` thing in 3 s\n"
    assert not list(faults_of(good, "0.2.0")), list(faults_of(good, "0.2.0"))
    for old, new in (("0.2.0 -", "0.2.1 -"), ("### Added", "### New"), ("- solver, gpu: add", "- Add"), ("in 3 s", "in 3 of 4 s"),
                     ("in 3 s", "in 3 s\n  and more"), ("in 3 s", "in 3 s" + " or so" * 40), ("- solver", "- a: b\n" * 25 + "- solver"),
                     ("2026-01-02", "someday"), ("## Unreleased", "## 0.1.0 - 2026-01-01")):
        assert list(faults_of(good.replace(old, new), "0.2.0")), f"not found: {new[:40]}"


def main(source):
    check_rules()
    root = pathlib.Path(source)
    version = re.search(r"^\s*version: '([\d.]+)'", (root / "meson.build").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    faults = list(faults_of((root / "CHANGELOG.md").read_text(encoding="utf-8"), version))
    print("\n".join(faults))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
