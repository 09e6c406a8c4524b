#!/bin/sh
# The CPU suite under ThreadSanitizer: clang, its OpenMP and Archer, which reports OpenMP's barriers, reductions and tasks to the
# sanitizer (gcc's libgomp does not, so all of its barriers look like races).
#     sh tests/tsan.sh [BUILD [TEST ...]]     BUILD build-tsan; TEST names of `meson test --list`, or "all"
# Without names: the tests of code that runs with several threads. Then soak.c with concurrent sessions, and three complete runs,
# one with checkpoints. Two small programs come first: one with a race, which must be found, and one without, which must pass. Exit
# status 1 after a report or a failed test, 77 if clang, libomp-dev (with libarcher.so) or libclang-rt-dev is missing.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build-tsan}
[ $# -eq 0 ] || shift
clang=${CLANG:-clang}
version=$("$clang" -dumpversion 2>/dev/null | cut -d. -f1)
llvm=/usr/lib/llvm-$version/lib
if [ ! -f "$llvm/libarcher.so" ]; then
    echo "SKIPPED: no $llvm/libarcher.so (Debian: clang, libomp-dev)"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LIBRARY_PATH="$llvm" LD_LIBRARY_PATH="$llvm${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export OMP_TOOL_LIBRARIES="$llvm/libarcher.so" OMP_WAIT_POLICY=passive
export OMP_NUM_THREADS=2
# libomp itself is not instrumented; Archer reports its synchronization
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66 log_path=$work/report"

reports() {
    cat "$work"/report.* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer'
}

cat >"$work/race.c" <<'EOF'
#include <stdio.h>
int main(int argc, char **argv)
{
    static double a[1000];
    int n = 0;
    (void)argv;
#pragma omp parallel for reduction(+ : n)
    for (int i = 0; i < 1000; i++) n += i, a[i] = i;
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) a[999 - i] += 1.0;
    if (argc > 1) {
#pragma omp parallel for
        for (int i = 0; i < 1000; i++) n += i;
    }
    return printf("%d %g\n", n, a[5]) < 0;
}
EOF
if ! "$clang" -g -fopenmp -fsanitize=thread -L"$llvm" "$work/race.c" -o "$work/race" 2>"$work/log"; then
    echo "SKIPPED: $clang links no program with OpenMP and ThreadSanitizer: $(head -n 1 "$work/log")"
    exit 77
fi
"$work/race" >/dev/null 2>&1 || { echo "FAULT: a race is seen where there is none: Archer does not work"; exit 1; }
"$work/race" with >/dev/null 2>&1 && { echo "FAULT: a race is not found"; exit 1; }
rm -f "$work"/report.*

if [ ! -f "$build/build.ninja" ]; then
    CC="${CC:-$clang}" meson setup "$build" -Dcuda=disabled -Dopenmp=enabled -Db_sanitize=thread -Db_lundef=false \
        -Dbuildtype=debugoptimized -Dbench=false >"$work/log" || { cat "$work/log"; exit 1; }
fi
ninja -C "$build" >"$work/log" || { tail "$work/log"; exit 1; }

failed=0
if [ $# -eq 0 ]; then
    set -- api threads 'assembled cpu' 'matrix cpu' lattice 'precond cpu' 'pcg cpu' 'pcg_mixed cpu' 'multigrid_level cpu' \
        'update cpu' 'design cpu' 'filter cpu' 'chain cpu' 'ties cpu' 'snapshot cpu' 'heat_quadratic cpu' vtk
fi
[ "$1" != all ] || set --
# a sanitized process takes several times as long
meson test -C "$build" --no-rebuild --timeout-multiplier 10 --num-processes "${JOBS:-2}" "$@" >"$work/log" 2>&1 ||
    failed=1
grep -E '^ *[0-9]+/[0-9]+ .* (FAIL|TIMEOUT|ERROR|SKIP) |^(Ok|Fail|Skipped|Timeout):' "$work/log"

# Sessions within and beside each other: their results are those of the CPU suite's test `soak`.
python3 tests/soak/generate.py "$build/app/hextop" . "$work/soak" 11 12 200 &&
    "$build/tests/soak/soak" "$work/soak/list" cpu "$work/soak/out" 1 0 || failed=1

n=0
for keys in 'solver.operator=nbn optimization.filter={kind="density";radius=2.0;} optimization.projection={}' \
    'solver.operator=otf solver.preconditioner=multigrid output.checkpoint=0.00001' \
    'solver.operator=bsr solver.element=quadratic optimization.filter={kind="helmholtz";radius=2.0;}'; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    "$build/app/hextop" -q run configs/quickstart.cfg mesh.nx=12 mesh.ny=6 mesh.nz=6 mesh.distort=0.1 \
        optimization.iterations=3 output.directory="$work/run$n" $keys || failed=1
done
echo "$(reports) reports of ThreadSanitizer"
if [ "$(reports)" -gt 0 ]; then
    failed=1
    cat "$work"/report.* | grep -A 30 '^WARNING: ThreadSanitizer' | head -n 400
    grep -h '^SUMMARY' "$work"/report.* | sort | uniq -c | sort -rn
fi
[ $failed = 0 ]
