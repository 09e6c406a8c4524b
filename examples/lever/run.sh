#!/bin/sh
# From geometry to a printable part: sh examples/lever/run.sh [SIZE [FOLDER]]. SIZE is the size of an element
# in mm (4: six thousand elements), FOLDER the folder for the files. hextop and gmsh must be on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
size=${1:-4} out=${2:-out/lever}
mkdir -p "$out"
out=$(cd "$out" && pwd)
gmsh -v 2 -3 "$here/lever.geo" -setnumber h "$size" -o "$out/lever.msh"
hextop run "$here/lever.cfg" mesh.file="$out/lever.msh" output.directory="$out"
hextop verify "$out/density_0060.vtk" "$out/config.cfg"
hextop surface "$out/density_0060.vtk" "$out/lever.stl"
