#!/usr/bin/env python3
"""K assembled and multiplied by hextop, CuPy (cuSPARSE) and PyTorch: same mesh, same machine, same run.

    python3 tests/bench/matrix_peers.py HEXTOP OUT [--n 100,100,100] [--repeat 15] [--device cuda]

The mesh is a box of nx x ny x nz hexahedra with displaced inner nodes. Products use the K that `hextop matrix --order
curve` writes, and are checked against sums by NumPy on the host. The other libraries make K from triplets of the same
connectivity with random values: 576 numbers per element for elasticity, 64 for conduction. This includes neither
integration nor conversion to blocks, and is checked by a product with the triplets. Needs NumPy; other missing
libraries are reported and left out. SciPy, if installed, takes part with small boxes, on one core. OUT/peers.txt and
OUT/peers.json have the table.

Exit status 1 if hextop fails or a check does, 77 without NumPy."""
import argparse
import gc
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time
import warnings

try:
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "configs" / "cantilever.cfg"
BOUND = 1e-12         # tolerance of a check: largest difference divided by the largest value
PROCESSES = 3         # runs of hextop matrix, each of which builds the pattern once
MOST_ASSEMBLIES = 5   # timed repeats of operations that take a second
MOST_ON_HOST = 200000 # elements for SciPy
FORMS = {3: "elasticity", 1: "conduction"}
COLUMNS = ["who", "what", "ms", "middle half", "G el/s", "GB/s", "of copy", "x hextop", "check"]
NOTES = """ms           median; middle half: between the quartiles
GB/s         nominal: a product reads K (12 bytes a number as CSR, 8 and 4 a block as blocks), x, and
             writes y; triplets are read once and K is written once; hextop's fill writes the values
x hextop     ms over hextop's: products over its fastest bsr, making K over its pattern and fill of
             the same mesh, with a kept pattern over its fill; hextop's integration is in these
check        against sums of NumPy's over K on the host, or against a product with the triplets;
             hextop's against its element formulas"""


class Table:
    """Rows are printed and saved at once, because later ones may run out of time or memory."""

    def __init__(self, out, facts):
        self.out, self.facts, self.rows, self.failed = out, facts, [], False
        self.hextop = {}  # seconds, by "product", "make", "fill"
        self.copy = None  # bytes/s
        self.lines = []

    def begin(self):
        self.line("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))

    def line(self, text):
        print(text, flush=True)
        self.lines.append(text)
        (self.out / "peers.txt").write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        (self.out / "peers.json").write_text(
            json.dumps({**self.facts, "copy_bytes_per_second": self.copy, "rows": self.rows}, indent=1),
            encoding="utf-8")

    def add(self, who, what, times, n_bytes=None, against=None, error=None, bound=BOUND):
        median, low, high = spread(times)
        rate = n_bytes / median if n_bytes else None
        ratio = median / self.hextop[against] if against in self.hextop else None
        good = None if error is None else bool(error <= bound)  # a NaN is not
        self.failed |= good is False
        self.rows.append({
            "who": who, "what": what, "seconds": list(times), "median_seconds": median,
            "lower_quartile_seconds": low, "upper_quartile_seconds": high,
            "elements_per_second": self.facts["elements"] / median, "nominal_bytes": n_bytes,
            "bytes_per_second": rate, "over_hextop": ratio, "error": error, "good": good})
        words = [who, what, f"{1e3 * median:.4g}", f"{1e3 * low:.4g} to {1e3 * high:.4g}",
                 f"{self.facts['elements'] / median / 1e9:.4g}",
                 f"{rate / 1e9:.4g}" if rate else "",
                 f"{100 * rate / self.copy:.0f} %" if rate and self.copy else "",
                 f"{ratio:.3g}" if ratio else "",
                 "" if good is None else f"{error:.1e}{'' if good else ' WRONG'}"]
        self.line("| " + " | ".join(words) + " |")

    def leave_out(self, who, what, why):
        why = " ".join(str(why).split())[:160] or "no message"
        self.rows.append({"who": who, "what": what, "left_out": why})
        self.line(f"| {who} | {what} | left out: {why}" + " |" * (len(COLUMNS) - 2))


def spread(times):
    """Median and quartiles, each of which is a time that was measured."""
    ordered, n = sorted(times), len(times)
    return statistics.median(ordered), ordered[(n - 1) // 4], ordered[n - 1 - (n - 1) // 4]


def difference(found, expected):
    """Works on arrays of NumPy, CuPy and PyTorch."""
    return float(abs(found - expected).max() / abs(expected).max())


# hextop


class HextopFailed(Exception):
    pass


def hextop(args, *words, fine=(0,)):
    command = [args.hextop, *map(str, words), f"solver.device={args.device}"]
    command += [f"mesh.n{axis}={n}" for axis, n in zip("xyz", args.n)] + ["mesh.distort=0.2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in fine:
        raise HextopFailed(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-500:]}"
                           f"{done.stderr[-1000:]}")
    return done.stdout + done.stderr


def duration(value, unit):
    return float(value) * {"ms": 1e-3, "s": 1.0}[unit]


def stage_times(text):
    """Builder and seconds of the pattern (sum of its steps), fill and seconds of the values."""
    number = r"([0-9.e+-]+) (ms|s)\b"
    pattern = re.search(rf"^pattern +(\S+) +{number}(.*)$", text, re.M)
    values = re.search(rf"^values +(\S+) +{number}", text, re.M)
    if not pattern or not values:
        raise HextopFailed(f"no line of the pattern or the values in:\n{text}")
    steps = sum(duration(*step) for step in re.findall(rf"\S {number}", pattern[4]))
    return (pattern[1], duration(pattern[2], pattern[3]), steps, values[1],
            duration(values[2], values[3]))


def hextop_stages(table, args, n_block):
    runs = [stage_times(hextop(args, "matrix", CONFIG)) for _ in range(PROCESSES)]
    build, _, _, fill, _ = runs[0]
    table.hextop["fill"] = statistics.median(run[4] for run in runs)
    table.hextop["make"] = statistics.median(run[1] + run[4] for run in runs)
    table.add("hextop", f"pattern, {build}", [run[1] for run in runs], 4 * n_block)
    table.add("hextop", "of that its steps", [run[2] for run in runs], 4 * n_block)
    table.add("hextop", f"fill, {fill}: a design", [run[4] for run in runs], 72 * n_block, "fill")
    table.add("hextop", "pattern and fill", [run[1] + run[4] for run in runs], 76 * n_block, "make")


def hextop_products(table, args, K):
    """Bytes that products with K move, computed from K itself like for the others; otf has no K."""
    hextop(args, "compare", CONFIG, "--operators", "otf,bsr,csr", "--no-pcg", "--repeats",
           max(args.repeat, 3), "--output", args.out / "compare", fine=(0, 1))  # 1: a product was wrong
    group = json.loads((args.out / "compare" / "compare.json").read_text(encoding="utf-8"))["meshes"][0]
    rows = []
    for row in group["operators"]:
        if row["status"] == "skipped":
            table.leave_out("hextop", f"product, {row['operator']} {row['layout']}", row["note"])
        else:
            rows.append(row)
    table.facts["device"] = group["device_description"]
    table.copy = group["copy_bytes_per_second"]
    bsr = [row["product_median_seconds"] for row in rows if row["operator"] == "bsr"]
    if bsr:
        table.hextop["product"] = min(bsr)
    for row in rows:
        name, median = row["operator"], row["product_median_seconds"]
        n_bytes = {"bsr": K.bsr_bytes, "csr": K.csr_bytes}.get(name, median * row["bytes_per_second"])
        table.add("hextop", f"product, {name} {row['layout']}",
                  [row["product_lower_quartile_seconds"], median, row["product_upper_quartile_seconds"]],
                  n_bytes, "product", row["error"], row["error_bound"])


class Matrix:
    """K of hextop in CSR, x, and K x by NumPy."""

    def __init__(self, args):
        path = args.out / "K.npz"
        hextop(args, "matrix", CONFIG, "--order", "curve", "-o", path)
        with np.load(path) as file:
            self.data, self.indices, self.indptr = (file[k] for k in ("data", "indices", "indptr"))
        path.unlink()
        (args.out / "K_order.npz").unlink()
        self.n, self.n_number = len(self.indptr) - 1, len(self.data)
        vectors = 16 * self.n
        self.csr_bytes = 12 * self.n_number + self.indptr.nbytes + vectors
        self.bsr_bytes = 76 * (self.n_number // 9) + 4 * (self.n // 3 + 1) + vectors
        self.x = np.random.default_rng(7).uniform(-1.0, 1.0, self.n)
        self.y = self.multiply()

    def multiply(self, step=100000):
        y = np.empty(self.n)
        for first in range(0, self.n, step):
            ptr = self.indptr[first:first + step + 1].astype(np.int64)
            begin, end = ptr[0], ptr[-1]
            if np.any(ptr[1:] == ptr[:-1]):
                raise HextopFailed("a row of K is empty")
            products = self.data[begin:end] * self.x[self.indices[begin:end]]
            y[first:first + step] = np.add.reduceat(products, ptr[:-1] - begin)
        return y


def box_connectivity(n):
    """[n_elem][8] nodes of the box, x fastest."""
    nx, ny, nz = n
    node = np.arange((nx + 1) * (ny + 1) * (nz + 1), dtype=np.int32).reshape(nz + 1, ny + 1, nx + 1)
    corner = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    return np.stack([node[k:nz + k, j:ny + j, i:nx + i].ravel() for i, j, k in corner], axis=1)


class Box:
    def __init__(self, n):
        self.n = n
        self.conn = box_connectivity(n)
        self.n_elem = len(self.conn)
        self.n_node = int(self.conn.max()) + 1

    def unknowns(self, c):
        """[n_elem][8 c]"""
        return (c * self.conn[:, :, None] + np.arange(c, dtype=np.int32)).reshape(self.n_elem, 8 * c)

    def n_number(self, c):
        """Number of entries of K: along each axis, n + 1 nodes have 3 n + 1 neighbours, including themselves."""
        nx, ny, nz = self.n
        return c * c * (3 * nx + 1) * (3 * ny + 1) * (3 * nz + 1)


# The other libraries: each makes K from triplets and multiplies hextop's K.


class Peer:
    """Shared by the three libraries: guarded trials, with memory released between them."""

    def __init__(self, table, args, box, matrix):
        self.table, self.args, self.box, self.matrix = table, args, box, matrix

    def run(self):
        for c, form in FORMS.items():
            self.attempt(f"triplets to K, {form}", self.make, c)
        for name, product in self.products():
            self.attempt(f"product, {name}", product)

    def attempt(self, what, work, *words):
        try:
            work(what, *words)
        except Exception as error:  # whatever error a library raises, the next one may work
            why = error
        else:
            why = None
        if why is not None:
            self.table.leave_out(self.name, what, f"{type(why).__name__}: {why}")
            why.__traceback__ = None  # its frames hold references to arrays
        del work, words
        gc.collect()
        self.free()

    def add_making(self, what, times, c, n_found, error, index_bytes, row_ptr):
        """index_bytes: for the row and column of a triplet, and for the indices of an entry of K."""
        n_number = self.box.n_number(c)
        if n_found != n_number:
            raise ValueError(f"{n_found} numbers, {n_number} expected")
        n_bytes = (self.box.n_elem * 64 * c * c * (8 + index_bytes[0]) + n_number * (8 + index_bytes[1])
                   + (4 * (c * self.box.n_node + 1) if row_ptr else 0))
        self.table.add(self.name, what, times, n_bytes, "make" if c == 3 else None, error)

    def add_product(self, what, work, n_bytes, to_host):
        error = difference(to_host(work()), self.matrix.y)
        self.table.add(self.name, what, self.times(work, self.args.repeat), n_bytes, "product", error)

    def n_assembly(self):
        return min(self.args.repeat, MOST_ASSEMBLIES)


class OfCuPy(Peer):
    name = "CuPy"

    def __init__(self, *words):
        super().__init__(*words)
        import cupy
        import cupyx.cusparse
        import cupyx.scipy.sparse
        cupy.cuda.runtime.getDevice()  # raises if there is none
        self.cp, self.sparse, self.cusparse = cupy, cupyx.scipy.sparse, cupyx.cusparse
        self.version = cupy.__version__

    def free(self):
        self.cp.get_default_memory_pool().free_all_blocks()
        self.cp.get_default_pinned_memory_pool().free_all_blocks()

    def times(self, work, repeat):
        begin, end = self.cp.cuda.Event(), self.cp.cuda.Event()
        found = []
        for _ in range(1 + repeat):  # the first call compiles kernels and allocates memory
            begin.record()
            work()
            end.record()
            end.synchronize()
            found.append(1e-3 * self.cp.cuda.get_elapsed_time(begin, end))
        return found[1:]

    def make(self, what, c):
        cp, n = self.cp, c * self.box.n_node
        unknown = cp.asarray(self.box.unknowns(c))
        shape = (self.box.n_elem, 8 * c, 8 * c)
        row = cp.broadcast_to(unknown[:, :, None], shape).reshape(-1)
        col = cp.broadcast_to(unknown[:, None, :], shape).reshape(-1)
        value = cp.arange(row.size, dtype=cp.float64)
        value *= 0.6180339887498949
        value -= cp.floor(value) + 0.5

        def work():
            return self.sparse.coo_matrix((value, (row, col)), shape=(n, n)).tocsr()

        csr, x = work(), cp.asarray(np.random.default_rng(c).uniform(-1.0, 1.0, n))
        error = difference(csr @ x, cp.bincount(row, weights=value * x[col], minlength=n))
        n_found = int(csr.nnz)
        del csr, x
        self.add_making(what, self.times(work, self.n_assembly()), c, n_found, error, (8, 4), True)

    def products(self):
        return [("cuSPARSE csr @ x", self.operator), ("cuSPARSE spmv into y", self.spmv)]

    def csr(self):
        m = self.matrix
        arrays = tuple(self.cp.asarray(a) for a in (m.data, m.indices, m.indptr))
        return self.sparse.csr_matrix(arrays, shape=(m.n, m.n)), self.cp.asarray(m.x)

    def operator(self, what):
        csr, x = self.csr()
        self.add_product(what, lambda: csr @ x, self.matrix.csr_bytes, self.cp.asnumpy)

    def spmv(self, what):
        csr, x = self.csr()
        y = self.cp.empty_like(x)
        csr.sum_duplicates()  # adds nothing, but notes that columns ascend, which spmv requires
        self.add_product(what, lambda: self.cusparse.spmv(csr, x, y=y), self.matrix.csr_bytes,
                         self.cp.asnumpy)


class OfTorch(Peer):
    name = "PyTorch"

    def __init__(self, *words):
        super().__init__(*words)
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("it finds no GPU")
        warnings.filterwarnings("ignore", message=".*[Ss]parse.*")  # suppresses the warning that its sparse tensors are new
        self.torch, self.version = torch, torch.__version__
        self.gpu = torch.device("cuda")

    def free(self):
        self.torch.cuda.empty_cache()

    def times(self, work, repeat):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        found = []
        for _ in range(1 + repeat):
            begin.record()
            work()
            end.record()
            end.synchronize()
            found.append(1e-3 * begin.elapsed_time(end))
        return found[1:]

    def triplets(self, c):
        """Indices [2][n] and values [n]."""
        torch = self.torch
        unknown = torch.from_numpy(self.box.unknowns(c)).to(self.gpu).long()
        shape = (self.box.n_elem, 8 * c, 8 * c)
        index = torch.stack([unknown[:, :, None].expand(shape).reshape(-1),
                             unknown[:, None, :].expand(shape).reshape(-1)])
        value = torch.arange(index.shape[1], dtype=torch.float64, device=self.gpu)
        value *= 0.6180339887498949
        value -= torch.floor(value) + 0.5
        return index, value

    def make(self, what, c):
        torch, n = self.torch, c * self.box.n_node
        index, value = self.triplets(c)

        def work():
            return torch.sparse_coo_tensor(index, value, (n, n)).coalesce()

        def product(index, value):
            y = torch.zeros(n, dtype=torch.float64, device=self.gpu)
            return y.index_add_(0, index[0], value * x[index[1]])

        x = torch.from_numpy(np.random.default_rng(c).uniform(-1.0, 1.0, n)).to(self.gpu)
        coo = work()
        error = difference(product(coo.indices(), coo.values()), product(index, value))
        n_found = int(coo.values().shape[0])
        slot = self.slots(coo.indices(), index, n) if c == 3 else None
        expected = coo.values().clone()
        del coo
        self.add_making(what, self.times(work, self.n_assembly()), c, n_found, error, (16, 16), False)
        if slot is not None:
            del index
            self.add_kept(slot, value, expected)

    def slots(self, kept, index, n):
        """The position of each triplet among the kept entries, which ascend."""
        return self.torch.searchsorted(kept[0] * n + kept[1], index[0] * n + index[1])

    def add_kept(self, slot, value, expected):
        """Times the fill per design if the pattern is kept: values are added to its entries."""
        k = self.torch.empty_like(expected)

        def work():
            return k.zero_().scatter_add_(0, slot, value)

        error = difference(work(), expected)
        self.table.add(self.name, "scatter_add_, pattern kept, elasticity",
                       self.times(work, self.n_assembly()), 16 * len(value) + 8 * len(k), "fill", error)

    def products(self):
        return [("sparse CSR @ x", self.csr), ("sparse BSR, 3x3 blocks @ x", self.bsr)]

    def put(self, array):
        return self.torch.from_numpy(array).to(self.gpu)

    def add(self, what, tensor, n_bytes):
        x = self.put(self.matrix.x)
        self.add_product(what, lambda: tensor @ x, n_bytes, lambda y: y.cpu().numpy())

    def csr(self, what):
        m = self.matrix
        tensor = self.torch.sparse_csr_tensor(self.put(m.indptr), self.put(m.indices), self.put(m.data),
                                              (m.n, m.n))
        self.add(what, tensor, m.csr_bytes)

    def bsr(self, what):
        """The position of an entry in its row determines its block and its column there."""
        torch, m = self.torch, self.matrix
        ptr = self.put(m.indptr).long()
        count = ptr[1:] - ptr[:-1]
        if not bool((count.view(-1, 3) == count[::3, None]).all()) or bool((count % 3 != 0).any()):
            raise ValueError("rows of K are not made of whole blocks")
        row = torch.repeat_interleave(torch.arange(m.n, device=self.gpu), count)
        place = torch.arange(m.n_number, device=self.gpu) - ptr[row]
        block = torch.div(ptr[::3], 9, rounding_mode="floor")[torch.div(row, 3, rounding_mode="floor")]
        block += torch.div(place, 3, rounding_mode="floor")
        value = torch.empty(m.n_number, dtype=torch.float64, device=self.gpu)
        value[9 * block + 3 * (row % 3) + place % 3] = self.put(m.data)
        first = (row % 3 == 0) & (place % 3 == 0)
        col = torch.div(self.put(m.indices)[first], 3, rounding_mode="floor")
        block_ptr = torch.div(ptr[::3], 9, rounding_mode="floor").int()  # offsets of n / 3 rows, and the end
        del row, place, block, first, count, ptr
        tensor = torch.sparse_bsr_tensor(block_ptr, col.int(), value.view(-1, 3, 3), (m.n, m.n))
        self.add(what, tensor, m.bsr_bytes)


class OfScipy(Peer):
    name = "SciPy, one core"

    def __init__(self, *words):
        super().__init__(*words)
        if self.box.n_elem > MOST_ON_HOST:
            raise RuntimeError(f"for at most {MOST_ON_HOST} elements")
        import scipy
        import scipy.sparse
        self.sparse, self.version = scipy.sparse, scipy.__version__

    def free(self):
        pass

    def times(self, work, repeat):
        found = []
        for _ in range(1 + repeat):
            begin = time.perf_counter()
            work()
            found.append(time.perf_counter() - begin)
        return found[1:]

    def make(self, what, c):
        n, unknown = c * self.box.n_node, self.box.unknowns(c)
        row = np.repeat(unknown, 8 * c, axis=1).ravel()
        col = np.tile(unknown, (1, 8 * c)).ravel()
        value = np.random.default_rng(c).uniform(-1.0, 1.0, len(row))

        def work():
            return self.sparse.coo_matrix((value, (row, col)), shape=(n, n)).tocsr()

        csr, x = work(), np.random.default_rng(7).uniform(-1.0, 1.0, n)
        error = difference(csr @ x, np.bincount(row, weights=value * x[col], minlength=n))
        self.add_making(what, self.times(work, self.n_assembly()), c, int(csr.nnz), error, (8, 4), True)

    def products(self):
        return [("csr @ x", self.csr), ("bsr @ x, 3x3 blocks", self.bsr)]

    def matrix_of(self):
        m = self.matrix
        return self.sparse.csr_matrix((m.data, m.indices, m.indptr), shape=(m.n, m.n))

    def csr(self, what):
        k = self.matrix_of()
        self.add_product(what, lambda: k @ self.matrix.x, self.matrix.csr_bytes, lambda y: y)

    def bsr(self, what):
        k = self.matrix_of().tobsr((3, 3))
        self.add_product(what, lambda: k @ self.matrix.x, self.matrix.bsr_bytes, lambda y: y)


def compare(table, args, box):
    table.begin()
    matrix = Matrix(args)
    if matrix.n_number != box.n_number(3):
        raise HextopFailed(f"K has {matrix.n_number} numbers, {box.n_number(3)} expected")
    hextop_products(table, args, matrix)
    hextop_stages(table, args, box.n_number(1))
    for kind in (OfCuPy, OfTorch, OfScipy):
        try:
            peer = kind(table, args, box, matrix)
        except Exception as error:  # not installed, or no GPU: this is reported, and the others continue
            table.leave_out(kind.name, "all", f"{type(error).__name__}: {error}")
            continue
        table.facts[kind.name] = peer.version
        peer.run()
    table.line(f"\n{NOTES}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--n", default="100,100,100", help="elements along x, y, z")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--device", default="cuda", help="hextop's")
    args = parser.parse_args()
    args.n = [int(n) for n in args.n.split(",")]
    if len(args.n) != 3 or min(args.n) < 1 or args.repeat < 1:
        parser.error("--n takes three numbers of elements, --repeat at least 1")
    args.out.mkdir(parents=True, exist_ok=True)
    box = Box(args.n)
    table = Table(args.out, {"n": args.n, "elements": box.n_elem, "nodes": box.n_node,
                             "python": sys.version.split()[0], "numpy": np.__version__})
    try:
        compare(table, args, box)
    except HextopFailed as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return int(table.failed)


if __name__ == "__main__":
    sys.exit(main())
