#!/bin/sh
# Everything that needs a GPU in one run: build, tests on the device, sanitizers, timing of operators.
#   sh tests/bench/gpu.sh LOGS [BUILD]      LOGS: folder for the logs; BUILD: build folder (build-gpu)
# Needs nvcc, Meson, ninja and libconfig; prints a short report and fails if anything failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
logs=$1 build=${2:-build-gpu} failed=0
mkdir -p "$logs"

step() { # step NAME COMMAND...: writes the output to a log, and its end and a verdict to the terminal
    name=$1
    shift
    echo "=== $name"
    if "$@" >"$logs/$name.log" 2>&1; then
        tail -n "${tail_lines:-3}" "$logs/$name.log"
    else
        failed=1
        echo "FAILED ($*):"
        tail -n 30 "$logs/$name.log"
    fi
}

step setup meson setup --reconfigure "$build" -Dcuda=enabled
step build ninja -C "$build"
[ "$failed" = 0 ] || exit 1
tail_lines=40 step tests meson test -C "$build" --print-errorlogs --num-processes 4
tail_lines=20 step sanitize sh tests/gpu/sanitize.sh "$build" "$logs/sanitize"
LIMIT=150 WHAT=matrix TOOLS="memcheck racecheck synccheck" tail_lines=20 \
    step sanitize-matrix sh tests/gpu/sanitize.sh "$build" "$logs/sanitize-matrix"
tail_lines=16 step operators "$build/tests/operator/checkop" cuda --bench 160 80 80
exit "$failed"
