#!/bin/sh
# CalculiX 2.20: OP=NEW of *DLOAD and *DSLOAD acts only in the first of these keywords in a step, and then on both.
#
# One expects `*DLOAD, OP=NEW` to end the *DLOAD loads of earlier steps wherever it stands in a step, and to leave those
# of *DSLOAD, another keyword, alone. Seen: behind another *DLOAD of the same step OP=NEW is passed over, and the load of
# step 1 acts on; as the first keyword of its step it ends a *DSLOAD pressure of step 1, too. Neither is reported.
# A reader that ends loads keyword by keyword leaves out, or keeps, the whole pressure of the earlier step.
#   sh findings/calculix-op-new-of-loads.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# job NAME "LOADS OF STEP 1" "LOADS OF STEP 2": a unit cube that is held at its bottom, E = 100, nu = 0, density 1.
job() {
    cat >"$1.inp" <<END
*NODE
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
*SURFACE, NAME=TOP
EALL, S2
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
$2
*END STEP
*STEP
*STATIC
$3
*NODE PRINT, NSET=CORNER
U
*END STEP
END
    root/usr/bin/ccx "$1" >"$1.log" 2>&1 || { tail "$1.log"; exit 1; }
    awk '$1 == 5 && NF == 4 { z = $4 } END { printf "%.3f\n", -100 * z }' "$1.dat"
}

# The pressure of step 1 presses the top down by 1/100, the weight of step 2 by as much.
pressure="*DLOAD
EALL, P2, 1." surface="*DSLOAD
TOP, P, 1." weight="EALL, GRAV, 2., 0., 0., -1."
second=$(job second "$pressure" "*DLOAD
$weight
*DLOAD, OP=NEW
EALL, P1, 0.")
first=$(job first "$pressure" "*DLOAD, OP=NEW
$weight")
other=$(job other "$surface" "*DLOAD, OP=NEW
$weight")
echo "times 1/100: OP=NEW in the second *DLOAD $second (pressure still acts), in the first $first; it ends *DSLOAD: $other"
[ "$second" = 2.000 ] && [ "$first" = 1.000 ] && [ "$other" = 1.000 ]
