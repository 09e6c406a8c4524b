#!/bin/sh
# Whole runs with solver.deterministic, compared bit by bit: all densities with the hashes in their titles, and the
# history without its times. Every operator runs with 1 and 2 threads, all kinds of problems and tetrahedra run with 1,
# 2 and 3, and on a CPU also with each vector unit that it has.
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

# same A B [N]: compares the files of two runs of N designs.
same() {
    [ "$(find "$1" -name '*.vtk' | wc -l)" = "${3:-4}" ] || fault "$1 does not hold ${3:-4} designs"
    [ "$(grep -A3 '"identity"' "$1/summary.json")" = "$(grep -A3 '"identity"' "$2/summary.json")" ] ||
        fault "$1/summary.json has other hashes than that of $2"
    for file in "$1"/*.vtk "$1/history"; do
        cmp "$file" "$2/${file##*/}" || fault "$file differs from that of $2"
    done
}

# The operator that solver.deterministic chooses, and every deterministic operator of the device by name.
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

# Everything in a run that has sums which could depend on the number of threads: set-up (order, blocks, coarse levels,
# bins of the filter), solves, filters, projection, update. 768 elements make several blocks of otf, of rows and of
# sums.
cat >body.cfg <<'END'
mesh = { generator = "cantilever"; nx = 16; ny = 8; nz = 6; distort = 0.15; shuffle = 3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; },
          { set = "right"; traction = [0.02, 0.01, 0.0]; case = 2; } );
optimization = { volume_fraction = 0.4; iterations = 2; penalty = 2.7; filter = { radius = 1.6; }; };
solver = { tolerance = 1e-3; };
output = { every = 1; fields = ["density", "displacement", "energy"]; };
END
sed -e '1i physics = "heat";' -e 's/fix = "xyz"/temperature = 0.0/' -e 's/node_force = .*\];/heat = 3.0;/' \
    -e 's/traction = .*\];/flux = 0.2;/' -e 's/, "displacement", "energy"/, "temperature"/' body.cfg >heat.cfg

# kind NAME CONFIG ARGUMENTS...: runs with each number of threads of the device.
kind() {
    name=$1 config=$2
    shift 2
    for threads in $threads_list; do
        "$hextop" -q run "$config" solver.device="$device" solver.deterministic=true \
            solver.threads="$threads" output.directory="$name-$threads" "$@" 2>err ||
            fault "$name does not run: $(cat err)"
        without_seconds "$name-$threads/history.csv" >"$name-$threads/history"
        same "$name-1" "$name-$threads" 2
    done
}

threads_list="1 2 3"
filtered="solver.preconditioner=multigrid optimization.filter.kind=density optimization.projection.beta=4"
# shellcheck disable=SC2086
kind cone body.cfg $filtered
kind paper body.cfg solver.preconditioner=multigrid optimization.filter.kind=sensitivity
kind helmholtz body.cfg solver.preconditioner=multigrid optimization.filter.kind=helmholtz
kind heat heat.cfg solver.preconditioner=multigrid optimization.filter.kind=density
[ "$device" = cpu ] && kind quadratic body.cfg mesh.nx=8 mesh.ny=4 mesh.nz=3 solver.element=quadratic

# Tetrahedra, six in each of 10 x 5 x 4 boxes, with displaced interior nodes: with the operator that uses one point
# per tetrahedron, and with one that stores K.
awk 'function node(i, j, k) { return i + 11 * (j + 6 * k) }
BEGIN {
    print "# vtk DataFile Version 3.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 330 double"
    for (k = 0; k <= 4; k++) for (j = 0; j <= 5; j++) for (i = 0; i <= 10; i++) {
        inside = i % 10 && j % 5 && k % 4
        print i + 0.17 * inside * sin(3 * i + j), j + 0.13 * inside * sin(i + 5 * k), k + 0.15 * inside * cos(i * j)
    }
    print "CELLS 1200 6000"
    for (k = 0; k < 4; k++) for (j = 0; j < 5; j++) for (i = 0; i < 10; i++) {
        low = node(i, j, k); high = node(i + 1, j + 1, k + 1)
        x = node(i + 1, j, k); y = node(i, j + 1, k); z = node(i, j, k + 1)
        xy = node(i + 1, j + 1, k); yz = node(i, j + 1, k + 1); xz = node(i + 1, j, k + 1)
        print 4, low, x, xy, high; print 4, low, xy, y, high; print 4, low, y, yz, high
        print 4, low, yz, z, high; print 4, low, z, xz, high; print 4, low, xz, x, high
    }
    print "CELL_TYPES 1200"
    for (i = 0; i < 1200; i++) print 10
}' >tetrahedra.vtk
sed -e 's/^mesh = .*/mesh = { file = "tetrahedra.vtk"; };/' -e 's/"right-lower-edge"/"edge"/' body.cfg >tetrahedra.cfg
cat >>tetrahedra.cfg <<'END'
sets = ( { name = "left"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "right"; plane = { point = [10.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "edge"; box = { min = [9.9, -0.1, -0.1]; max = [10.1, 6.0, 0.1]; }; } );
END
kind tetrahedra tetrahedra.cfg solver.preconditioner=multigrid optimization.filter.kind=density
kind tetrahedra-bsr tetrahedra.cfg solver.operator=bsr optimization.filter.kind=sensitivity

# Each vector unit by itself; the runs above used the best one.
units=$("$hextop" list | sed -n 's/.* pins one of //p' | tr -d ',')
[ "$device" = cpu ] || units=
taken=$("$hextop" list | sed -n 's/^Vector unit of the CPU: \([a-z0-9]*\);.*/\1/p')
n_bits=0
for unit in $units; do
    HEXTOP_VECTOR=$unit && export HEXTOP_VECTOR
    threads_list="1 2"
    # shellcheck disable=SC2086
    kind "cone-$unit" body.cfg $filtered
    threads_list=1
    kind "matrix-$unit" body.cfg solver.operator=bsr solver.preconditioner=jacobi
    grep -q "\"vector_unit\": \"$unit\"" "cone-$unit-1/summary.json" || fault "the summary does not name $unit"
    [ "$unit" != "$taken" ] || same cone-1 "cone-$unit-1" 2
    for other in $units; do
        [ "$other" = "$unit" ] && break
        for what in cone matrix; do
            relation=other
            cmp -s "$what-$unit-1/density_0002.vtk" "$what-$other-1/density_0002.vtk" && relation="the same"
            echo "$what: $unit and $other give $relation bits"
            [ "$relation" = other ] && n_bits=$((n_bits + 1))
        done
    done
done
unset HEXTOP_VECTOR
# If selecting a unit had no effect, the bits would be equal: AVX2 uses fused multiply-add, the baseline does not.
case " $units " in *" avx2 "*) [ $n_bits -gt 0 ] || fault "all vector units give the same bits" ;; esac
for word in avx1024 AVX2; do
    HEXTOP_VECTOR=$word "$hextop" list >out 2>err
    [ $? = 2 ] && grep -q "HEXTOP_VECTOR: unknown vector unit '$word'.*valid: auto, baseline, avx2, avx512" err ||
        fault "HEXTOP_VECTOR='$word' is not refused as it should be: $(cat err)"
done

echo "$(echo "$operators" | wc -l) operators, $failed failed"
[ $failed = 0 ]
