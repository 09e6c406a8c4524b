#!/bin/sh
# Installs with apt the packages that are missing to build hextop. If none is missing, does nothing and needs no network.
#   sh tests/install_deps.sh          compiler, Meson, Ninja, pkg-config, libconfig
#   sh tests/install_deps.sh test     also what some tests need, which are skipped without it: VTK for Python and a
#                                     screen for it, CalculiX, Gmsh, Chromium, Assimp, clang, zlib and Exodus for
#                                     files that need them, METIS for partitions, Open MPI, and SciPy and PETSc for
#                                     Python, which load hextop's matrices
# Shared by examples/quickstart.sh and tests/run.sh.
set -u
PATH=$PATH:/usr/local/cuda/bin

has() { command -v "$1" >/dev/null 2>&1; }

compiles() { # compiler (may be two words: ccache gcc), language
    # shellcheck disable=SC2086
    printf '#include <stdio.h>\nint main(void) { return 0; }\n' |
        $1 -x "$2" -o /dev/null - >/dev/null 2>&1
}

# Never removes a package: if a package conflicts with installed ones, it is not installed.
apt_install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        --no-remove "$@" >"$log" 2>&1
}

apt_ready() {
    has apt-get || return 1
    if [ "$(id -u)" = 0 ]; then sudo=; elif has sudo; then sudo=sudo; else return 1; fi
}

missing=
compiles "${CC:-cc}" c || missing="$missing gcc libc6-dev"
# Only nvcc needs a C++ compiler.
if has nvcc; then compiles "${CXX:-c++}" c++ || missing="$missing g++"; fi
has meson || missing="$missing meson"
has ninja || missing="$missing ninja-build"
has pkg-config || missing="$missing pkg-config"
{ has pkg-config && pkg-config --exists libconfig; } || missing="$missing libconfig-dev"

optional=
if [ "${1:-}" = test ]; then
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import numpy, vtkmodules' >/dev/null 2>&1 && break
    done || optional="python3-vtk9 python3-numpy"
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import scipy' >/dev/null 2>&1 && break
    done || optional="$optional python3-scipy"
    { ls -d /usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages/petsc4py ||
        python3 -c 'import petsc4py'; } >/dev/null 2>&1 || optional="$optional python3-petsc4py"
    { has xvfb-run && has xauth; } || optional="$optional xvfb xauth"
    has ccx || optional="$optional calculix-ccx"
    has gmsh || optional="$optional gmsh"
    { has chromium || has chromium-browser || has google-chrome; } || optional="$optional chromium"
    [ -f /usr/include/zlib.h ] || optional="$optional zlib1g-dev"
    [ -f /usr/include/exodusII.h ] || optional="$optional libexodusii-dev"
    [ -f /usr/include/metis.h ] || optional="$optional libmetis-dev"
    has mpirun || optional="$optional libopenmpi-dev openmpi-bin"
    has clang || optional="$optional clang"
    has assimp || optional="$optional assimp-utils"
fi

[ -n "$missing$optional" ] || exit 0

if ! apt_ready; then
    [ -n "$missing" ] || exit 0
    echo "error: missing:$missing (Debian's names). Install them with your package manager, or run" \
        "this as root or with sudo on Debian or Ubuntu." >&2
    exit 1
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

if [ -n "$missing" ]; then
    echo "Installing$missing"
    $sudo apt-get update -qq >"$log" 2>&1
    # The names are words without blanks, one package each.
    # shellcheck disable=SC2086
    if ! apt_install $missing; then
        cat "$log" >&2
        echo "error: apt-get could not install:$missing" >&2
        exit 1
    fi
fi
if [ -n "$optional" ]; then
    # Packages that are only needed for tests are not worth asking for a password.
    [ -z "$sudo" ] || sudo -n true 2>/dev/null || exit 0
    echo "Installing $optional"
    [ -n "$missing" ] || $sudo apt-get update -qq >"$log" 2>&1
    # shellcheck disable=SC2086
    apt_install $optional || echo "note: not installed: $optional; the tests that need it are skipped"
fi
exit 0
