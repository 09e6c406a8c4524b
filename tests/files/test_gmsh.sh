#!/bin/sh
# Files by the real gmsh, and our files read by it. Skipped where gmsh is missing.
#     test_gmsh.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
src=$2
if ! command -v gmsh >/dev/null; then
    echo "SKIPPED: gmsh is not installed"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0
failed=0

fault() {
    failed=$((failed + 1))
    echo "failed: $*"
    tail -n 3 log
}

# convert IN OUT: by hextop, in ASCII.
convert() {
    n=$((n + 1))
    "$hextop" mesh "$1" "$2" output.format=ascii >log 2>&1 || fault "hextop mesh $1 $2"
}

# mesh GEO OUT OPTIONS...: by gmsh.
mesh() {
    geo=$1 out=$2
    shift 2
    gmsh -3 "$geo" "$@" -o "$out" >log 2>&1 || fault "gmsh $geo"
}

# same A B: the same mesh and sets (in any order), coordinates to 12 digits (gmsh writes 16).
same() {
    n=$((n + 1))
    for file in "$1" "$2"; do
        sed 1,3d "$file" | awk '{ for (i = 1; i <= NF; i++)
                if ($i ~ /^-?[0-9.]+(e-?[0-9]+)?$/) $i = sprintf("%.12g", $i + 0) }
            /^(SCALARS|POINT_DATA|CELL_DATA)/ { printf "\n%s", where }
            /_DATA/ { where = $1 " " }
            where == "" { printf "%09d ", NR }
            { printf "%s%s", $0, where == "" ? "\n" : " " }' | sort >"$file.short"
    done
    cmp -s "$1.short" "$2.short" || fault "$1 and $2 differ: $(cmp "$1.short" "$2.short")"
}

# The four flavours hold one mesh.
for format in 22 41; do
    mesh "$src/examples/meshes/lplate.geo" text$format.msh -format msh$format
    mesh "$src/examples/meshes/lplate.geo" bin$format.msh -format msh$format -bin
    convert text$format.msh text$format.vtk
    convert bin$format.msh bin$format.vtk
    same text$format.vtk bin$format.vtk
done
same text22.vtk text41.vtk
grep -q '^SCALARS set_top_end ' text41.vtk || fault "no set of the group 'top end'"
grep -q '^SCALARS set_surface_7 ' text41.vtk || fault "no set of the group without a name"

# What we write gmsh reads, whole; what it then writes is the same mesh.
for flavour in ascii binary; do
    "$hextop" mesh bin41.msh ours.msh output.format=$flavour >log 2>&1 || fault "our $flavour file"
    gmsh ours.msh -save -format msh41 -o theirs.msh >log 2>&1 || fault "gmsh of our $flavour file"
    grep -q -i -e error -e warning log && fault "gmsh complains of our $flavour file"
    convert theirs.msh theirs.vtk
    same bin41.vtk theirs.vtk
done

# Through the third format, and back.
convert bin41.msh ours.inp
convert ours.inp again.msh
convert again.msh again.vtk
same bin41.vtk again.vtk

# A transfinite block, larger, in every flavour of the file and with parameters of nodes.
sed 's/Curve{:} = 3/Curve{:} = 21/' "$src/examples/meshes/blocks.geo" >large.geo
mesh large.geo large.msh -format msh41 -bin -save_parametric
mesh large.geo large22.msh -format msh22 -save_parametric
convert large.msh large.vtk
convert large22.msh large22.vtk
same large.vtk large22.vtk
grep -q '^CELLS 16000 ' large.vtk || fault "not 16000 elements"

# Without a physical volume nothing but surfaces is saved: said so.
sed 's/^Physical Volume.*//' "$src/examples/meshes/blocks.geo" >surface.geo
mesh surface.geo surface.msh -format msh41
n=$((n + 1))
"$hextop" mesh surface.msh none.vtk 2>log && fault "a mesh without volumes was taken"
grep -q 'only where a Physical Volume names them' log || fault "no word of Physical Volume"

# Tetrahedra and second order: refused with the element's number; Mesh.SubdivisionAlgorithm = 2 as
# the message says makes hexahedra of an STL surface.
cat >box.geo <<'END'
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 3, 2, 1};
END
gmsh -2 box.geo -clmax 1 -format stl -o box.stl >log 2>&1 || fault "gmsh box.stl"
cat >stl.geo <<'END'
Merge "box.stl";
ClassifySurfaces{40 * Pi / 180, 1, 1, Pi};
CreateGeometry;
Surface Loop(1) = Surface{:};
Volume(1) = {1};
Physical Volume("part") = {1};
END
mesh stl.geo tetra.msh -format msh41 -clmax 1
n=$((n + 1))
"$hextop" mesh tetra.msh none.vtk 2>log && fault "tetrahedra were taken"
grep -q 'element [0-9]* is a 4-node tetrahedron' log || fault "tetrahedra are not named"
mesh stl.geo stl.msh -format msh41 -clmax 1 -setnumber Mesh.SubdivisionAlgorithm 2
convert stl.msh stl.vtk
mesh large.geo quadratic.msh -format msh22 -order 2
n=$((n + 1))
"$hextop" mesh quadratic.msh none.vtk 2>log && fault "second order was taken"
grep -q 'is a 27-node hexahedron .*set Mesh.ElementOrder = 1' log || fault "second order is not named"

echo "$n checks, $failed failed"
[ $failed = 0 ]
