#!/usr/bin/env python3
"""`hextop verify --element quadratic` with limited memory, as with `ulimit -v`: the whole mesh if it fits; for
elasticity, otherwise only its solid if that fits; otherwise a refusal with both sizes.

    test_verify_memory.py HEXTOP SRCDIR

Limits are found by bisection between one that is too low and one that suffices, until each outcome has
occurred, because the address space that a program needs before it computes depends on the system. With any
limit, a run ends with a result or with one line of error."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile

CONFIG = """
mesh = { generator = "cantilever"; nx = 20; ny = 8; nz = 8; };
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; traction = [0.0, 0.0, -0.01]; } );
sets = ( { name = "bar"; box = { min = [0.0, 2.0, 2.0]; max = [20.0, 6.0, 6.0]; }; } );
passive = ( { set = "bar"; density = 1.0; } );
optimization = { volume_fraction = 0.4; iterations = 1; rho_min = 0.1; filter = { kind = "density"; radius = 1.5; }; };
solver = { device = "cpu"; threads = 1; deterministic = true; };
output = { directory = "part"; every = 0; };
"""
HEAT = (CONFIG.replace("loads", "physics = \"heat\";\nloads").replace("E = 1.0; nu = 0.3;", "conductivity = 1.0;")
        .replace("fix = \"xyz\"", "temperature = 20.0").replace("set = \"right\"; traction = [0.0, 0.0, -0.01]", "source = 0.01")
        .replace("rho_min = 0.1; ", "")
        .replace("\"part\"", "\"heat\""))
MEGA = 1 << 20
NUMBER = r"([0-9.]+ [kMG]?B)"
REFUSED = (rf"quadratic elements need {NUMBER} of memory for the whole mesh(?: and {NUMBER} for only the solid)?, "
           rf"{NUMBER} is free: use a coarser mesh, or verify with linear elements")
ENV = dict(os.environ, MALLOC_ARENA_MAX="1")
failed = 0


def check(what, is_right, told=""):
    global failed
    if not is_right:
        failed += 1
        print(f"failed: {what}\n    {told}")


def size(text):
    number, unit = text.split()
    return float(number) * {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]


def verify(hextop, result, most):
    """Runs with a limit of so many bytes; returns the outcome as a word, and the report or the error."""
    if os.path.exists("verify.json"):
        os.remove("verify.json")
    done = subprocess.run([hextop, "verify", "--made", "no", result, "--element", "quadratic", "--output", "verify.json"], env=ENV,
                          capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    if done.returncode == 0:
        report = json.load(open("verify.json", encoding="utf-8"))["quadratic"]
        return "solid" if report["solid_only"] else "whole", report
    errors = [line for line in done.stderr.splitlines() if "warning" not in line]
    check(f"{result}, {most >> 20} MiB: one line", done.returncode in (1, 2, 127) and len(errors) >= 1, done.stderr)
    return ("refused" if "quadratic elements need" in done.stderr else "none"), done.stderr


def starts_with(hextop):
    """The smallest limit at which the program prints its first line. Below it, the system's loader or the start of a
    library ends the process, and the program has no influence on that. A build with CUDA needs more."""
    low, high = MEGA, 1024 * MEGA
    while high - low > MEGA // 8:
        most = (low + high) // 2
        done = subprocess.run([hextop, "--version"], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        low, high = (low, most) if done.returncode == 0 else (most, high)
    return high


def meet(hextop, result, wanted, seen, low, high):
    """Bisects between low and high until `wanted` occurs. seen: {word: (limit, report)}."""
    order = ["none", "refused", "solid", "whole"]
    while wanted not in seen and high - low > MEGA // 4:
        middle = (low + high) // 2
        word, report = verify(hextop, result, middle)
        seen.setdefault(word, (middle, report))
        if order.index(word) < order.index(wanted):
            low = middle
        else:
            high = middle
    check(f"{result}: {wanted} is met", wanted in seen, str({word: limit for word, (limit, _) in seen.items()}))


def main():
    hextop = os.path.realpath(sys.argv[1])
    least = starts_with(hextop)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, config in (("part", CONFIG), ("heat", HEAT)):
            with open(name + ".cfg", "w", encoding="utf-8") as file:
                file.write(config)
            subprocess.run([hextop, "-q", "run", name + ".cfg"], check=True, env=ENV, stderr=subprocess.DEVNULL)
            high = 4096 * MEGA
            word, report = verify(hextop, name, high)
            check(f"{name}: the whole", word == "whole", str(report))
            seen = {word: (high, report)}
            for wanted in ("solid", "refused") if name == "part" else ("refused",):
                meet(hextop, name, wanted, seen, least, high)
                high = seen.get(wanted, (high,))[0]
            if failed:
                continue
            whole, text = seen["whole"][1], seen["refused"][1]
            found = re.search(REFUSED, text)
            check(f"{name}: what it says", found and text.count("\n") == 1, text)
            need, alone, free = (size(part) if part else None for part in found.groups())
            check(f"{name}: the whole's bytes", abs(need - whole["bytes"]) < 0.01 * need, text)
            check(f"{name}: more than is free", free < need and (not alone or free < alone < need), text)
            check(f"{name}: the solid alone is no choice of heat", (alone is None) == (name == "heat"), text)
            if name == "part":
                solid = seen["solid"][1]
                check("part: the solid's bytes", abs(alone - solid["bytes"]) < 0.01 * alone, text)
                check("part: fewer elements", solid["elements"] < whole["elements"] == 20 * 8 * 8, str(solid))
                check("part: softer without void", solid["analysis"]["compliance"] >= whole["analysis"]["compliance"])
            print(name, {word: f"{limit >> 20} MiB" for word, (limit, _) in seen.items()})
    return 1 if failed else 0


sys.exit(main())
