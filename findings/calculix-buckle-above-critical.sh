#!/bin/sh
# CalculiX 2.20: `*BUCKLE` leaves out the lowest factors, without a word, if the load is twice the critical one.
#
# A buckling factor multiplies the load of the step, so one expects 0.5 first if the load is twice what the part
# bears. A square column, fixed at its foot, has pairs of equal factors (it bends in two planes). Under a tenth of
# its critical load the first two are 9.94, and the next two 85.5. Under 1.5 times that load the first two are
# 0.663, as they should be. Under twice that load the factors 0.497 are missing: the list begins with
# 4.27, which is the second pair, and the log has no warning. A part that fails at half its load looks as if
# it bore four times as much; a step with a small load, whose factors are far above 1, lists all of them.
#   sh findings/calculix-buckle-above-critical.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# A column of 100 x 10 x 10, ten elements of 20 nodes, E = 210000 and nu = 0, pressed at its top by SHARE of
# the critical load of a slender one, pi^2 E I / (4 L^2) = 43179.5.
column() {
    awk -v share="$1" '
    function node(x, y, z, key) {
        key = x " " y " " z
        if (!(key in id)) { id[key] = ++n; line[n] = n ", " 5 * x ", " 5 * y ", " 5 * z }
        return id[key]
    }
    BEGIN {
        split("0 0 0 2 0 0 2 2 0 0 2 0 0 0 2 2 0 2 2 2 2 0 2 2", c, " ")          # corners
        split("1 2 2 3 3 4 4 1 5 6 6 7 7 8 8 5 1 5 2 6 3 7 4 8", m, " ")          # ends of the edges
        for (e = 0; e < 10; e++) {
            text = e + 1
            for (k = 0; k < 8; k++)
                text = text ", " node(c[3 * k + 1], c[3 * k + 2], c[3 * k + 3] + 2 * e)
            for (k = 0; k < 12; k++) {
                a = 3 * m[2 * k + 1]; b = 3 * m[2 * k + 2]
                x = (c[a - 2] + c[b - 2]) / 2; y = (c[a - 1] + c[b - 1]) / 2; z = (c[a] + c[b]) / 2
                text = text (k == 7 ? ",\n" : ", ") node(x, y, z + 2 * e)
            }
            element[e] = text
        }
        print "*NODE"
        for (i = 1; i <= n; i++) print line[i]
        print "*ELEMENT, TYPE=C3D20, ELSET=ALL"
        for (e = 0; e < 10; e++) print element[e]
        print "*NSET, NSET=FOOT"
        for (i = 1; i <= n; i++) { split(line[i], at, ", "); if (at[4] == 0) print i "," }
        print "*MATERIAL, NAME=M\n*ELASTIC\n210000., 0.\n*SOLID SECTION, ELSET=ALL, MATERIAL=M"
        print "*BOUNDARY\nFOOT, 1, 3\n*STEP\n*BUCKLE\n4, 0.001\n*DLOAD\n10, P2, " 431.795 * share "\n*END STEP"
    }' >column.inp
    root/usr/bin/ccx column >column.log 2>&1 || { tail column.log; exit 1; }
    awk 'NF == 2 && $1 ~ /^[1-4]$/ { printf "%.3g ", $2 }' column.dat
}

small=$(column 0.1)
above=$(column 1.5)
twice=$(column 2)
warnings=$(grep -ci warning column.log || true)
echo "a tenth of the critical load: $small; 1.5 times: $above; twice: $twice with $warnings warnings"
[ "$small" = "9.94 9.94 85.5 85.5 " ] && [ "$above" = "0.663 0.663 5.7 5.7 " ] &&
    [ "$twice" = "4.27 4.27 10.9 10.9 " ] && [ "$warnings" = 0 ]
