#!/usr/bin/env python3
"""Makes each of the program's calls of the system fail, and checks how the program ends:

    run_faults.py HEXTOP SRCDIR [--sample N] [--seed S] [--scenes a,b] [--only a,b] [--jobs N] [--seconds S] [--at SCENE "KIND SITE N HOW"] [-v]

HEXTOP must be built with -Dfault_injection=true and the address sanitizer. Each scene is a small job (about 100 elements, 2
designs). Its call sites are listed. Then the first, the middle and the last call of each site fails, one call per run, and
the disk is full from each write on. Required each time: exit status 0, 1 or 2; if it is not 0, one message with "hextop:
error:" and a reason; no report of a sanitizer, including leaks; no temporary file; no incomplete file under a final name;
the run can be repeated, or resumed from its checkpoint, with bitwise equal results. Exit status 0 is correct if the results
are those of the run without a fault, or if a warning names what differs. A site is tested in the first scene that reaches it
(--all: in each). Failures of libconfig, of the OpenMP runtime or of the sanitizer itself when they get no memory are counted in a
column of their own.
--sample N tests N of all faults, chosen with a fixed seed; --seconds S as many as begin within S seconds, in random order.
--at repeats one fault and prints the whole output."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

BASE = """
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
%s
optimization = { volume_fraction = 0.3; iterations = 2; filter = { kind = "density"; radius = 1.5; }; };
solver = { operator = "otf"; device = "cpu"; threads = 1; };
output = { directory = "out"; every = 1; };
"""
LOADED = """supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );"""
RICH = """
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; moment = [0.0, 1.0, 0.0]; coupling = "rigid"; case = 1; },
          { set = "top"; traction = [0.0, 0.0, -0.01]; case = 2; } );
springs = ( { set = "bottom"; stiffness = [1.0, 1.0, 1.0]; } );
passive = ( { set = "hole"; density = 0.1; } );
sets = ( { name = "hole"; box = { min = [3, -1, -1]; max = [5, 5, 1]; }; } );
"""
HEAT = """
physics = "heat";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
supports = ( { set = "left"; temperature = 20.0; } );
loads = ( { source = 1.0; } );
convection = ( { set = "right"; coefficient = 1.0; ambient = 0.0; } );
optimization = { volume_fraction = 0.3; iterations = 2; filter = { kind = "sensitivity"; radius = 1.5; };
                 symmetry = ( { point = [0.0, 2.0, 0.0]; normal = [0.0, 1.0, 0.0]; } ); };
solver = { device = "cpu"; threads = 1; operator = "otf"; };
output = { directory = "out"; every = 0; fields = ("density", "temperature", "heat_flux"); };
"""
IMPORTED = """
mesh = { file = "%s"; };
sets = ( { name = "low"; box = { min = [-1e9, -1e9, -1e9]; max = [1e9, 1e9, 1e-6]; }; } );
supports = ( { set = "low"; fix = "xyz"; } );
loads = ( { gravity = [0.0, 0.0, -1.0]; } );
material = { E = 1.0; nu = 0.3; density = 1.0; };
optimization = { volume_fraction = 0.5; iterations = 2; filter = { kind = "density"; radius = 3.0; }; };
solver = { operator = "otf"; device = "cpu"; threads = 1; };
output = { directory = "out"; };
"""
CHECKPOINT = "output.checkpoint=1e-9"
FIELDS = 'output.fields=["density","displacement","sensitivity","energy","von_mises","sets"]'
SMALL = ["mesh.nx=4", "mesh.ny=2", "mesh.nz=2"]
SPLINE = """
mesh = { file = "tube.xml"; degree = 2; refine = [2, 1, 1]; };
supports = ( { set = "patch1:u-"; fix = "xyz"; } );
loads = ( { set = "patch1:v+"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; iterations = 2; filter = { kind = "none"; }; };
solver = { device = "cpu"; threads = 1; operator = "bsrsym"; preconditioner = "multigrid"; tolerance = 1e-3; };
output = { directory = "out"; every = 1; fields = ("density", "displacement", "von_mises"); };
"""
CONFIGS = {"base.cfg": BASE % LOADED, "rich.cfg": BASE % RICH, "heat.cfg": HEAT, "spline.cfg": SPLINE}
SOLVED = ["run", "base.cfg", "-q"]  # makes the folder out/ that other commands read


MESHES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "meshes")


class Scene:
    """command: what is tested; before: commands that run first, without faults; again: the command that repeats
    or resumes the tested one."""

    def __init__(self, name, command, before=(), again=None):
        self.name, self.command, self.before, self.again = name, command, before, again


def scenes(meshes):
    def run(name, config, *keys):
        return Scene(name, ["run", config, *keys], again=["run", config, *keys])

    found = [
        run("run", "base.cfg"),
        run("checkpoint", "base.cfg", CHECKPOINT),
        Scene("resume", ["run", "base.cfg", CHECKPOINT, "--resume", "optimization.iterations=3"],
              [["run", "base.cfg", "-q", CHECKPOINT]],
              ["run", "base.cfg", CHECKPOINT, "--resume", "optimization.iterations=3"]),
        run("multigrid", "base.cfg", "solver.preconditioner=multigrid", "optimization.filter.kind=helmholtz",
            FIELDS, "output.format=ascii"),
        run("mixed", "base.cfg", "solver.precision=mixed", "output.threshold=0.2"),
        run("rich", "rich.cfg", *SMALL, CHECKPOINT, FIELDS),
        run("quadratic", "base.cfg", *SMALL, "solver.element=quadratic", "solver.operator=bsr", FIELDS),
        run("ebe", "base.cfg", "solver.operator=ebe", "solver.preconditioner=block-jacobi",
            "optimization.filter.kind=sensitivity"),
        run("assembled", "base.cfg", "solver.operator=csr"),
        run("heat", "heat.cfg"),
        Scene("check", ["check", "rich.cfg", *SMALL]),
        Scene("verify", ["verify", "out", "--made", "no", "--vtk", "solid.vtk"], [SOLVED]),
        Scene("analyse", ["analyse", "rich.cfg", *SMALL, "--vtk", "points.vtk"]),
        Scene("report", ["report", "out", "-o", "report.html"], [SOLVED]),
        Scene("new", ["new", f"{meshes}/block.inp", "-o", "new.cfg"]),
        Scene("mesh inp", ["mesh", "base.cfg", "part.inp"]),
        Scene("mesh msh", ["mesh", f"{meshes}/lplate_41.msh", "part.msh"]),
        Scene("mesh vtk", ["mesh", f"{meshes}/block.inp", "part.vtk"]),
        Scene("mesh vtu", ["mesh", f"{meshes}/kinds.vtu", "part.vtk"]),
        run("spline", "spline.cfg"),
        Scene("spline surface", ["surface", "out", "part.stl"], [["run", "spline.cfg", "-q"]]),
        Scene("mesh spline", ["mesh", f"{meshes}/half_tube.mesh", "part.vtk", "mesh.refine=[2,1,1]"]),
        Scene("matrix", ["matrix", "base.cfg", "-o", "k.npz"]),
        Scene("matrix mtx", ["matrix", "base.cfg", "-o", "k.mtx"]),
        Scene("compare", ["compare", "base.cfg", "--operators", "ebe,otf", "--iterations", "2", "--repeats", "7"]),
        Scene("list", ["list"]),
        Scene("help", ["help", "solver.operator"]),
    ]
    for kind in ("stl", "ply", "3mf", "obj", "glb"):
        found.append(Scene(f"surface {kind}", ["surface", "out", f"part.{kind}"], [SOLVED]))
    return found


HOWS = {"alloc": ["memory"], "write": ["space", "io", "short"], "close": ["io"], "sync": ["io"], "rename": ["io"],
        "open": ["io"], "folder": ["space"], "thread": ["memory"]}
LASTING = {"write": ["space", "io"], "open": ["space"]}
# The OpenMP runtime and the dynamic linker end the program themselves, with their own messages.
NOT_OURS = ("libgomp", "ld-linux", "libasan", "libubsan")
NOT_OURS_SAID = re.compile(r"sanitizer_common.*CheckFailed|CheckFailed.*sanitizer_common|libgomp: ")
SANITIZERS = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error|SEGV")


def environment(**more):
    # gcc aligns variables on the fake stack only to 32 bytes, even vectors of 64 bytes (gcc bug 110027)
    asan = "exitcode=99:allocator_may_return_null=1:detect_stack_use_after_return=0:handle_sigill=1"
    own = dict(os.environ, OMP_NUM_THREADS="1", ASAN_OPTIONS=asan,
               UBSAN_OPTIONS="halt_on_error=1:exitcode=98:print_stacktrace=1", TMPDIR=".", HOME=".", **more)
    return own


def call(hextop, words, folder, **more):
    done = subprocess.run([hextop, *words], cwd=folder, env=environment(**more), capture_output=True, text=True,
                          errors="replace", timeout=120, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def files_of(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as stream:
                found[os.path.relpath(path, folder)] = stream.read()
    return found


class Bench:
    """A scene that was set up once: its call sites, and its files after a run without a fault."""

    def __init__(self, hextop, scene, root):
        self.hextop, self.scene = hextop, scene
        self.start = os.path.join(root, scene.name.replace(" ", "_"))
        self.root = root
        os.makedirs(self.start)
        for name, text in CONFIGS.items():
            with open(os.path.join(self.start, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        shutil.copy(os.path.join(MESHES, "half_tube.xml"), os.path.join(self.start, "tube.xml"))
        for words in scene.before:
            status, _, said = call(hextop, words, self.start)
            if status != 0:
                sys.exit(f"{scene.name}: {' '.join(words)} fails: {said}")
        self.before = files_of(self.start)
        first, self.sites, self.said = self.whole()
        second, _, _ = self.whole()
        self.names = set(first)
        self.stable = {name: data for name, data in first.items() if second.get(name) == data}

    def whole(self):
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            work = os.path.join(folder, "work")
            listed = os.path.join(folder, "sites")
            shutil.copytree(self.start, work)
            status, out, said = call(self.hextop, self.scene.command, work, HEXTOP_FAULT_LIST=listed)
            if status != 0 or SANITIZERS.search(said):
                sys.exit(f"{self.scene.name}: fails without a fault: {status}: {said}{out}")
            with open(listed, encoding="utf-8") as stream:
                sites = [line.split() for line in stream if line != "fired\n"]
            return files_of(work), [(kind, site, int(n)) for kind, site, n in sites], said

    def faults(self):
        for kind, site, n in sorted(self.sites):
            if kind not in HOWS or site.startswith(NOT_OURS):
                continue
            if site == "*":
                for how in LASTING.get(kind, ()):
                    yield from (f"{kind} * {i} {how}+" for i in range(1, n + 1))
                continue
            for how in HOWS[kind]:
                yield from (f"{kind} {site} {i} {how}" for i in sorted({1, (n + 1) // 2, n}))

    def judge_files(self, work, status):
        now = files_of(work)
        for name, data in now.items():
            base = os.path.basename(name)
            if ".tmp." in base or base.startswith(".hextop"):
                yield f"left behind: {name}"
            elif name in self.stable and not name.endswith(".series") and data not in (self.stable[name], self.before.get(name)):
                yield f"{name} is neither the old nor the new one"
            elif name.endswith((".json", ".series")):
                try:
                    json.loads(data)
                except ValueError as error:
                    yield f"{name} is no JSON: {error}"
            elif base == "history.csv" and (not data.endswith(b"\n") or
                                            len({line.count(b",") for line in data.splitlines()}) != 1):
                yield "history.csv has a part of a line"
            elif name not in self.names and not base.startswith(("unfinished_", "checkpoint.")) and \
                    "hextop-" not in name:
                yield f"made: {name}"
        if status == 0:
            yield from (f"is missing: {name}" for name in self.names if name not in now)

    def judge_again(self, work):
        kept = os.path.exists(os.path.join(work, "out", "checkpoint.state"))
        words = self.scene.again + (["--resume"] if kept and "--resume" not in self.scene.again else [])
        status, _, said = call(self.hextop, words, work)
        if status != 0:
            yield f"then {' '.join(words)} fails: {said}"
            return
        now = files_of(work)
        for name, data in self.stable.items():
            if now.get(name) != data and not name.startswith("out/checkpoint"):
                yield f"then {' '.join(words)}: another {name}" if name in now else f"then {name} is missing"

    def try_fault(self, fault):
        """Returns (how the run ended, what was wrong, its output)."""
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            work, listed = os.path.join(folder, "work"), os.path.join(folder, "sites")
            shutil.copytree(self.start, work)
            status, out, said = call(self.hextop, self.scene.command, work, HEXTOP_FAULT=fault,
                                     HEXTOP_FAULT_LIST=listed)
            fired = not os.path.exists(listed)  # no list: the program crashed, so the fault occurred
            if not fired:
                with open(listed, encoding="utf-8") as stream:
                    fired = stream.read().endswith("fired\n")
            wrong = list(self.judge(status, said, work))
            end = "refused" if status in (1, 2) else "crash" if status else \
                "warned" if said.count("warning:") > self.said.count("warning:") else "went on"
            if not fired and not wrong:
                end = "not reached"
            if status in (1, 2) and self.scene.again and not wrong:
                wrong += self.judge_again(work)
            return end, wrong, said + out

    def judge(self, status, said, work):
        if SANITIZERS.search(said):
            yield "a sanitizer speaks"
        if status not in (0, 1, 2):
            yield f"exit status {status}"
            return
        errors = [line for line in said.splitlines() if line.startswith("hextop: error:")]
        if status and len(errors) != 1:
            yield f"{len(errors)} messages"
        if status == 0 and errors:
            yield "an error, and exit status 0"
        warned = "warning:" in said.replace(self.said, "")
        for wrong in self.judge_files(work, status):
            # a warning must name what a page or a report of verify lacks
            lacking = wrong.startswith("is missing") or re.match(r"(report\.html|out/verify\.json) is neither", wrong)
            if not (warned and status == 0 and lacking):
                yield wrong


def name_sites(hextop, text):
    def name(match):
        at = re.findall(r"[0-9a-f]+", match.group(1))
        # the call instruction is just before the return address
        before = [hex(int(a, 16) - 1) for a in at]
        said = subprocess.run(["addr2line", "-e", hextop, *before], capture_output=True, text=True, check=False).stdout
        return "hextop:" + "<".join(os.path.basename(line.split(" ")[0]) for line in said.split("\n") if line)
    return re.sub(r"hextop\+([0-9a-f<]+)", name, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hextop")
    parser.add_argument("source")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenes")
    parser.add_argument("--only", help="of all scenes' faults those of these")
    parser.add_argument("--kinds")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--at", nargs=2)
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    hextop = os.path.realpath(options.hextop)
    meshes = os.path.join(os.path.realpath(options.source), "examples", "meshes")
    asked = options.scenes.split(",") if options.scenes else options.at[:1] if options.at else None
    chosen = [scene for scene in scenes(meshes) if not asked or scene.name in asked]
    root = tempfile.mkdtemp(prefix="hextop_faults_")
    try:
        return work_off(options, hextop, chosen, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def list_jobs(options, benches):
    """Returns each call site in the first scene that reaches it, or in all scenes."""
    seen, jobs = set(), []
    for bench in benches:
        new = set()
        for fault in bench.faults():
            kind, site = fault.split()[:2]
            if (kind, site) in seen and not options.all and site != "*":
                continue
            new.add((kind, site))
            if (not options.kinds or kind in options.kinds.split(",")) and \
                    (not options.only or bench.scene.name in options.only.split(",")):
                jobs.append((bench, fault))
        seen |= new
    return jobs


def work_off(options, hextop, chosen, root):
    end_at = time.monotonic() + (options.seconds or 1e9)

    def try_in_time(job):
        return job[0].try_fault(job[1]) if time.monotonic() < end_at else None

    n_left = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        benches = list(pool.map(lambda scene: Bench(hextop, scene, root), chosen))
        if options.at:
            end, wrong, said = benches[0].try_fault(options.at[1])
            print(said, end, *wrong, sep="\n")
            return 1 if wrong else 0
        jobs = list_jobs(options, benches)
        print(f"{len(benches)} scenes, {len(jobs)} faults", flush=True)
        if options.sample and options.sample < len(jobs):
            jobs = random.Random(options.seed).sample(jobs, options.sample)
        elif options.seconds:
            random.Random(options.seed).shuffle(jobs)
        ends, messages, n_wrong = collections.Counter(), collections.Counter(), 0
        for (bench, fault), result in zip(jobs, pool.map(try_in_time, jobs)):
            if result is None:
                n_left += 1
                continue
            end, wrong, said = result
            kind = "libconfig" if fault.split()[1].startswith("libconfig") else fault.split()[0]
            if wrong and (kind == "libconfig" or NOT_OURS_SAID.search(said)):
                end, wrong = "others'", []
            ends[kind, end] += 1
            for line in said.splitlines():
                if line.startswith("hextop: error:"):
                    messages[re.sub(r"[0-9]+", "N", line)] += 1
            if wrong:
                n_wrong += 1
                print(f"{bench.scene.name}: {name_sites(hextop, fault)} ({fault}): {'; '.join(wrong)}", flush=True)
                if options.v:
                    print("    " + "\n    ".join(said.splitlines()[:12]), flush=True)
    columns = ["refused", "warned", "went on", "not reached", "crash", "others'"]
    print(f"{'':10}" + "".join(f"{column:>13}" for column in columns))
    for kind in [*HOWS, "libconfig"]:
        print(f"{kind:10}" + "".join(f"{ends[kind, column]:13}" for column in columns))
    if options.v:
        for message, n in messages.most_common():
            print(f"{n:6} {message}")
    left = f", {n_left} left out" if n_left else ""
    print(f"{len(jobs) - n_left} faults, {n_wrong} of them wrong{left}")
    return 1 if n_wrong or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
