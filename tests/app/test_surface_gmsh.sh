#!/bin/sh
# hextop verify --surface --mesher gmsh: bars against the closed form, cavities, slivers, and a design compared with cut
# cells; cut cells are used if gmsh is missing, fails or leaves slivers.
#     test_surface_gmsh.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/counting.sh"

# row NAME: the surface's column of the last table on stdout.
row() { sed -n "s/^ *$1  *//p" stdout | tail -1 | awk '{ print $2 }'; }
is_empty() { [ ! -s "$1" ]; }

. "$tests_lib/bar.sh"
ok "its surface" "$hextop" -q surface bar/density_0001.vtk bar.stl
ok "as PLY" "$hextop" -q surface bar/density_0001.vtk bar.ply

# verified WHAT FILE [ARGUMENT ...]
verified() {
    what=$1 file=$2
    shift 2
    ok "$what" "$hextop" verify bar bar.cfg --surface "$file" "$@"
}

# fake NAME LINE: makes a program that prints a version if asked for one, and otherwise runs LINE.
fake() {
    printf '#!/bin/sh\n[ "$1" = --version ] && { echo 9.9.9; exit; }\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

# Without gmsh, or with a gmsh that fails.
fake failing 'echo "Error   : no idea"; exit 3'
HEXTOP_GMSH=$work/none verified "auto, no gmsh" bar.stl --refine 0 --mesher auto
ok "auto, no gmsh: cut cells" contains stdout "cut cells 768 tetrahedra"
ok "auto, no gmsh: says why" contains stdout "cut cells instead of gmsh's: needs the program gmsh"
ok "auto, no gmsh: no warning" is_empty stderr
HEXTOP_GMSH=$work/failing verified "gmsh fails" bar.stl --refine 0 --mesher gmsh
ok "gmsh fails: cut cells" contains stdout "cut cells 768 tetrahedra"
ok "gmsh fails: why" contains stderr "cut cells instead of gmsh's: bar.stl: gmsh made no mesh of it: no idea"
ok "gmsh fails: compliance" near "$(row compliance)" 16 1e-6
ok "gmsh fails: in verify.json" contains bar/verify.json '"mesher": "cut cells"'
n=$((n + 2))
HEXTOP_GMSH=$work/none "$hextop" verify bar bar.cfg --surface bar.stl --mesher gmsh >stdout 2>stderr
if [ $? != 2 ] || ! grep -q "needs the program gmsh, which is not installed" stderr; then
    failed=$((failed + 1))
    echo "failed: --mesher gmsh without gmsh"
fi
"$hextop" verify bar bar.cfg --surface bar.stl --mesher gmesh >stdout 2>stderr
if [ $? != 2 ] || ! grep -q "unknown 'gmesh', did you mean 'gmsh'" stderr; then
    failed=$((failed + 1))
    echo "failed: --mesher gmesh"
    cat stderr
fi

if ! command -v gmsh >/dev/null; then
    [ $failed = 0 ] || exit 1
    echo "SKIPPED: gmsh is not installed (Debian: gmsh); $n checks without it passed"
    exit 77
fi

for file in bar.stl bar.ply; do
    verified "gmsh: $file" $file --mesher gmsh --refine 1
    ok "gmsh: $file: made by it" contains stdout " tetrahedra, each split "
    ok "gmsh: $file: compliance" near "$(row compliance)" 16 1e-6
    ok "gmsh: $file: displacement" near "$(row 'largest displacement')" 2.044505 1e-5
    ok "gmsh: $file: volume" near "$(row 'volume fraction')" 1 1e-6
    ok "gmsh: $file: all of the load" contains stdout "set 'right': 100 % of its area"
    ok "gmsh: $file: no warning" is_empty stderr
done
verified "gmsh, split twice" bar.stl --mesher gmsh --refine 2
ok "gmsh, split twice: prints it" contains stdout "each split 2 times"
ok "gmsh, split twice: the same" near "$(row compliance)" 16 1e-6

# A very thin triangle: every tetrahedron on it is a sliver, and a box cannot be simplified.
cat >thin.awk <<'END'
function facet(a, b, c) { print "facet normal 0 0 0\nouter loop\nvertex " a "\nvertex " b "\nvertex " c "\nendloop\nendfacet" }
BEGIN {
    print "solid thin"
    o = "0 0 0"; x = "8 0 0"; y = "0 4 0"; z = "0 0 4"; xy = "8 4 0"; xz = "8 0 4"; yz = "0 4 4"; xyz = "8 4 4"
    m = "4 0.0002 4"; k = "4 0 4" # on the top, just beside its edge, and on the edge
    facet(o, xy, x); facet(o, y, xy); facet(o, z, yz); facet(o, yz, y); facet(x, xy, xyz); facet(x, xyz, xz)
    facet(y, yz, xyz); facet(y, xyz, xy); facet(o, x, k); facet(x, xz, k); facet(o, k, z)
    facet(z, k, m); facet(k, xz, m); facet(z, m, yz); facet(m, xz, xyz); facet(m, xyz, yz)
    print "endsolid"
}
END
awk -f thin.awk >thin.stl
verified "a sliver" thin.stl --refine 0 --mesher gmsh
ok "a sliver: compliance" near "$(row compliance)" 16 1e-4

# A design whose surface has slivers, meshed by two independent meshers.
sed 's/nx = 8; ny = 4; nz = 4;/nx = 16; ny = 8; nz = 8;/; s/traction = .*\]/total_force = [0.0, 0.0, -1.0]/
    s/"left"; fix = "x"/"left"; fix = "xyz"/; s/{ set = "y0"; fix = "y"; }, { set = "z0"; fix = "z"; }//
    s/volume_fraction.*/volume_fraction = 0.5; iterations = 15; filter = { radius = 2.0; }; };/
    s/fix = "xyz"; },/fix = "xyz"; }/; s/"bar"/"made"/; s/1e-10/1e-6/' bar.cfg >made.cfg
ok "a design" "$hextop" -q run made.cfg output.every=15
ok "its surface" "$hextop" -q surface made made.stl --keep-largest
for mesher in cut gmsh; do
    ok "by $mesher" "$hextop" verify made --surface made.stl --mesher $mesher --refine 1
    [ $mesher = cut ] && cut=$(row compliance)
done
ok "by gmsh: gmsh made it" contains made/verify.json '"mesher": "gmsh'

ok "by both: compliance" near "$(row compliance)" "$cut" 0.01
ok "a job" "$hextop" mesh made/config.cfg job.inp --surface made.stl --mesher gmsh
ok "a job: in ten nodes" contains job.inp "C3D10"

echo "$n checks, $failed failed"
[ $failed = 0 ]
