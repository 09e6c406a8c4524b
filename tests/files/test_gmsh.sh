#!/bin/sh
# hextop reads files that the real gmsh wrote, and gmsh reads files that hextop wrote. Skipped if gmsh is
# missing.
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

# convert IN OUT: converts a mesh with hextop, in ASCII.
convert() {
    n=$((n + 1))
    "$hextop" mesh "$1" "$2" output.format=ascii >log 2>&1 || fault "hextop mesh $1 $2"
    cp log "log_${2##*.}"
}

# mesh GEO OUT OPTIONS...: makes a mesh with gmsh.
mesh() {
    geo=$1 out=$2
    shift 2
    gmsh -3 "$geo" "$@" -o "$out" >log 2>&1 || fault "gmsh $geo"
}

# same A B: A and B have the same mesh and sets (in any order), with coordinates equal to 12 digits (gmsh
# writes 16).
same() {
    n=$((n + 1))
    for file in "$1" "$2"; do
        sed 1,3d "$file" | awk '{ for (i = 1; i <= NF; i++)
                if ($i ~ /^-?[0-9.]+(e-?[0-9]+)?$/) $i = sprintf("%.12g", $i + 0) }
            /^(LOOKUP_TABLE|FIELD) / { next }
            /^SCALARS/ { $0 = $2 } # the first of a kind; the others stand in a FIELD
            where != "" && /^[^ ]+ 1 [0-9]+ [a-z_]+$/ { $0 = $1 }
            /^(set_|faces_of_|POINT_DATA|CELL_DATA)/ { printf "\n%s", where }
            /_DATA/ { where = $1 " " }
            where == "" { printf "%09d ", NR }
            { printf "%s%s", $0, where == "" ? "\n" : " " }' | sort >"$file.short"
    done
    cmp -s "$1.short" "$2.short" || fault "$1 and $2 differ: $(cmp "$1.short" "$2.short")"
}

# The four variants of the file have the same mesh.
for format in 22 41; do
    mesh "$src/examples/meshes/lplate.geo" text$format.msh -format msh$format
    mesh "$src/examples/meshes/lplate.geo" bin$format.msh -format msh$format -bin
    convert text$format.msh text$format.vtk
    convert bin$format.msh bin$format.vtk
    same text$format.vtk bin$format.vtk
done
same text22.vtk text41.vtk
grep -Eq '^(SCALARS )?set_top_end ' text41.vtk || fault "no set of the group 'top end'"
grep -Eq '^(SCALARS )?set_surface_7 ' text41.vtk || fault "no set of the group without a name"

# Gmsh's own VTK file has no names, but the same faces and elements in its groups.
cat >groups.geo <<'END_GEO'
Point(1) = {0, 0, 0}; Extrude {2, 0, 0} { Point{1}; Layers{4}; }
Extrude {0, 1, 0} { Curve{1}; Layers{3}; Recombine; }
Extrude {0, 0, 1} { Surface{5}; Layers{2}; Recombine; }
Physical Volume(7) = {1}; Physical Surface(7) = {5}; Physical Surface(9) = {14, 26};
END_GEO
for order in 1 2; do
    mesh groups.geo groups.vtk -order $order
    mesh groups.geo groups.msh -order $order
    convert groups.msh msh.inp
    convert groups.vtk vtk.inp
    for file in msh vtk; do # elements are numbered from another place
        awk -F', *' '/^\*ELEMENT/ { getline; zero = $1 }
            /^\*/ { on = ""; if (/NAME=surface_|ELSET=volume_/) on = $0; next }
            on != "" { for (i = 1; i <= NF; i++) if ($i ~ /[0-9]/)
                print on, $i ~ /S/ ? $i : $i - zero }' $file.inp | sort >$file.groups
    done
    n=$((n + 1))
    cmp -s msh.groups vtk.groups && [ "$(wc -l <vtk.groups)" -eq 76 ] || fault "groups of gmsh's .vtk, order $order"
done

# gmsh reads all of a file that hextop wrote, and the file that gmsh then writes has the same mesh.
for flavour in ascii binary; do
    "$hextop" mesh bin41.msh ours.msh output.format=$flavour >log 2>&1 || fault "our $flavour file"
    gmsh ours.msh -save -format msh41 -o theirs.msh >log 2>&1 || fault "gmsh of our $flavour file"
    grep -q -i -e error -e warning log && fault "gmsh complains of our $flavour file"
    convert theirs.msh theirs.vtk
    same bin41.vtk theirs.vtk
done

# Through a third format, and back.
convert bin41.msh ours.inp
convert ours.inp again.msh
convert again.msh again.vtk
same bin41.vtk again.vtk

# A larger transfinite block in every variant of the file, with parameters of nodes.
sed 's/Curve{:} = 3/Curve{:} = 21/' "$src/examples/meshes/blocks.geo" >large.geo
mesh large.geo large.msh -format msh41 -bin -save_parametric
mesh large.geo large22.msh -format msh22 -save_parametric
convert large.msh large.vtk
convert large22.msh large22.vtk
same large.vtk large22.vtk
grep -q '^CELLS 16000 ' large.vtk || fault "not 16000 elements"

# Without a physical volume only surfaces are saved, which is reported.
sed 's/^Physical Volume.*//' "$src/examples/meshes/blocks.geo" >surface.geo
mesh surface.geo surface.msh -format msh41
n=$((n + 1))
"$hextop" mesh surface.msh none.vtk 2>log && fault "a mesh without volumes was taken"
grep -q 'only if a Physical Volume contains them' log || fault "no word of Physical Volume"

# Tetrahedra of an STL surface; hexahedra of it by Mesh.SubdivisionAlgorithm = 2.
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
convert tetra.msh tetra.vtk
grep -q -x 10 tetra.vtk || fault "no VTK_TETRA"
mesh stl.geo stl.msh -format msh41 -clmax 1 -setnumber Mesh.SubdivisionAlgorithm 2
convert stl.msh stl.vtk
grep -q -x 12 stl.vtk || fault "no VTK_HEXAHEDRON"

# A second-order mesh, with or without nodes on faces and inside, gives the first-order mesh, whether edges
# are curved or not.
mesh large.geo linear.msh -format msh41
convert linear.msh linear.vtk
for incomplete in 0 1; do
    mesh large.geo quadratic.msh -format msh22 -order 2 -setnumber Mesh.SecondOrderIncomplete $incomplete
    convert quadratic.msh quadratic.vtk
    grep -q 'elements of second order with [0-9]* mid-side nodes, ' log ||
        fault "second order is not named"
    grep -q 'off the middle' log && fault "straight edges are called curved"
    grep -v '^SCALARS' quadratic.vtk | sed -n '/^CELL_TYPES/,/^CELL_DATA/p' >types
    sed -n '/^CELL_TYPES/,/^CELL_DATA/p' linear.vtk | cmp -s - types || fault "other cells"
done

# All kinds of elements at once, from a CAD kernel: a block of hexahedra, one of tetrahedra, pyramids between
# them, and wedges extruded from triangles. Faces consist of triangles and quadrilaterals.
cat >kinds.geo <<'END'
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Box(2) = {1, 0, 0, 1.5, 1, 1};
Coherence;
b() = Boundary{ Volume{1}; };
e() = Boundary{ Surface{b()}; };
Transfinite Curve{e()} = 4;
Transfinite Surface{b()};
Recombine Surface{b()};
Transfinite Volume{1};
top() = Surface In BoundingBox{0.9, -0.1, 0.9, 2.6, 1.1, 1.1};
out() = Extrude{0, 0, 0.5}{ Surface{top(0)}; Layers{2}; Recombine; };
Physical Volume("part") = Volume{:};
Physical Surface("held") = Surface In BoundingBox{-0.1, -0.1, -0.1, 0.1, 1.1, 1.1};
Physical Surface("right") = Surface In BoundingBox{2.4, -0.1, -0.1, 2.6, 1.1, 1.6};
Physical Surface("lid") = Surface In BoundingBox{0.9, -0.1, 1.4, 2.6, 1.1, 1.6};
END
for order in 1 2; do
    for format in 22 41; do
        mesh kinds.geo kinds$order$format.msh -format msh$format -order $order -clmax 0.4 -bin
        convert kinds$order$format.msh kinds$order$format.vtk
        sed -n '/^CELL_TYPES/,/^CELL_DATA/p' kinds$order$format.vtk | sort | uniq -c >types
        for type in 10 12 13 14; do
            grep -q " $type$" types || fault "no cell of type $type"
        done
        [ $order$format = 122 ] && cp types all_types
        cmp types all_types || fault "other cells in order $order, format $format"
    done
done

# Files of gmsh's own writers of VTK and Abaqus, with surfaces: they have the orders of second-order nodes that
# hextop expects. (gmsh's second-order VTK file calls pyramids linear, so only first-order ones are tested.)
mesh kinds.geo gmsh.vtk -clmax 0.4
convert gmsh.vtk ours.vtk
sed -n '/^CELL_TYPES/,/^CELL_DATA/p' ours.vtk | sort | uniq -c | cmp - all_types || fault "VTK: other cells"
sed '/^Box(1)/d; /^[be]()/d; /^Transfinite/d; /^Recombine/d; /^Coherence/d' kinds.geo >two.geo
for part in two large; do
    for format in vtk inp; do
        mesh $part.geo second.$format -order 2 -clmax 0.5 -setnumber Mesh.SecondOrderIncomplete 1
        convert second.$format ours.vtk
        grep -q 'mid-side nodes, which' log || fault "$part.$format: no second order"
        grep -q 'off the middle' log && fault "$part.$format: straight edges are called curved"
    done
done
# Curved edges from a CAD kernel, by gmsh's own writers: the compliance with quadratic elements is the same
# for all.
cat >ring.geo <<'END'
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 0, 0, 10, 20};
Cylinder(2) = {0, 0, 0, 0, 0, 10, 10};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Physical Volume("part") = {3};
END
cat >ring.cfg <<'END'
material = { E = 1000.0; nu = 0.3; };
sets = ( { name = "bore"; cylinder = { point = [0.0, 0.0, 0.0]; axis = [0.0, 0.0, 1.0]; radius = 10.0; inner = 10.0; tolerance = 0.01; }; },
         { name = "outer"; cylinder = { point = [0.0, 0.0, 0.0]; axis = [0.0, 0.0, 1.0]; radius = 20.0; inner = 20.0; tolerance = 0.01; }; } );
supports = ( { set = "outer"; fix = "xyz"; } );
loads = ( { set = "bore"; bearing_force = [100.0, 0.0, 0.0]; } );
optimization = { volume_fraction = 1.0; iterations = 1; filter = { radius = 1.5; }; };
solver = { device = "cpu"; element = "quadratic"; tolerance = 1e-12; };
END
for format in msh22 msh41 inp vtk; do
    mesh ring.geo ring.$format -format $format -order 2 -clmax 6
    "$hextop" run ring.cfg mesh.file=ring.$format output.directory=ring_$format >log 2>&1 || fault "ring, $format"
    grep -q 'curved with "quadratic"' log || fault "ring, $format: curved edges are not named"
    sed -n 's/.*"compliance": \([0-9.]\{9\}\).*/\1/p' ring_$format/summary.json | head -1 >ring_$format/compliance
    grep -q . ring_$format/compliance || fault "ring, $format: no compliance"
    cmp ring_$format/compliance ring_msh22/compliance || fault "ring, $format: another compliance"
done
for format in msh inp vtk; do
    convert kinds141.msh kinds.$format
    convert kinds.$format kinds_again.vtk
    same kinds_again.vtk kinds141.vtk
done
grep -q 'pyramids are written as C3D8' log_inp || fault "no word of pyramids"

echo "$n checks, $failed failed"
[ $failed = 0 ]
