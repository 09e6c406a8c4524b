#!/bin/sh
# gmsh 4.8.4: its .bdf numbers properties by CAD entity and dimension, not by physical group, so that a
# volume's solids and a surface's triangles carry the same property.
#
# A box with `Physical Volume(7)` and `Physical Surface(9)` on its surface 1 is expected to give CTETRA of
# property 7 and CTRIA3 of property 9, as the same groups do in .msh. Seen: both have property 1, since gmsh
# writes the number of the CAD entity (volume 1, surface 1); numbers of volumes and of surfaces both begin
# at 1. A reader that makes a set per property puts the whole part and one of its faces into one set.
# `-setnumber Mesh.SaveElementTagType 2` makes gmsh write the physical groups.
#   sh findings/gmsh-nastran-property.sh     needs apt-get, dpkg and gmsh's libraries, awk; exit 0: seen so
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=4.8.4+ds2-3
apt-get download -q "gmsh=$version" "libgmsh4.8=$version" >apt.log 2>&1 || { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/usr/lib"

cat >box.geo <<'END'
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 2, 1, 1};
Physical Volume("body", 7) = {1};
Physical Surface("left", 9) = {1};
END
# Property of solids, property of triangles.
properties() {
    awk '/^CTETRA/ { solid = substr($0, 17, 8) + 0 } /^CTRIA3/ { face = substr($0, 17, 8) + 0 }
         END { print solid, face }' "$1"
}
root/usr/bin/gmsh -v 1 -3 box.geo -o entity.bdf
root/usr/bin/gmsh -v 1 -3 box.geo -setnumber Mesh.SaveElementTagType 2 -o group.bdf
entity=$(properties entity.bdf) group=$(properties group.bdf)
echo "property of solids and of triangles: $entity; with Mesh.SaveElementTagType 2: $group"
[ "$entity" = "1 1" ] && [ "$group" = "7 9" ]
