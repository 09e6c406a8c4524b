#!/bin/sh
# hextop verify --surface: bars against the closed form for each file format, loads found by their position, pieces, and
# refused input.
#     test_verify_surface.sh HEXTOP
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/counting.sh"

# refused WHAT MESSAGE SURFACE [KEY=VALUE ...]: verify must exit with status 2 and this message.
refused() {
    what=$1 message=$2 surface=$3
    shift 3
    n=$((n + 1))
    "$hextop" verify bar/density_0001.vtk bar.cfg --refine 0 --surface "$surface" "$@" >stdout 2>stderr
    status=$?
    [ $status = 2 ] && grep -qF -- "$message" stderr && return 0
    failed=$((failed + 1))
    echo "failed: $what: exit status $status, stderr lacks: $message"
    sed 's/^/    /' stderr
}

# row NAME: the surface's column of the last table on stdout.
row() { sed -n "s/^ *$1  *//p" stdout | tail -1 | awk '{ print $2 }'; }
is_empty() { [ ! -s "$1" ]; }

# box X0 Y0 Z0 X1 Y1 Z1: the facets of a box as text, without its top if there is a seventh word.
box() {
    awk -v low="$1 $2 $3" -v high="$4 $5 $6" -v open="${7:-}" 'BEGIN {
        split(low, a, " "); split(high, b, " ")
        n = split("0 6 4,0 2 6,1 5 7,1 7 3,0 4 5,0 5 1,2 3 7,2 7 6,0 1 3,0 3 2,4 7 5,4 6 7", t, ",")
        for (i = 1; i <= (open ? n - 2 : n); i++) {
            split(t[i], c, " ")
            print "facet normal 0 0 0\nouter loop"
            for (k = 3; k >= 1; k--) {
                x = c[k] % 2; y = int(c[k] / 2) % 2; z = int(c[k] / 4)
                print "vertex", x ? b[1] : a[1], y ? b[2] : a[2], z ? b[3] : a[3]
            }
            print "endloop\nendfacet"
        }
    }'
}

# stl FILE BOX ...: text of several boxes, each one word of six numbers.
stl() {
    file=$1
    shift
    echo "solid boxes" >"$file"
    for b in "$@"; do
        # shellcheck disable=SC2086
        box $b >>"$file"
    done
    echo "endsolid" >>"$file"
}

. "$tests_lib/bar.sh"
ok "its surface as STL" "$hextop" -q surface bar/density_0001.vtk bar.stl
ok "and as PLY" "$hextop" -q surface bar/density_0001.vtk bar.ply
stl text.stl "0 0 0 8 4 4"

# verified WHAT SURFACE [ARGUMENT ...]: verify must succeed.
verified() {
    what=$1
    shift
    ok "$what" "$hextop" verify bar/density_0001.vtk bar.cfg --refine 0 --surface "$@"
}
for surface in bar.stl bar.ply text.stl; do
    verified "verify $surface" $surface
    ok "$surface: compliance" near "$(row compliance)" 16 1e-6
    ok "$surface: displacement" near "$(row 'largest displacement')" 2.044505 1e-5
    ok "$surface: von Mises" near "$(row 'largest von Mises')" 0.5 1e-6
    ok "$surface: volume" near "$(row 'volume fraction')" 1 1e-9
    ok "$surface: all of the load" contains stdout "set 'right': 100 % of its area"
    ok "$surface: no warning" is_empty stderr
done
ok "linear elements would do: it prints their names" contains stdout "quadratic tet10"

# Half of the bar: a traction keeps its value, whereas a force keeps its sum; both act on the remaining area.
stl half.stl "0 0 0 8 2 4"
verified "half of it" half.stl
ok "half of it: compliance" near "$(row compliance)" 8 2e-3
ok "half of it: volume" near "$(row 'volume fraction')" 0.5 1e-3
ok "half of it: reported" contains stderr "set 'right': 50 % of its area is on the surface"
ok "half of it: warns" contains stderr "the part inside the surface is stiffer than the 0/1 design: compliance "
ok "half of it: against what" contains stderr " instead of 16 (-50.0 %), "
ok "half of it: by which elements" contains stderr "; --element quadratic prints how much of it comes from linear elements"
verified "half of it by quadratic elements" half.stl --element quadratic
ok "half of it: against these" contains stderr "stiffer than the 0/1 design with quadratic elements: compliance "
force="loads=({set=\"right\";total_force=[8.0,0.0,0.0];})"
verified "a force on half of it" half.stl "$force"
ok "a force on half of it: compliance" near "$(row compliance)" 32 2e-3
verified "a wide tolerance" half.stl --tolerance 60
ok "a wide tolerance: no such warning" test "$(grep -c 'inside the surface' stderr)" = 0

# Bars whose sides are planes of the mesh, inside it and on its boundary: the same stress everywhere. --refine 1 too.
# on_planes WHAT BOX VOLUME [ARGUMENT ...]
on_planes() {
    bar=$1 volume=$3
    stl planes.stl "$2"
    corner=$(echo "$2" | awk '{ print $2, $3 }')
    shift 3
    y=${corner% *} z=${corner#* }
    held="supports=({set=\"left\";fix=\"x\";},{set=\"side-y\";fix=\"y\";},{set=\"side-z\";fix=\"z\";})"
    sides="sets=({name=\"side-y\";plane={point=[0,$y,0];normal=[0,1,0];};},{name=\"side-z\";plane={point=[0,0,$z];normal=[0,0,1];};})"
    verified "$bar" planes.stl "$@" "$sides" "$held"
    ok "$bar: volume" near "$(row 'volume fraction')" "$(awk -v v="$volume" 'BEGIN { print v / 128 }')" 1e-9
    ok "$bar: compliance" near "$(row compliance)" "$(awk -v v="$volume" 'BEGIN { print v / 8 }')" 1e-6
    ok "$bar: von Mises" near "$(row 'largest von Mises')" 0.5 1e-6
}
on_planes "a bar inside" "0 1 1 8 3 3" 32
on_planes "a bar of one cell" "0 2 1 8 3 2" 8
on_planes "a bar on one side" "0 1 0 8 3 3" 48
on_planes "a bar on two sides" "0 0 0 8 3 3" 72
on_planes "a bar on two opposite sides" "0 1 0 8 3 4" 64
on_planes "a bar on three sides" "0 0 0 8 3 4" 96
on_planes "a bar inside, refined" "0 1 1 8 3 3" 32 --refine 1
on_planes "a bar half a cell thick" "0 1 1 8 2.5 3" 24

# Forces at single nodes: each node of the line keeps its force; the nodes on the surface take over the forces
# of those that are not.
nodes="loads=({set=\"right-lower-edge\";node_force=[0.0,0.0,1.0];})"
fix="supports=({set=\"left\";fix=\"xyz\";})"
verified "forces at nodes" bar.stl "$nodes" "$fix"
ok "forces at nodes: all" contains stdout "set 'right-lower-edge': 5 of 5 nodes"
whole=$(row compliance)
ok "forces at nodes: softer than linear" test "$(row compliance)" != 0
verified "forces at nodes, half of it" half.stl "$nodes" "$fix"
ok "forces at nodes, half of it: some" contains stderr "set 'right-lower-edge': 3 of its 5 nodes are on"
ok "forces at nodes, half of it: twice as soft" near "$(row compliance)" "$(awk -v c="$whole" 'BEGIN { print 2 * c }')" 0.15

# Loads by mass: half of the mass, half of the force.
weight="loads=({gravity=[1.0,0.0,0.0];})"
verified "its weight" half.stl "$weight"
# u' = g (L - x) / E: c = area g^2 L^3 / (3 E) = 8 * 512 / 6, slightly less with linear elements
ok "its weight: compliance" near "$(row compliance)" 682.6667 2e-3

# Pieces: one without supports is left out; two with supports stay.
stl pieces.stl "0 0 0 8 1 4" "2 2.6 0.6 6 3.7 3.4"
verified "a floating piece" pieces.stl
ok "a separate piece: reported" contains stderr "1 piece of the surface lacks supports"
ok "a floating piece: compliance" near "$(row compliance)" 4 2e-3
ok "verify.json has it" contains bar/verify.json '"pieces_left_out": 1'

# Pieces are those of the surface, as `hextop surface` counts them, regardless of how cells are cut. Two of them are
# smaller than a cell, and no tetrahedron of them is left.
stl small.stl "0 0 0 8 1 4" "2 2.6 0.6 6 3.7 3.4" "1.45 1.45 1.45 1.47 1.47 1.47" "7 2.9 0.9 7.001 2.901 0.901"
verified "small pieces" small.stl
ok "small pieces: on the first line" contains stdout "48 triangles, 4 pieces"
ok "small pieces: left out" contains stderr "3 pieces of the surface lack supports and are left out, 27.8 % of its volume"
ok "small pieces: verify.json" contains bar/verify.json '"pieces_left_out": 3'

# inside out, so its orientation is reversed
awk '/^vertex/ { v[++k] = $0; if (k == 3) { print v[2]; print v[1]; print v[3]; k = 0 } next } { print }' text.stl >in.stl
verified "inside out" in.stl
ok "inside out: compliance" near "$(row compliance)" 16 1e-6
ok "inside out: reported" contains stderr "its triangles face inwards"
ok "inside out: is a piece, no cavity" contains stdout "12 triangles, 1 piece"

# The tetrahedra as a job: CalculiX finds the same displacements.
ok "a job" "$hextop" mesh bar.cfg job.inp --surface half.stl --refine 0
ok "a job of tetrahedra with ten nodes" contains job.inp "TYPE=C3D10"
ok "a mesh to look at" "$hextop" mesh bar.cfg job.vtk --surface half.stl --refine 0
if command -v ccx >/dev/null; then
    verified "the job's part" half.stl
    ok "ccx" ccx -i job
    ok "ccx: the same displacement" near "$(awk 'NF == 4 && $1 + 0 > 0 { d = sqrt($2^2 + $3^2 + $4^2); if (d > m) m = d }
        END { print m }' job.dat)" "$(row 'largest displacement')" 1e-5
fi
n=$((n + 1))
if "$hextop" mesh bar.stl job.vtk --surface half.stl >/dev/null 2>&1 ||
    "$hextop" mesh bar.cfg job.vtk --refine 1 >/dev/null 2>&1; then
    failed=$((failed + 1))
    echo "failed: a surface without a config, or --refine without a surface"
fi

# Data of the mesh's file: supports and forces on the faces that their nodes span, and loads on sets.
cat >file.cfg <<'END'
mesh = { file = "bar.inp"; };
material = { E = 2.0; nu = 0.3; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 1.0; iterations = 1; filter = { kind = "none"; }; };
solver = { tolerance = 1e-10; };
output = { directory = "file"; };
END
by_file() {
    what=$1
    shift
    ok "by file: $what" "$hextop" verify file/density_0001.vtk file.cfg --surface "$@"
}
ok "the bar as a job" "$hextop" -q mesh bar.cfg bar.inp
ok "a design of it" "$hextop" -q run file.cfg
by_file "forces" bar.stl --refine 1
ok "by file: compliance" near "$(row compliance)" 16 1e-6
ok "by file: displacement" near "$(row 'largest displacement')" 2.044505 1e-5
ok "by file: von Mises" near "$(row 'largest von Mises')" 0.5 1e-6
by_file "half of it" half.stl --refine 0
ok "by file: the sum stays" near "$(row compliance)" 32 2e-3
ok "by file: reported" contains stderr "step 1 of the mesh's file: 50 % of the loaded area"
# the end of the bar as a surface, pulled by a pressure instead of forces
awk '/^\*/ { skip = 0 }
    /^\*MATERIAL/ { print "*SURFACE, NAME=pull"; for (i = 8; i <= 128; i += 8) print i ", S4" }
    /^\*CLOAD/ { print "*DSLOAD\npull, P, -0.5"; skip = 1 }
    !skip' bar.inp >pulled.inp
by_file "a pressure" half.stl --refine 0 mesh.file=pulled.inp
ok "by file: of a pressure" near "$(row compliance)" 8 2e-3
ok "by file: its set" contains stderr "set 'pull': 50 % of its area is on the surface"
stl short.stl "0 0 0 6 4 4"
n=$((n + 1))
"$hextop" verify file/density_0001.vtk file.cfg --surface short.stl mesh.file=pulled.inp >stdout 2>stderr
if [ $? != 2 ] || ! grep -qF "no part of set 'pull', on which a load" stderr; then
    failed=$((failed + 1))
    echo "failed: by file: a load on nothing"
fi

# Forces at nodes of the file keep their sum or are refused, never lost. Nodes of the bar: 1 + x + 9 (y + 5 z).
# stating FILE LINES: bar.inp with these lines in place of its forces.
stating() {
    awk -v lines="$2" '/^\*/ { skip = 0 } /^\*CLOAD/ { print lines; skip = 1 } !skip' bar.inp >"$1"
}
# sum_of JOB COMPONENT: of its *CLOAD, in all steps
sum_of() {
    awk -F, -v d="$2" '/^\*/ { in_it = /^\*CLOAD/; next } in_it && $2 + 0 == d { s += $3 } END { print s + 0 }' "$1"
}
# by_job WHAT FILE SURFACE SUM: checks that `hextop mesh` preserves the sum along z.
by_job() {
    rm -f made.inp
    ok "by file: $1" "$hextop" mesh file.cfg made.inp --surface "$3" --refine 0 mesh.file="$2"
    ok "by file: $1: the sum" near "$(sum_of made.inp 3)" "$4" 1e-12
}
# moment_of JOB COMPONENT: of its *CLOAD about the origin, in all steps
moment_of() {
    awk -F, -v d="$2" '/^\*/ { kind = /^\*CLOAD/ ? 2 : /^\*NODE *(,|$)/; next }
        kind == 1 { for (i = 1; i <= 3; i++) x[$1 + 0, i] = $(i + 1) }
        kind == 2 { i = d % 3 + 1; j = i % 3 + 1
            if ($2 + 0 == j) s += x[$1 + 0, i] * $3
            if ($2 + 0 == i) s -= x[$1 + 0, j] * $3 }
        END { print s + 0 }' "$1"
}
# Equal forces at the nodes of a face, which are no uniform traction, keep their moment for any cutting of the
# cells.
equal="*CLOAD"
for z in 0 1 2 3 4; do
    for y in 0 1 2 3 4; do
        equal="$equal
$((9 + 9 * (y + 5 * z))), 3, -4"
    done
done
stating equal.inp "$equal"
for refine in 0 1 2; do
    ok "by file: equal forces" "$hextop" mesh file.cfg made.inp --surface bar.stl --refine $refine mesh.file=equal.inp
    ok "by file: equal forces: the sum" near "$(sum_of made.inp 3)" -100 1e-9
    ok "by file: equal forces: the moment about x, --refine $refine" near "$(moment_of made.inp 1)" -200 1e-6
    ok "by file: equal forces: the moment about y, --refine $refine" near "$(moment_of made.inp 2)" 800 1e-6
    ok "by file: equal forces: no warning" test "$(grep -c 'their moment changes' stderr)" = 0
done
ok "by file: equal forces on half" "$hextop" mesh file.cfg made.inp --surface half.stl --refine 0 mesh.file=equal.inp
ok "by file: equal forces on half: the sum" near "$(sum_of made.inp 3)" -100 1e-9
ok "by file: equal forces on half: the moment" contains stderr "forces keep their sum, but their moment changes by (10"

# refused_file WHAT MESSAGE FILE SURFACE [KEY=VALUE ...]: both commands must exit with 2 and this message.
refused_file() {
    what=$1 message=$2 file=$3 surface=$4
    shift 4
    for command in "mesh file.cfg made.inp" "verify file/density_0001.vtk file.cfg"; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        "$hextop" $command --surface "$surface" --refine 0 mesh.file="$file" "$@" >stdout 2>stderr
        status=$?
        [ $status = 2 ] && grep -qF -- "$message" stderr && continue
        failed=$((failed + 1))
        echo "failed: by file: $what: $command: exit status $status, stderr lacks: $message"
        sed 's/^/    /' stderr
    done
}
line="99, 3, 1.
108, 3, 1.
117, 3, 1.
126, 3, 1.
135, 3, 1."
stating line.inp "*CLOAD
$line"
by_job "a line of nodes" line.inp bar.stl 5
by_job "three of five nodes of a line" line.inp half.stl 5
ok "three of five: reported" contains stderr \
    "step 1 of the mesh's file: 2 of the 5 loaded nodes are not on the surface: their forces act on the nodes connected with them"
stating both.inp "*CLOAD
225, 3, -7.
$line"
refused_file "a node that is not on it" "step 1 of the mesh's file: the force (0, 0, -7 in all) at node 225 (8, 4, 4) is not on" \
    both.inp half.stl
# the part in two pieces, of which the second has no support
stl apart.stl "0 0 0 3 4 4" "5 1 1 8 4 4"
stating apart.inp "*CLOAD
117, 3, -4.
126, 3, -2."
refused_file "forces on a floating piece" "the force (0, 0, -6 in all) at node 117 (8, 2, 2) and 1 connected node is on a piece" \
    apart.inp apart.stl
refused_file "with a pressure besides" "that is not connected to a support and is left out: it would act on nothing" \
    apart.inp apart.stl 'loads=({from="file";},{set="left";pressure=1.0;})'
stating steps.inp "*CLOAD
110, 3, -1.
*END STEP
*STEP
*STATIC
*CLOAD, OP=NEW
117, 3, -4."
refused_file "a step that loses all" "step 2 of the mesh's file: the force (0, 0, -4 in all) at node 117" steps.inp apart.stl
stating near.inp "*CLOAD
111, 3, -1."
stating unused.inp "*CLOAD
111, 3, -1.
*END STEP
*STEP
*STATIC
*CLOAD, OP=NEW
117, 3, -4."
by_job "a force on the piece that is held" near.inp apart.stl -1
ok "by file: a step that no load takes" "$hextop" mesh file.cfg made.inp --surface apart.stl --refine 0 mesh.file=unused.inp \
    'loads=({from="file";case=1;})'
stating moved.inp "*BOUNDARY
117, 1, 1, 0.25
*CLOAD
111, 3, -1."
refused_file "a displacement that is not on it" \
    "a prescribed displacement of the mesh's file at node 117 (8, 2, 2) is not on the surface" moved.inp short.stl
# forces per node in the config: the floating piece has two nodes of the line
stl apart_too.stl "0 0 0 8 1 4" "5 3 1 8 4 4"
per_node='loads=({set="ends";node_force=[0.0,0.0,1.0];})'
ends='sets=({name="ends";box={min=[7.9,-0.1,1.9];max=[8.1,4.1,2.1];};})'
rm -f made.inp
ok "a line on two pieces" "$hextop" mesh file.cfg made.inp --surface apart_too.stl --refine 0 mesh.file=bar.inp "$ends" "$per_node"
ok "a line on two pieces: the sum" near "$(sum_of made.inp 3)" 5 1e-12
ok "a line on two pieces: reported" contains stderr "set 'ends': 2 of its 5 nodes are on the surface"

# A neck that is thinner than a cell: the surface is connected there, but its tetrahedra are not; this is
# printed.
awk 'BEGIN {
    n = split("0 0,3 0,3 2.4,5 2.4,5 0,8 0,8 4,5 4,5 2.6,3 2.6,3 4,0 4", p, ",")
    m = split("1 2 3,1 3 10,1 10 11,1 11 12,6 7 8,6 8 9,6 9 4,6 4 5,3 4 9,3 9 10", t, ",")
    print "solid dumbbell"
    for (i = 1; i <= m; i++) { split(t[i], c, " "); facet(c[3], c[2], c[1], 0, 0, 0); facet(c[1], c[2], c[3], 4, 4, 4) }
    for (i = 1; i <= n; i++) { j = i % n + 1; facet(i, j, j, 0, 0, 4); facet(i, j, i, 0, 4, 4) }
    print "endsolid"
}
function facet(a, b, c, za, zb, zc) {
    print "facet normal 0 0 0\nouter loop\nvertex " p[a], za "\nvertex " p[b], zb "\nvertex " p[c], zc "\nendloop\nendfacet"
}' >neck.stl
on_right="supports=({set=\"left\";fix=\"xyz\";})"
ok "a thin neck" "$hextop" mesh file.cfg made.inp --surface neck.stl --refine 0 mesh.file=near.inp "$on_right"
ok "a thin neck: reported" contains stderr "1 group of tetrahedra loses the connection to the part"
refused_file "a force behind the neck" "the surface is connected there, --refine with a larger number follows it" \
    apart.inp neck.stl "$on_right"
ok "a thin neck, refined" "$hextop" mesh file.cfg made.inp --surface neck.stl --refine 3 mesh.file=apart.inp "$on_right"
ok "a thin neck, refined: the sum" near "$(sum_of made.inp 3)" -6 1e-12

# refused
stl open.stl "0 0 0 8 4 4 open"
refused "not closed" "open.stl: the surface is not closed: 4 edges" open.stl
refused "not closed: where" "one of them is at" open.stl
stl far.stl "100 0 0 108 4 4"
refused "another place" "the surface belongs to another part, was moved, or has another unit" far.stl
refused "the load is not on it" "bar.cfg:6: loads[0]: no part of set 'right' is on the surface" short.stl
stl right.stl "4 0 0 8 4 4"
refused "no support is on it" "nothing holds this surface: nothing of set 'left' of the supports is on it" right.stl "$fix"
refused "another format" "'bar.obj': the name of a surface must end in .stl or .ply" bar.obj
refused "no file" "cannot read 'none.stl'" none.stl
head -c 200 bar.stl >cut.stl
refused "cut off" "truncated or not an STL" cut.stl
printf 'solid x\nfacet\nvertex 1 2 three\n' >bad.stl
refused "text" "bad.stl:3: expected a number, found 'three'" bad.stl
refused "no number" "--refine 'x': expected a whole number from 0 to 4" bar.stl --refine x
refused "heat" "--surface does not support physics" bar.stl 'physics="heat"' material=  'material.conductivity=1.0' \
    'supports=({set="left";temperature=0.0;})' 'loads=({set="right";heat=1.0;})'
stl touching.stl "0 0 0 8 2 4" "3 1.8 1 4 2.2 2"
verified "through each other" touching.stl
ok "intersecting: reported" contains stderr "pairs of triangles intersect each other"
verified "split once" bar.stl --refine 1
ok "split once: the same" near "$(row compliance)" 16 1e-6
ok "split once: more" contains stdout "6,144 tetrahedra, cells split 1 time"

echo "$n checks, $failed failed"
[ $failed = 0 ]
