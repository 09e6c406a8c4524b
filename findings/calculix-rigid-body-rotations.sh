#!/bin/sh
# CalculiX 2.20: components 4 to 6 at the reference node of a *RIGID BODY, held or loaded, change nothing and are not
# reported; of a *COUPLING with *KINEMATIC they are the rotations.
#
# Both keywords tie nodes rigidly to a reference node, and CalculiX's node has six components in both. One expects
# `REF, 1, 6` in *BOUNDARY to clamp the body, as it does in Abaqus and with *KINEMATIC. Seen: with *RIGID BODY the
# rotations stay free (they are components 1 to 3 of a ROT NODE), so a part that is clamped there bends like one that is
# not, and a moment on component 5 moves nothing.
#   sh findings/calculix-rigid-body-rotations.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# job NAME "KEYWORDS THAT TIE THE TIP" "SUPPORT" "LOAD": a bar of two C3D8 along x, held at x = 0; prints z of node 9.
job() {
    cat >"$1.inp" <<END
*NODE
1, 0, 0, 0
2, 0, 1, 0
3, 0, 1, 1
4, 0, 0, 1
5, 1, 0, 0
6, 1, 1, 0
7, 1, 1, 1
8, 1, 0, 1
9, 2, 0, 0
10, 2, 1, 0
11, 2, 1, 1
12, 2, 0, 1
101, 2, 0.5, 0.5
*ELEMENT, TYPE=C3D8, ELSET=EALL
1, 1, 2, 3, 4, 5, 6, 7, 8
2, 5, 6, 7, 8, 9, 10, 11, 12
*NSET, NSET=TIP
9, 10, 11, 12
*SURFACE, NAME=END, TYPE=NODE
TIP
$2
*MATERIAL, NAME=M
*ELASTIC
1000., 0.3
*SOLID SECTION, ELSET=EALL, MATERIAL=M
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 3
4, 1, 3
$3
*STEP
*STATIC
*CLOAD
$4
*NODE PRINT, NSET=TIP
U
*END STEP
END
    root/usr/bin/ccx "$1" >"$1.log" 2>&1 || { tail "$1.log"; exit 1; }
    awk '$1 == 9 && NF == 4 { z = $4 } END { printf "%.6f\n", z }' "$1.dat"
}

body="*RIGID BODY, NSET=TIP, REF NODE=101"
tie="*COUPLING, REF NODE=101, SURFACE=END, CONSTRAINT NAME=C
*KINEMATIC
1, 3"
for how in body tie; do
    eval "keywords=\$$how"
    eval "free_$how=$(job "free_$how" "$keywords" "" "101, 3, 1.")"
    eval "held_$how=$(job "held_$how" "$keywords" "101, 4, 6" "101, 3, 1.")"
done
turned=$(job turned "$body" "" "101, 5, 20.")
echo "rigid body: free $free_body, rotations held $held_body, by a moment $turned; coupling: $free_tie, $held_tie"
[ "$free_body" = "$held_body" ] && [ "$turned" = 0.000000 ] && [ "$free_tie" != "$held_tie" ]
