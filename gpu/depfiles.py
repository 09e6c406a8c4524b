#!/usr/bin/env python3
"""Tells ninja which headers a .cu file includes: nvcc can write that (-MD), but Meson before 1.4 does
not ask it to. Run by Meson after it has written build.ninja; leaves alone what asks already."""
import os
import re

path = os.path.join(os.environ["MESON_BUILD_ROOT"], "build.ninja")
with open(path, encoding="utf-8") as text:
    ninja = text.read()
rule = re.search(r"^rule cuda_COMPILER\n(?: .*\n)+", ninja, re.M)
if rule and " -MF " not in rule.group():
    asking = rule.group().replace(" -o $out ", " -MD -MT $out -MF $DEPFILE -o $out ", 1)
    with open(path + ".tmp", "w", encoding="utf-8") as text:
        text.write(ninja[: rule.start()] + asking + ninja[rule.end() :])
    os.replace(path + ".tmp", path)
