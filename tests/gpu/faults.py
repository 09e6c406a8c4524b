#!/usr/bin/python3
"""Runs of two designs in which a call of the device fails, in a build with -Dfault_injection=true. At each site of calls
(core/base/fault.h) the first, the middle and the last call fails: for lack of memory, by a failing call or kernel, or
by a device that is lost from then on; also NaN, and a breakdown of PCG.

    faults.py BUILD [LOGS] [--device cpu|cuda] [--seconds S] [--jobs J] [--only NAME] [--seed N]
                    [--skip N] [--at NAME "KIND SITE N HOW"]

A run may continue, with something that stores less or after another attempt; then its result equals that of a run
without a fault. Or it ends with status 1 or 2 and one error line that states what to do, and its files are usable:
history and summary of the designs so far, no partial file, and if it writes checkpoints, --resume obtains the result
of an undisturbed run. No signal, no run of more than 20 s, and no malloc memory that is left three times in a row (in
a build with -Db_sanitize=address: no leak). J processes (fault_runs.c) do one run after the other, because starting a
GPU takes longer than a run. A run with a wrong outcome is repeated in a new process, and reported as such if it
succeeds there. If S seconds do not suffice for all faults, the rest is counted; the order is random with seed N,
--skip omits that many faults at the beginning, and --at tries a single one. Exit status 77: no such device, or a
build without faults.
"""
import argparse
import concurrent.futures
import csv
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

QUICK = "configs/quickstart.cfg mesh.nx=8 mesh.ny=4 mesh.nz=4"
CELLS = "optimization.filter.kind=density optimization.projection.beta=2"
CONFIGS = {
    "auto": QUICK,
    "multigrid": QUICK + " solver.preconditioner=multigrid solver.operator=otf",
    "quadratic": "configs/quickstart.cfg mesh.nx=4 mesh.ny=2 mesh.nz=2 solver.element=quadratic",
    "named": QUICK + " solver.operator=bsrsym solver.preconditioner=block-jacobi",
    "stored": QUICK + " solver.operator=sym solver.preconditioner=jacobi",
    "helmholtz": QUICK + " optimization.filter.kind=helmholtz solver.operator=dedup",
    "energy": QUICK + ' springs=({set="right";stiffness=[1.0,1.0,1.0];}) solver.criterion=compliance',
    "csr": QUICK + " solver.operator=csr " + CELLS,
}
ALWAYS = "optimization.iterations=2 output.every=1 solver.threads=1".split()
ON_CPU = ("auto", "multigrid", "quadratic", "helmholtz", "energy")
LIMIT = 20  # seconds a run
REMEDIES = (r"run again, or on another|use a smaller mesh|operators fit|other units|see nvidia-smi|"
            r"use \"|max_iterations|wait for other processes|another radius|use solver\.|free "
            r"some|device \"cpu\"|take |use fill |try solver\.|try a larger optimization\.rho_min")


class Worker:
    """A process that executes runs one after the other."""

    def __init__(self, program):
        env = {k: v for k, v in os.environ.items() if not k.startswith("HEXTOP_FAULT")}
        env.update(OMP_NUM_THREADS="1", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([program], env=env, stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        self.n_run = 0

    def ask(self, fields):
        """Returns [exit status, fault occurred, bytes left], or a word if the process ends or takes too long."""
        late = threading.Timer(LIMIT, self.process.kill)
        late.start()
        try:
            self.process.stdin.write("\t".join(fields) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split()
        except OSError:
            answer = []
        is_late = not late.is_alive()
        late.cancel()
        self.n_run += 1
        if len(answer) == 3:
            return [int(x) for x in answer]
        self.end()
        return ["no end" if is_late else f"status {self.process.returncode}", 0, 0]

    def end(self):
        self.process.kill()
        self.process.communicate()
        self.errors.close()


class Bench:
    """The program, its configs, and the folder of the runs."""

    def __init__(self, options):
        here = os.path.dirname(os.path.abspath(__file__))
        self.source = os.path.dirname(os.path.dirname(here))
        self.program = os.path.join(os.path.abspath(options.build), "tests", "gpu", "fault_runs")
        self.logs = os.path.abspath(options.logs or tempfile.mkdtemp(prefix="faults-"))
        self.device = options.device
        self.mine = threading.local()  # one worker per thread
        self.number = itertools.count()
        os.makedirs(self.logs, exist_ok=True)

    def fresh(self):
        """The next request of this thread starts a new process."""
        if getattr(self.mine, "worker", None):
            self.mine.worker.end()
        self.mine.worker = None

    def runs_before(self):
        return self.mine.worker.n_run if self.mine.worker else 0

    def run(self, config, folder, fault=None, listing=None, more=()):
        """(exit status, output, bytes left, whether the fault occurred)"""
        words = CONFIGS[config].split()
        words[0] = os.path.join(self.source, words[0])
        if not getattr(self.mine, "worker", None):
            self.mine.worker = Worker(self.program)
        log = folder + ".said"
        status, met, left = self.mine.worker.ask(
            [fault or "-", listing or "-", log, "hextop", "run", *words, *ALWAYS,
             "solver.device=" + self.device, "output.directory=" + folder, *more])
        text = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as f:
                text = f.read()
            os.remove(log)
        if isinstance(status, str):
            self.mine.worker = None
        return status, text, left, met


def compliances(folder):
    """One line per design of history.csv; a line that is not numbers is an error."""
    with open(os.path.join(folder, "history.csv"), encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    for i, row in enumerate(rows):
        if int(row["iteration"]) != i + 1:
            raise ValueError("history.csv: a gap")
    return [float(row["compliance"]) for row in rows]


def same(a, b, within=1e-3):
    """Other operators, and solves with another initial guess, agree within PCG's tolerance."""
    return len(a) == len(b) and all(abs(x - y) <= within * abs(y) for x, y in zip(a, b))


def list_faults(path):
    """(kind, site, calls) of the kinds that are tested here."""
    with open(path, encoding="ascii") as f:
        lines = [line.split() for line in f]
    return [(k, s, int(n)) for k, s, n in (x for x in lines if len(x) == 3)
            if s != "*" and k in ("device", "cuda", "nan", "breakdown")]


def cases(config, sites):
    """(config, fault) of each run."""
    for kind, site, n in sites:
        for i, at in enumerate(sorted({1, (n + 1) // 2, n})):
            if kind in ("nan", "breakdown"):
                hows = ["value", "value+"]
            else:
                hows = ["launch", "lost+"] if i == 1 or n < 3 else ["launch"]
                if kind == "cuda" or "alloc" in site or "record" in site:
                    hows.append("memory")
            for how in hows:
                yield config, f"{kind} {site} {at} {how}"


def fault_of_messages(text):
    """Errors in the output of a run that fails."""
    found = re.search(r"\S*Sanitizer: .*", text)
    if found:
        return found.group(0)
    errors = [line for line in text.splitlines() if re.match(r"hextop: (error|fatal)", line)]
    if len(errors) != 1:
        return f"{len(errors)} errors are said"
    if not re.search(REMEDIES, errors[0]):
        return "no remedy: " + errors[0]
    return None


def left_half(folder):
    return [name for name in os.listdir(folder) if ".tmp" in name or name.startswith(".hextop")]


def fault_of_folder(bench, config, folder, reference):
    """Errors in the files that a run leaves."""
    if not os.path.isdir(folder):
        return None
    if left_half(folder):
        return "half a file is left"
    history = os.path.join(folder, "history.csv")
    before = compliances(folder) if os.path.exists(history) else []
    if not same(before, reference[:len(before)]):
        return "history.csv has other designs"
    if before:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as f:
            if json.load(f)["status"] != "failed":
                return "summary.json does not report the failure"
    if not os.path.exists(os.path.join(folder, "checkpoint.state")):
        return None
    rc, text, _, _ = bench.run(config, folder, more=["--resume"])
    if rc != 0 or not same(compliances(folder), reference):
        return "does not resume: " + text[-300:]
    return None


def judge(bench, case, reference):
    """Outcome of one run, and what is wrong with it, or None."""
    config, fault = case
    folder = os.path.join(bench.logs, f"run{next(bench.number)}")
    listing = folder + ".list"
    rc, text, left, met = bench.run(config, folder, fault=fault, listing=listing)
    wrong, how = None, f"status {rc}"
    if isinstance(rc, str):
        wrong = f"ended by {rc}"
    elif not met:
        how = "not reached"
    elif rc == 0:
        how = "went on"
        if not same(compliances(folder), reference):
            wrong = "another result"
    else:
        is_kept = os.path.exists(os.path.join(folder, "checkpoint.state"))
        try:
            wrong = fault_of_messages(text) or fault_of_folder(bench, config, folder, reference)
        except (OSError, ValueError, KeyError) as error:
            wrong = repr(error)
        if rc not in (1, 2):
            wrong = f"exit status {rc}"
        if is_kept:
            how += ", resumed"
    for again in range(2):  # memory that a process allocates once is not a leak
        if wrong or left <= 0:
            break
        _, _, left, _ = bench.run(config, folder, fault=fault)
        if left > 0 and again == 1:
            wrong = f"{left} bytes of malloc are left"
    if wrong:
        with open(folder + ".log", "w", encoding="utf-8") as f:
            f.write(f"{config}: {fault}\n{wrong}\n\n{text}")
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(listing):
        os.remove(listing)
    return how, wrong


def judge_twice(bench, case, reference):
    """Like judge, but a run with a wrong outcome is repeated in a new process."""
    how, wrong = judge(bench, case, reference)
    if not wrong:
        return how, wrong
    before = bench.runs_before()
    bench.fresh()
    if before == 1:
        return how, wrong
    again, still = judge(bench, case, reference)
    bench.fresh()
    return (again, still) if still else (how, f"only after {before} other runs: {wrong}")


def prepare(bench, names):
    """The result of each config without a fault, and its sites."""
    reference, found = {}, []
    for name in names:
        folder = os.path.join(bench.logs, name)
        rc, text, _, _ = bench.run(name, folder, listing=folder + ".list")
        if rc == 2 and re.search("is not available|built without", text):
            print(f"skipped: no device '{bench.device}' here")
            sys.exit(77)
        if rc != 0:
            print(f"{name}: without a fault it ends with {rc}\n{text}")
            sys.exit(1)
        reference[name] = compliances(folder)
        found += cases(name, list_faults(folder + ".list"))
        shutil.rmtree(folder)
    return reference, found


def kind_of(fault):
    kind, site, _, how = fault.split()
    call = re.match("[a-z_]+", site).group(0) if kind == "device" else ""
    return f"{kind} {call} {how}".replace("  ", " ")


def report(outcome, n_left):
    """Prints one line per kind of fault and outcome; returns the number of faults."""
    count = {}
    for (_, fault), how, _ in outcome:
        key = (kind_of(fault), how)
        count[key] = count.get(key, 0) + 1
    for (kind, how), n in sorted(count.items()):
        print(f"{n:6}  {kind:28} {how}")
    bad = [(case, wrong) for case, _, wrong in outcome if wrong]
    for case, wrong in bad[:40]:
        print(f"WRONG {case[0]}: {case[1]}: {wrong.strip()}")
    print(f"{len(outcome)} faults, {len(bad)} ended wrongly, {n_left} left out")
    return len(bad)


def main():
    parser = argparse.ArgumentParser(description="faults of the device")
    parser.add_argument("build")
    parser.add_argument("logs", nargs="?")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--at", nargs=2)
    options = parser.parse_args()
    bench = Bench(options)
    names = ON_CPU if bench.device == "cpu" else list(CONFIGS)
    if not os.path.exists(bench.program):
        print("skipped: a build without -Dfault_injection=true")
        sys.exit(77)
    if options.only or options.at:
        names = [options.only or options.at[0]]
    end = time.monotonic() + options.seconds
    reference, found = prepare(bench, names)
    bench.fresh()
    random.Random(options.seed).shuffle(found)
    found = found[options.skip:]
    if options.at:
        found = [tuple(options.at)]

    def run_one(number):
        if time.monotonic() > end:
            return None
        case = found[number]
        return (case, *judge_twice(bench, case, reference[case[0]]))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(run_one, range(len(found))))
    outcome = [x for x in done if x]
    sys.exit(1 if report(outcome, len(done) - len(outcome)) or not outcome else 0)


if __name__ == "__main__":
    main()
