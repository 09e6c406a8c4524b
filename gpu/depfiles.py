#!/usr/bin/env python3
"""Makes nvcc write the headers that a .cu file includes (-MD), so that ninja knows them; Meson before 1.4
does not request this. Meson runs it after writing build.ninja; a rule that requests it already is not changed."""
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
