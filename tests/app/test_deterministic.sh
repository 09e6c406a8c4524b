#!/bin/sh
# Whole runs with solver.deterministic, compared bit by bit: all densities, and the history but for
# its seconds: on a CPU with one thread and with two, on a GPU twice the same.
#     test_deterministic.sh HEXTOP SRCDIR DEVICE
set -u
hextop=$(realpath "$1")
src=$(realpath "$2")
device=$3
if ! "$hextop" list | grep -q "^ *$device  *yes"; then
    echo "no device $device here"
    exit 77
fi
. "$(dirname "$0")/../lib/scratch.sh"

# The columns whose names do not begin with "seconds".
without_seconds() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i !~ /^seconds/) keep[++n] = i }
             { for (i = 1; i <= n; i++) printf "%s,", $keep[i]; print "" }' "$1"
}

# run NAME ARGUMENTS...: four design iterations into the folder NAME.
run() {
    name=$1
    shift
    "$hextop" -q run "$src/configs/cantilever.cfg" mesh.nx=16 mesh.ny=8 mesh.nz=8 \
        mesh.distort=0.2 solver.tolerance=1e-4 optimization.iterations=4 output.every=1 \
        output.fields=density,displacement,energy output.directory="$name" \
        solver.device="$device" solver.deterministic=true "$@" || fault "$name does not run"
    grep -q '"operator_deterministic": true' "$name/summary.json" ||
        fault "$name: summary.json does not say deterministic"
    without_seconds "$name/history.csv" >"$name/history"
}

# same A B: the files of two runs.
same() {
    [ "$(find "$1" -name '*.vtk' | wc -l)" = 4 ] || fault "$1 does not hold 4 designs"
    for file in "$1"/*.vtk "$1/history"; do
        cmp "$file" "$2/${file##*/}" || fault "$file differs from that of $2"
    done
}

# What is left to solver.deterministic, and every deterministic operator of the device by name.
operators=$("$hextop" list | awk -v device="$device" '$2 == device && $4 == "yes" { print $1 }')
[ -n "$operators" ] || fault "no deterministic operator"
for operator in auto $operators; do
    run "$operator-1" solver.operator="$operator" solver.threads=1
    run "$operator-2" solver.operator="$operator" solver.threads=2
    same "$operator-1" "$operator-2"
done
cut -d, -f1-6 "auto-1/history"
grep -q ',' "auto-1/history" || fault "the history is empty"
[ "$(wc -l <auto-1/history)" = 5 ] || fault "the history has not 4 lines"
cmp -s "auto-1/density_0001.vtk" "auto-1/density_0004.vtk" && fault "the design does not change"

echo "$(echo "$operators" | wc -l) operators, $failed failed"
[ $failed = 0 ]
