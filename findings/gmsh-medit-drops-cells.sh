#!/bin/sh
# gmsh 4.8.4: a mesh of wedges saved as Medit .mesh has no cells, and gmsh reports no loss.
#
# The Medit format has a section `Prisms`, and gmsh saves the same mesh as .msh, .vtk, .inp and .bdf with its
# wedges. One expects `Prisms` in the .mesh file, or a warning. Seen: exit status 0, no warning at -v 2, the
# quadrangles and triangles of the surface are there, and no section of solids at all. A part that is swept from
# triangles therefore arrives as an empty shell.
#   sh findings/gmsh-medit-drops-cells.sh     needs apt-get, dpkg and gmsh's libraries; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=4.8.4+ds2-3
apt-get download -q "gmsh=$version" "libgmsh4.8=$version" >apt.log 2>&1 || { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/usr/lib"

cat >sweep.geo <<'END'
Point(1) = {0, 0, 0, 1};
Point(2) = {1, 0, 0, 1};
Point(3) = {0, 1, 0, 1};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 1};
Curve Loop(1) = {1, 2, 3};
Plane Surface(1) = {1};
Extrude {0, 0, 1} { Surface{1}; Layers{2}; Recombine; }
END
root/usr/bin/gmsh -v 2 -3 sweep.geo -o sweep.inp >inp.log 2>&1
root/usr/bin/gmsh -v 2 -3 sweep.geo -o sweep.mesh >mesh.log 2>&1
wedges=$(sed -n '/type=C3D6/,/^\*/p' sweep.inp | grep -c '^[0-9]') || true
sections=$(grep -cE '^ *(Prisms|Tetrahedra|Hexahedra|Pyramids)' sweep.mesh) || true
faces=$(grep -cE '^ *(Triangles|Quadrilaterals)' sweep.mesh) || true
warnings=$(grep -ci 'warning' mesh.log) || true
echo "wedges in .inp: $wedges; sections of solids in .mesh: $sections, of faces: $faces; warnings: $warnings"
[ "$wedges" -gt 0 ] && [ "$sections" = 0 ] && [ "$faces" = 2 ] && [ "$warnings" = 0 ]
