#!/usr/bin/env python3
"""Compares the results of soak.c with the references made before, and later rounds with the first; checks the resources
that it recorded.
    compare.py LIST REFERENCE... OUT          folders of soak; each reference may cover a part of the list
    compare.py LIST REFERENCE... OUT --flat BYTES     memory may grow by at most BYTES per round (default 4096)
--shared: other processes use the device, so its free memory is not checked. -v: prints one line per config.
Solves end at 1e-10 or 1e-11 of the load. The compliance is accurate to the square of that, so rounding matters more;
a density to what a few designs make of it; displacements of void are less accurate, because their residual is small
for any displacement. The volume of a projection is met to 1e-6. Stiffness in single precision has an error of 6e-8 in
every entry, and slender parts bend by differences of entries; if the run warned of this (rounded-stiffness), the
warning is printed with a fault. These are the bounds below. The files rounding.* of the references have the effect of
rounding in double precision (rounding.c derives it from the K and u of the config): about 1e-13, for thin plates of
quadratic elements 1e-7 (bsr and bsrsym on one CPU differ by 6.5e-9 in the first design, equally if solved to 1e-13 or
to 1e-11). It replaces the first bound if it is larger. Exit status 1 if a result is outside its bound."""
import os
import sys
from array import array

#        compliance, density, norms of displacement and density
BOUND = {"": (1e-8, 1e-6, 1e-4), "coarse": (2e-5, 1e-3, 1e-3), "single": (2e-4, 2e-2, 1e-2)}
faults = []
rounding = {}


def rows(folder, name):
    with open(os.path.join(folder, name)) as f:
        return [line.rstrip("\n").split("\t") for line in f]


class Result:
    def __init__(self, row):
        self.round, self.name, self.kind, self.nested, self.rc = int(row[0]), row[1], row[2], int(row[3]), int(row[4])
        self.seconds, self.elements, self.hash, self.difference = float(row[5]), int(row[6]), row[7], float(row[8])
        self.norms = [float(v) for v in row[9:11]]
        self.warned = float(row[11])  # effect of rounded stiffness on the compliance, from the warning
        self.compliance = [float(v) for v in row[12].split()]


def relative(a, b):
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def densities(folder, name):
    values = array("d")
    path = os.path.join(folder, name + ".rho")
    values.frombytes(open(path, "rb").read())
    return values


def read_rounding(folders):
    """{name: (bound of the compliance, |u|'|K||u| / u'Ku)} by rounding.c, from the references."""
    found = {}
    for folder in folders:
        for name in os.listdir(folder):
            if name.startswith("rounding."):
                found.update((row[0], (float(row[1]), float(row[2]))) for row in rows(folder, name))
    return found


def bound_of(exact, name):
    words = exact.split()
    kinds = [w for w in words if w in BOUND]
    most = [max(BOUND[k][i] for k in kinds or [""]) for i in range(3)]
    most[0] = max(most[0], rounding.get(name, (0.0,))[0])
    return most


def against(name, exact, reference, folder, result, out):
    """Compares one session with its reference; returns the differences (compliance, density, norms)."""
    most = bound_of(exact, name)
    if len(reference.compliance) != len(result.compliance) or reference.elements != result.elements:
        faults.append("%s: %d designs of %d elements, not %d of %d" % (
            name, len(result.compliance), result.elements, len(reference.compliance), reference.elements))
        return 0.0, 0.0, 0.0
    c = max(relative(a, b) for a, b in zip(reference.compliance, result.compliance))
    rho = max(abs(a - b) for a, b in zip(densities(folder, name), densities(out, name)))
    norm = max(relative(a, b) for a, b in zip(reference.norms, result.norms))
    for what, value, limit in zip(("compliance", "density", "norm"), (c, rho, norm), most):
        if not value <= limit:
            warned = "; the run warned of %.2e" % result.warned if result.warned else ""
            faults.append("%s: %s differs by %.2e from the one made before, more than %.1e%s" % (
                name, what, value, limit, warned))
    return c, rho, norm


def with_itself(exact, first, later):
    """Later rounds of a session against its first."""
    c_most, rho_most, _ = bound_of(exact, first.name)
    for r in later:
        if "bits" in exact.split() and (r.hash != first.hash or r.compliance != first.compliance):
            faults.append("%s: other bits in round %d%s" % (r.name, r.round, ", nested" if r.nested else ""))
        c = max([relative(a, b) for a, b in zip(first.compliance, r.compliance)], default=0.0)
        if not c <= c_most or not r.difference <= rho_most:
            faults.append("%s: round %d differs from the first: compliance %.2e, density %.2e" % (
                r.name, r.round, c, r.difference))


def slope(values):
    """Slope of the regression line through the values, per step."""
    n = len(values)
    mean = sum(values) / n
    return sum((i - (n - 1) / 2) * (v - mean) for i, v in enumerate(values)) / (n * (n * n - 1) / 12) if n > 1 else 0.0


def median(values):
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def is_leaking(ends, n_session):
    """1 if the resident memory at the end of each round grows. A driver allocates a pool of 1.6 MB once or twice, which is
    a step; a leak grows in every round. So there are limits for the median growth per session and for the growth in the later
    half of the rounds. Fewer than 6 rounds are not judged."""
    rises = [b - a for a, b in zip(ends, ends[1:])]
    typical, half = median(rises), ends[-1] - ends[len(ends) // 2]
    n_later = n_session * (len(ends) - 1 - len(ends) // 2)
    print("    resident: median growth %+.0f per round, %.0f per session; in the last %d sessions %+d" % (
        typical, typical / n_session, n_later, half))
    return len(ends) >= 5 and (typical > max(4096.0, 1024.0 * n_session) or half > max(2 << 20, 2048 * n_later))


def flat(held, limit, is_shared):
    """Memory, files and threads after every session of rounds 2 and on: none of them grows."""
    rounds = max(int(r[0]) for r in held)
    by_round = [[r for r in held if int(r[0]) == k] for k in range(2, rounds + 1)]
    if rounds < 3:
        return
    page = 1 << 20  # half of the least amount that a device allocates
    for column, what, most in ((2, "bytes of malloc", limit), (3, "bytes resident", max(page, 16 * limit)),
                               (4, "bytes of the device", page), (5, "files", 0.0), (6, "threads", 0.0)):
        if column == 4 and is_shared:
            continue
        sign = -1 if column == 4 else 1
        ends = [sign * int(r[-1][column]) for r in by_round]
        worst = max(slope([sign * int(r[i][column]) for r in by_round]) for i in range(len(by_round[0])))
        rise = slope(ends)
        print("  %-26s after round 2 %14d, after round %d %14d, a round %+.0f; most after one session %+.0f" % (
            what, abs(ends[0]), rounds, abs(ends[-1]), rise, worst))
        is_risen = rise > most or worst > 2 * most and column != 3
        if column == 3 and is_leaking(ends, len(by_round[0])):
            is_risen = True
        if is_risen:
            faults.append("%s rise by %.0f a round, at one session by %.0f" % (what, rise, worst))


def main():
    args = [a for a in sys.argv[1:] if a not in ("-v", "--shared")]
    limit = 4096.0
    if "--flat" in args:
        at = args.index("--flat")
        limit = float(args[at + 1])
        del args[at : at + 2]
    lines = {row[0]: row for row in rows(os.path.dirname(args[0]), os.path.basename(args[0]))}
    references, out = args[1:-1], args[-1]
    rounding.update(read_rounding(references))
    before = {}
    for folder in references:
        for r in map(Result, rows(folder, "results")):
            if r.round == 1 and not (r.name in before and r.nested):
                before[r.name] = (folder, r)
    found = list(map(Result, rows(out, "results")))
    against_by, first, worst = {}, {}, {kind: [0.0, 0.0, 0.0] for kind in BOUND}
    for r in found:
        if r.kind == "refused":
            continue
        first.setdefault(r.name, r)
    for name, r in first.items():
        exact = lines[name][4]
        if r.rc < 0 or name not in before or before[name][1].rc < 0:
            faults.append("%s: failed, here or before" % name)
            continue
        with_itself(exact, r, [x for x in found if x.name == name and x is not r])
        differences = against(name, exact, before[name][1], before[name][0], r, out)
        against_by[name] = differences[0]
        kind = next((w for w in exact.split() if w in ("coarse", "single")), "")
        worst[kind] = [max(a, b) for a, b in zip(worst[kind], differences)]
        if "-v" in sys.argv:
            print("  %s %-16s %6d elements %7.3f s  compliance %.1e (rounding %.1e, |u|'|K||u|/u'Ku %.1e)  density %.1e  norms %.1e" % (
                name, exact, r.elements, r.seconds, differences[0], *rounding.get(name, (0.0, 0.0)), *differences[1:]))
    missing = [n for n, row in lines.items() if row[2] != "refused" and n not in first]
    faults.extend("%s: did not run" % n for n in missing)
    print("%d sessions in %d rounds: %d configs of %d to %d elements, %d refused inputs a round" % (
        len(found), max(r.round for r in found), len(first), min(r.elements for r in first.values()),
        max(r.elements for r in first.values()), sum(row[2] == "refused" for row in lines.values())))
    for kind, of in worst.items():
        if any(of):
            print("  largest difference%s: compliance %.1e, density %.1e, norms %.1e" % (" (%s)" % kind if kind else "", *of))
    taken = {n: rounding[n][0] for n in first if n in rounding and bound_of(lines[n][4], n)[0] == rounding[n][0]}
    if rounding:
        print("  rounding in double precision: at most %.1e, %.1e in the median of %d configs; the bound of %s" % (
            max(b[0] for b in rounding.values()), median([b[0] for b in rounding.values()]), len(rounding),
            ", ".join("%s (%.1e, difference %.1e)" % (n, b, against_by.get(n, 0.0)) for n, b in sorted(taken.items())) or "none"))
    flat(rows(out, "held"), limit, "--shared" in sys.argv)
    for text in faults:
        print("FAULT " + text)
    print("%d faults" % len(faults))
    return 1 if faults else 0


sys.exit(main())
