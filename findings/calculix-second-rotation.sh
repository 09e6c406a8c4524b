#!/bin/sh
# CalculiX 2.20: of two CENTRIF loads about different axes on one set only the first acts, without a warning.
#
# `*DLOAD` with two GRAV lines of different directions on one set lets both act, and so do two pressures on a
# face. One expects the same of two rotations, or an error. Seen: the second CENTRIF about another axis changes
# no displacement at all; a second one about the same axis adds to the first.
#   sh findings/calculix-second-rotation.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# job NAME "LOADS": a unit cube held at its left side, x = 0; prints the displacement of one free corner.
job() {
    {
        cat <<END
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
*NSET, NSET=LEFT
1, 4, 5, 8
*NSET, NSET=CORNER
7
*MATERIAL, NAME=M
*ELASTIC
100., 0.3
*DENSITY
1.
*SOLID SECTION, ELSET=EALL, MATERIAL=M
*BOUNDARY
LEFT, 1, 3
*STEP
*STATIC
*DLOAD
END
        printf '%b' "$2"
        printf '*NODE PRINT, NSET=CORNER\nU\n*END STEP\n'
    } >"$1.inp"
    root/usr/bin/ccx "$1" >"$1.log" 2>&1 || { tail "$1.log"; exit 1; }
    awk '$1 == 7 && NF == 4 { print $2, $3, $4 }' "$1.dat"
}

about_z='EALL, CENTRIF, 4., 0., 0., 0., 0., 0., 1.\n'
about_y='EALL, CENTRIF, 9., 0., 0., 0., 0., 1., 0.\n'
z=$(job z "$about_z") y=$(job y "$about_y") both=$(job both "$about_z$about_y") twice=$(job twice "$about_z$about_z")
echo "about z: $z; about y: $y; both: $both; twice about z: $twice"
[ "$both" = "$z" ] && [ "$y" != "$z" ] && [ "$twice" != "$z" ]
