#!/bin/sh
# Results that other programs rewrote, and results on other meshes, in verify, surface and optimization.initial: the
# same cells in any order give the same figures, everything else is refused.
#     test_result_match.sh HEXTOP
set -u
hextop=$(realpath "$1")
command -v python3 >/dev/null || {
    echo "SKIPPED: no python3"
    exit 77
}
. "$(dirname "$0")/../lib/scratch.sh"

cat >part.cfg <<'END_CONFIG'
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; distort = 0.15; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0, 0, -1]; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 6; filter = { radius = 1.5; }; };
solver = { operator = "otf"; device = "cpu"; preconditioner = "jacobi"; tolerance = 1e-9; };
output = { directory = "out"; every = 0; };
END_CONFIG

# rewrite.py OUT [shuffle] [float] [ids|noids] [binary]: rewrites an ASCII result.
cat >rewrite.py <<'END_PYTHON'
import random, struct, sys
random.seed(4)
source, target, how = sys.argv[1], sys.argv[2], sys.argv[3:]
word = open(source).read().split()
at = word.index("POINTS")
n_point = int(word[at + 1])
xyz = [tuple(map(float, word[at + 3 + 3 * i : at + 6 + 3 * i])) for i in range(n_point)]
at = word.index("CELLS")
n = int(word[at + 1])
cell = [[int(w) for w in word[at + 4 + 9 * i : at + 12 + 9 * i]] for i in range(n)]
def array(name):
    at = word.index(name)
    at += 5 if word[at + 3] == "LOOKUP_TABLE" else 4 # its head in SCALARS, in FIELD
    return word[at : at + n]
rho = array("density")
number = array("vtkOriginalCellIds") if "vtkOriginalCellIds" in word else None
if "shuffle" in how:
    place, order = random.sample(range(n_point), n_point), random.sample(range(n), n)
    moved = [None] * n_point
    for i in range(n_point):
        moved[place[i]] = xyz[i]
    xyz = moved
    cell = [[place[a] for a in cell[e][1:4] + cell[e][:1] + cell[e][5:] + cell[e][4:5]] for e in order]
    rho = [rho[e] for e in order]
    number = number and [number[e] for e in order]
if "wrong" in how:
    number = [str(i) for i in range(n)]
if "noids" in how:
    number = None
if "mirror" in how: # the same cells, with their corners in a valid order, in the image's places
    xyz = [(x, 4.0 - y, z) for x, y, z in xyz]
    cell = [c[4:] + c[:4] for c in cell]
if "moved" in how: # one corner of the last cell
    x, y, z = xyz[cell[-1][6]]
    xyz[cell[-1][6]] = (x, y + 0.001, z)
binary, real = "binary" in how, "float" if "float" in how else "double"
with open(target, "wb") as f:
    def text(s):
        f.write(s.encode())
    def reals(values, kind):
        if binary:
            f.write(b"".join(struct.pack(">f" if kind == "float" else ">d", v) for v in values))
        else:
            text(" ".join("%.7g" % v if kind == "float" else "%.17g" % v for v in values))
    def ints(values):
        f.write(b"".join(struct.pack(">i", v) for v in values)) if binary else text(" ".join(map(str, values)))
    text("# vtk DataFile Version 3.0\nother\n%s\nDATASET UNSTRUCTURED_GRID\n" % ("BINARY" if binary else "ASCII"))
    text("POINTS %d %s\n" % (n_point, real))
    reals([v for p in xyz for v in p], real)
    text("\nCELLS %d %d\n" % (n, 9 * n))
    ints([v for c in cell for v in [8] + c])
    text("\nCELL_TYPES %d\n" % n)
    ints([12] * n)
    text("\nCELL_DATA %d\nFIELD FieldData %d\ndensity 1 %d double\n" % (n, 2 if number else 1, n))
    reals(map(float, rho), "double")
    if number:
        text("\nvtkOriginalCellIds 1 %d int\n" % n)
        ints(map(int, number))
    text("\n")
END_PYTHON

near() {
    awk -v a="$1" -v b="$2" -v t="$3" \
        'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 <= (t * b) ^ 2) }'
}

# Compliance of the first design iteration, that of the grey design, and the surface's volume.
initial() {
    "$hextop" run part.cfg output.directory=again optimization.iterations=1 \
        optimization.initial="$1" >stdout 2>stderr || fault "run from $1: $(cat stderr)"
    sed -n 's/^  "compliance": \(.*\),/\1/p' again/summary.json
}
grey() {
    "$hextop" verify --made no "$1" part.cfg --threshold 0.5 --output verify.json >stdout 2>stderr ||
        fault "verify $1: $(cat stderr)"
    sed -n 's/^ *compliance  *//p' stdout | awk '{ print $1; exit }'
}
solid() {
    "$hextop" surface "$1" part.stl --config part.cfg --threshold 0.5 >stdout 2>stderr ||
        fault "surface $1: $(cat stderr)"
    awk '$1 == "volume" { sub(",", "", $2); print $2 }' stdout
}

# alike WHAT FILE TOLERANCE: checks that all three commands accept the file like the original.
alike() {
    near "$(initial "$2")" "$initial" "$3" || fault "$1: optimization.initial starts elsewhere"
    near "$(grey "$2")" "$grey" "$3" || fault "$1: verify finds another compliance"
    near "$(solid "$2")" "$solid" "$3" || fault "$1: surface has another volume"
}

# refused WHAT FILE TEXT [KEY=VALUE]: all three commands exit with status 2 and print TEXT.
refused() {
    what=$1 file=$2 text=$3
    shift 3
    for user in initial verify surface; do
        rm -f bad.stl
        sed "s/nx = 8/nx = ${nx:-8}/" part.cfg >used.cfg
        case $user in
        initial) "$hextop" run used.cfg output.directory=bad optimization.initial="$file" ;;
        verify) "$hextop" verify --made no "$file" used.cfg --output verify.json ;;
        surface) "$hextop" surface "$file" bad.stl --config used.cfg ;;
        esac >stdout 2>stderr
        got=$?
        [ $got = 2 ] || fault "$what: $user exits with $got"
        grep -qF -- "$text" stderr || fault "$what: $user does not say '$text': $(cat stderr)"
        [ ! -e bad.stl ] || fault "$what: $user left a file"
    done
}

"$hextop" -q run part.cfg output.format=ascii || fault "the run fails"
result=out/density_0006.vtk
initial=$(initial $result)
grey=$(grey $result)
solid=$(solid $result)
near "$initial" "$grey" 0.01 || fault "compliance $initial from the result, $grey of it"

# Files with the same cells in another order, format or precision.
python3 rewrite.py $result same.vtk
alike "rewritten" same.vtk 1e-9
python3 rewrite.py $result shuffled.vtk shuffle
alike "in another order" shuffled.vtk 1e-6
python3 rewrite.py $result binary.vtk shuffle binary
alike "in another order, binary" binary.vtk 1e-6
python3 rewrite.py $result float.vtk float binary
alike "points as floats" float.vtk 1e-9
python3 rewrite.py $result floats.vtk shuffle float
alike "points as floats of 7 digits, in another order" floats.vtk 1e-6

# Other meshes with the same number of cells.
"$hextop" -q run part.cfg output.format=ascii output.directory=other mesh.distort=0.1 ||
    fault "the run fails"
refused "another mesh" other/density_0006.vtk "cell 0, counted from 0, with its centre at ("
grep -qF "the nearest is element 0 at (" stderr || fault "what the mesh has there: $(cat stderr)"
grep -qF "name the config or the mesh of the run that wrote the result" stderr || fault "no advice"
python3 rewrite.py $result moved.vtk moved
refused "a corner moved" moved.vtk "cell 127, counted from 0, with its centre at ("
python3 rewrite.py $result mirror.vtk mirror shuffle
refused "the mirror image" mirror.vtk "cell 0, counted from 0"

# A symmetric mesh: cells are matched to their own positions, not to those of their mirror images.
sed 's/distort = 0.15/distort = 0.0/; s/right-lower-edge/right/; s/\[0, 0, -1\]/[0.0, 0.3, -1.0]/' part.cfg >even.cfg
mv even.cfg part.cfg
"$hextop" -q run part.cfg output.format=ascii || fault "the run fails"
initial=$(initial $result)
grey=$(grey $result)
solid=$(solid $result)
python3 rewrite.py $result shuffled.vtk shuffle
alike "a symmetric mesh in another order" shuffled.vtk 1e-6
nx=9 refused "a shorter mesh" $result "128 cells; the mesh of this run has 144"
nx=6 refused "a longer mesh" $result "128 cells; the mesh of this run has 96"

# Parts: matched by their numbers, or by their corners if the numbers are wrong or missing.
"$hextop" -q run part.cfg output.format=ascii output.directory=dense output.threshold=0.3 ||
    fault "the run fails"
dense=dense/density_0006.vtk
initial=$(initial $dense)
grep -qE "optimization.initial: .* lacks [0-9]+ elements, because it was written with a threshold: they start at rho_min = 0.01" \
    stderr || fault "initial does not report what is missing: $(cat stderr)"
grey=$(grey $dense)
solid=$(solid $dense)
near "$initial" "$grey" 0.01 || fault "compliance $initial from the part, $grey of it"
python3 rewrite.py $dense part.vtk shuffle
alike "a part in another order" part.vtk 1e-6
python3 rewrite.py $dense part.vtk wrong
alike "a part with wrong numbers" part.vtk 1e-6
python3 rewrite.py $dense part.vtk shuffle noids float binary
alike "a part without numbers" part.vtk 1e-6

# In a run that reorders a shuffled mesh, and with a mesh file that has another numbering.
"$hextop" mesh part.cfg mesh.msh >stdout 2>stderr || fault "the mesh is not written: $(cat stderr)"
sed "s|generator = .*distort = 0.0;|file = \"mesh.msh\"; shuffle = 9;|" part.cfg >file.cfg
mv file.cfg part.cfg
grep -q mesh.msh part.cfg || fault "no config of a file"
alike "a part without numbers, with a shuffled file" part.vtk 1e-6

[ $failed = 0 ]
