#!/bin/sh
# The scripts of examples/paraview: they make pictures and animations, which are not blank.
#     test_pictures.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
scripts=$(realpath "$2")/examples/paraview
configs=$(realpath "$2")/configs
. "$(dirname "$0")/../lib/scratch.sh"

python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy, vtkmodules' >/dev/null 2>&1 && python=$candidate && break
done
if [ -z "$python" ] || { [ -z "${DISPLAY:-}" ] && ! command -v xvfb-run >/dev/null 2>&1; }; then
    echo "skipped: VTK for Python, or a screen (xvfb-run), is not installed"
    exit 77
fi

"$hextop" -q run "$configs/quickstart.cfg" solver.device=cpu optimization.iterations=6 output.every=3 \
    output.directory=out || fault "run fails"

# Different shades of grey of a PNG, by VTK.
cat >shades.py <<'END'
import sys
import numpy
from vtkmodules.vtkIOImage import vtkPNGReader
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkPNGReader()
reader.SetFileName(sys.argv[1])
reader.Update()
print(reader.GetOutput().GetDimensions()[0], len(numpy.unique(vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars())[:, 0])))
END

# expect PNG WIDTH: it has that width and many shades.
expect() {
    "$python" shades.py "$1" >shades || fault "$1 is no picture"
    read -r width shades <shades
    [ "$width" = "$2" ] || fault "$1 is $width wide, not $2"
    [ "$shades" -gt 40 ] || fault "$1 has $shades shades"
}

"$python" "$scripts/render.py" out/density.vtk.series part.png --threshold 0.5 --width 300 >log 2>&1 ||
    fault "render.py fails: $(cat log)"
expect part.png 300
"$python" "$scripts/render.py" out folder.png --threshold 0.5 --width 300 >log 2>&1 ||
    fault "render.py of a folder fails: $(cat log)"
expect folder.png 300
grep -q '^out/density_0006.vtk: [1-9]' log || fault "not the last design of the folder: $(cat log)"
"$python" "$scripts/render.py" . a.png >log 2>&1 && fault "a folder without a result is taken"
grep -q 'the folder has no density.vtk.series' log || fault "no clear message: $(cat log)"
"$python" "$scripts/animate.py" out/density.vtk.series frames --threshold 0.5 --width 240 >log 2>&1 ||
    fault "animate.py fails: $(cat log)"
expect frames/frame_0000.png 240
expect frames/frame_0001.png 240
[ ! -e frames/frame_0002.png ] || fault "more pictures than files"
cmp -s frames/frame_0000.png frames/frame_0001.png && fault "the animation does not move"
"$python" "$scripts/animate.py" out/density.vtk.series turn --turn 3 --threshold 0.5 --width 200 >log 2>&1 ||
    fault "animate.py --turn fails: $(cat log)"
cmp -s turn/frame_0000.png turn/frame_0001.png && fault "the part does not turn"
"$python" "$scripts/animate.py" out/density.vtk.series a.txt >log 2>&1 && fault "a.txt is taken"
grep -q 'a.txt: the output must be .gif, .ogv or the name of a folder' log || fault "no clear message: $(cat log)"
"$python" "$scripts/render.py" none.stl a.png >log 2>&1 && fault "a missing file is taken"
grep -q 'none.stl: no such file' log || fault "no clear message: $(cat log)"

[ $failed = 0 ]
