#!/usr/bin/env python3
"""Names of static functions. Profiles, backtraces and break points show the name and not the file, so a name that many files
define, such as `create` or `measure`, does not identify a function; one with its noun does, such as `create_jacobi`. Fails if
a static function name is defined in more than 4 files.

    test_static_names.py SRCDIR"""

import os
import re
import sys

TOPS = ("core", "app", "gpu", "filters", "lib")
MOST = 4  # files
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
ATTRIBUTE = re.compile(r"(?:__attribute__\(\(.*?\)\)|__launch_bounds__\([^()]*(?:\([^()]*\))?[^()]*\))\s*")
STATIC = r"(?:static|HX_INLINED|HX_ALWAYS_INLINE|INLINE)"
DEFINITION = re.compile(rf"^(?:[^\s;={{}}][^;={{}}]*)?\b{STATIC}\b[^;={{}}()]*\b(\w+)\((?=[^;{{}}]*\)\s*\{{)", re.M)
# Functions that a macro of vectorised.h defines: HX_VERSIONS(name, ..., HX_VERSIONS_OF(type, name, ...
VERSIONS = re.compile(r"^(?:HX_VERSIONS|HX_VERSIONS_UNFUSED|HX_VERSIONS_OF\(\w+,)[( ]\s*(\w+),", re.M)


def static_names(text):
    text = ATTRIBUTE.sub("", NOT_CODE.sub("", text))
    text = re.sub(r"\bNAME\((\w+)\)", r"\1", text)  # of a function that exists in both precisions
    return set(DEFINITION.findall(text)) | set(VERSIONS.findall(text))


def main(root):
    files = {}
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".inc", ".cu", ".cuh")):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    for function in static_names(file.read()):
                        files.setdefault(function, []).append(os.path.relpath(path, root))
    n_fault = 0
    for function, paths in sorted(files.items()):
        if len(paths) > MOST:
            n_fault += 1
            print(f"static function {function}() is defined in {len(paths)} files, at most {MOST}; add the noun to its name:")
            print("\n".join("    " + path for path in sorted(paths)))
    print(f"{len(files)} names of static functions, {n_fault} faults")
    return 1 if n_fault or len(files) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
