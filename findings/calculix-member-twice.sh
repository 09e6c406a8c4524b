#!/bin/sh
# CalculiX 2.20: an element that a set holds twice is loaded twice by a pressure and once by gravity.
#
# Sets are often unions of overlapping sets (`*ELSET, ELSET=Q` with the names of two sets that share an
# element). CalculiX keeps both mentions. `*DLOAD / Q, P2, 1` then acts on the shared face twice, because
# pressures of one step on one face add up, while `*DLOAD / Q, GRAV, ...` finds the gravity of that element
# already there and replaces it. One expects a set to be a set: one pressure, one weight.
#   sh findings/calculix-member-twice.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# job NAME "LOAD" SCALE: a unit cube of density 1 held at its bottom; Q names its one element twice. Prints
# how far the top goes down, times SCALE: E = 100 and nu = 0, so a unit pressure gives 1 / 100 and a unit
# weight, half of which is on the top, 1 / 200.
job() {
    cat >"$1.inp" <<END
*NODE, NSET=NALL
1, 0, 0, 0
2, 1, 0, 0
3, 1, 1, 0
4, 0, 1, 0
5, 0, 0, 1
6, 1, 0, 1
7, 1, 1, 1
8, 0, 1, 1
*ELEMENT, TYPE=C3D8, ELSET=EALL
1, 1, 2, 3, 4, 5, 6, 7, 8
*ELSET, ELSET=TOP
1
*ELSET, ELSET=Q
EALL, TOP
*NSET, NSET=BOTTOM
1, 2, 3, 4
*NSET, NSET=CORNER
5
*MATERIAL, NAME=M
*ELASTIC
100., 0.
*DENSITY
1.
*SOLID SECTION, ELSET=EALL, MATERIAL=M
*BOUNDARY
BOTTOM, 1, 3
*STEP
*STATIC
*DLOAD
$2
*NODE PRINT, NSET=CORNER
U
*END STEP
END
    root/usr/bin/ccx "$1" >"$1.log" 2>&1 || { tail "$1.log"; exit 1; }
    awk -v scale="$3" '$1 == 5 && NF == 4 { z = $4 } END { printf "%.4f\n", -scale * z }' "$1.dat"
}

pressure=$(job pressure "Q, P2, 1." 100)
weight=$(job weight "Q, GRAV, 1., 0., 0., -1." 200)
echo "unit pressures that act: $pressure (twice); unit weights: $weight (once)"
[ "$pressure" = 2.0000 ] && [ "$weight" = 1.0000 ]
