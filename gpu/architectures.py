#!/usr/bin/env python3
"""Prints the names of the .cu files in the rooms here whose code depends on the architecture: those that compare __CUDA_ARCH__ with
a number, directly or in a header. Meson runs it if GPU code is compiled but not run (-Dgpu_optimise=false)."""
import os
import re

here = os.path.dirname(os.path.abspath(__file__))
INCLUDE = re.compile(r'^ *# *include "([^"]+)"', re.M)
COMPARES = re.compile(r"__CUDA_ARCH__\s*(?:[<>]=?|[!=]=)")
known = {}


def differs(path):
    if path not in known:
        known[path] = False  # a header that includes itself
        with open(path, encoding="utf-8") as file:
            text = file.read()
        beside = [os.path.join(folder, name) for name in INCLUDE.findall(text)
                  for folder in (os.path.dirname(path), here, os.path.dirname(here))]
        known[path] = bool(COMPARES.search(text)) or any([differs(os.path.normpath(p)) for p in beside if os.path.isfile(p)])
    return known[path]


sources = [os.path.join(folder, name) for folder, _, names in os.walk(here) for name in names if name.endswith(".cu")]
print("\n".join(sorted(os.path.basename(path) for path in sources if differs(path))))
