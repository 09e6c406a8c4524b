#!/bin/sh
# CalculiX 2.20: a gravity load of a later step replaces the earlier one only if its direction is the same;
# with another direction both act.
#
# A step without OP=NEW keeps the loads of the step before it and changes those that it states again. One
# expects `*DLOAD / EALL, GRAV, 3, 0, 0, -1` in step 2 to replace `EALL, GRAV, 1, 0, 0, 1` of step 1, since
# both are "the gravity of EALL": an acceleration of -3. Seen: -3 + 1 = -2. Reversing gravity by a negative
# value of the same direction (`EALL, GRAV, -3, 0, 0, 1`) does replace it: -3.
# A reader that keeps one gravity per set is off by the whole of the earlier step.
#   sh findings/calculix-gravity-direction.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# job NAME "LINE OF STEP 2": a unit cube of density 1 that is held at its bottom.
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
EALL, GRAV, 1., 0., 0., 1.
*NODE PRINT, NSET=CORNER
U
*END STEP
*STEP
*STATIC
*DLOAD
$2
*NODE PRINT, NSET=CORNER
U
*END STEP
END
    root/usr/bin/ccx "$1" >"$1.log" 2>&1 || { tail "$1.log"; exit 1; }
    # E = 100 and nu = 0: an acceleration g of the mass 1, half of it on the top, lifts the top by g / 200.
    awk '$1 == 5 && NF == 4 { z = $4 } END { printf "%.4f\n", 200 * z }' "$1.dat"
}

other=$(job other "EALL, GRAV, 3., 0., 0., -1.")
same=$(job same "EALL, GRAV, -3., 0., 0., 1.")
echo "acceleration in step 2: other direction $other (step 1 still acts), same direction $same (replaced)"
[ "$other" = -2.0000 ] && [ "$same" = -3.0000 ]
