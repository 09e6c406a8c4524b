#!/usr/bin/env python3
"""Compares the GPU code of two builds of which one only renames or moves the other's files, functions and types.

    same_cubin.py OLD_BUILD NEW_BUILD [OLD.cu=NEW.cu ...]

Build both with CUDA by the same nvcc with `-Dcuda_args=--compress-mode=none`, so that the machine code lies plainly in
the objects. Every object of a .cu file has one ELF image per architecture, with a section .text.KERNEL per function.
The sections of both builds must be equal byte by byte, although function names may differ; so must the constants
(.nv.constant*), and the registers and shared memory that each function needs. Objects are paired by the name of their
source; OLD.cu=NEW.cu pairs files that were renamed. Exit status 1 if anything differs."""
import os
import re
import struct
import sys


def objects(build):
    """{source name: path} of the objects of .cu files."""
    found = {}
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".cu.o") and "/tests/" not in folder + "/":
                found[os.path.join(folder, name)] = name[:-2]
    return found


def sections(image):
    """[(name, type, link, info, bytes)] of an ELF64 image that begins at image[0]."""
    offset, = struct.unpack_from("<Q", image, 0x28)
    size, count, strings = struct.unpack_from("<HHH", image, 0x3A)
    rows = [struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size) for i in range(count)]
    names = image[rows[strings][4]:rows[strings][4] + rows[strings][5]]
    found = []
    for row in rows:
        name = names[row[0]:names.index(b"\0", row[0])].decode()
        content = b"" if row[1] == 8 else image[row[4]:row[4] + row[5]]
        found.append((name, row[1], row[6], row[7], content))
    return found


def kernels(path):
    """[(architecture, what, bytes)]: the code of each function and the constants, without names."""
    with open(path, "rb") as file:
        data = file.read()
    fatbin = b"".join(s[4] for s in sections(data) if s[0] == ".nv_fatbin")
    found = []
    at = fatbin.find(b"\x7fELF")
    while at >= 0:
        image = fatbin[at:]
        flags, = struct.unpack_from("<I", image, 0x30)
        for name, _, _, info, content in sections(image):
            if name.startswith(".text."):
                found.append((flags & 0xFFFF, f"code, {info >> 24} registers", content))
            elif name.startswith(".nv.constant") or name.startswith(".rodata"):
                found.append((flags & 0xFFFF, name.split(".")[2] if name.startswith(".nv") else "rodata", content))
        at = fatbin.find(b"\x7fELF", at + 64)
    return sorted(found)


def main(old_build, new_build, *pairs):
    renamed = dict(pair.split("=") for pair in pairs)
    news = {name: path for path, name in objects(new_build).items()}
    faults, n_object, n_kernel, n_byte, n_host = [], 0, 0, 0, 0
    for path, name in sorted(objects(old_build).items()):
        source = re.sub(r"^(gpu_|.*_gpu_)", "", name)
        source = renamed.get(source, source)
        # in the folder of the old source, in one of its rooms, or linked into another library
        matches = [p for n, p in news.items() if re.fullmatch(r"(gpu_)?((device|matrix|operator|multigrid|design)_)?" +
                                                              re.escape(source), n)]
        if len(matches) != 1:
            faults.append(f"{name}: {len(matches)} objects of {source} in the new build")
            continue
        old, new = kernels(path), kernels(matches[0])
        n_object += 1
        n_kernel += sum(k[1].startswith("code") for k in old)
        n_byte += sum(len(k[2]) for k in old)
        n_host += not old and not new  # no kernel in the source
        if old != new:
            faults.append(f"{name}: {sum(a != b for a, b in zip(old, new)) + abs(len(old) - len(new))} of {len(old)} sections differ")
    print("".join(f + "\n" for f in faults), end="")
    print(f"{n_object} objects, {n_host} of them without kernels, {n_kernel} functions, {n_byte} bytes, {len(faults)} differences")
    if not n_kernel:
        print("no machine code: build with --compress-mode=none")
    return 1 if faults or not n_kernel else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
