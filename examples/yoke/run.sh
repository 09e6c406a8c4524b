#!/bin/sh
# From geometry to a printable part: sh examples/yoke/run.sh [SIZE [FOLDER]]. SIZE is the size of an element
# in mm (4: seven thousand tetrahedra), FOLDER the folder for the files. hextop and gmsh must be on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
size=${1:-4} out=${2:-out/yoke}
mkdir -p "$out"
out=$(cd "$out" && pwd)
gmsh -v 2 -3 "$here/yoke.geo" -setnumber h "$size" -o "$out/yoke.msh"
hextop run "$here/yoke.cfg" mesh.file="$out/yoke.msh" output.directory="$out"
hextop verify "$out/density_0060.vtk" "$out/config.cfg"
hextop surface "$out/density_0060.vtk" "$out/yoke.stl"
