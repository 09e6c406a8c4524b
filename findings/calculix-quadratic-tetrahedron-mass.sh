#!/bin/sh
# CalculiX 2.20: the mass matrix of C3D10 is integrated by the 4 points of its stiffness, which is too few.
#
# A consistent mass matrix is the integral of density times products of shape functions, here polynomials of degree
# 4; 4 points are exact up to degree 2. One expects `*FREQUENCY` to use a rule that is exact with straight
# edges. With one degree of freedom of a mid-edge node free, its mass is K / omega^2, with
# K from `*STATIC`: 0.0553 of the element's mass instead of 16/210 = 0.0762, which is 27 % too little. The sum
# of all entries is right, so rigid motions are too, and the fault shows in higher modes on coarse meshes: another
# program with an exact mass has lower frequencies there, and the two agree only as the mesh is refined.
#   sh findings/calculix-quadratic-tetrahedron-mass.sh     needs apt-get, dpkg, awk; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q calculix-ccx=2.20-1 libspooles2.2=2.2-14 libarpack2=3.8.0-3 >apt.log 2>&1 ||
    { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" OMP_NUM_THREADS=1

# job NAME: forty separate tetrahedra of volume 1/6, E = 1, nu = 0, density 1, all nodes held but for the middle of
# the first edge, which may move along x (the eigensolver needs more than one unknown).
job() {
    awk -v name="$1" 'BEGIN {
        split("0 0 0 1 0 0 0 1 0 0 0 1 .5 0 0 .5 .5 0 0 .5 0 0 0 .5 .5 0 .5 0 .5 .5", x, " ")
        print "*NODE, NSET=ALL"
        for (e = 0; e < 40; e++)
            for (k = 0; k < 10; k++)
                print 10 * e + k + 1 ", " x[3 * k + 1] + 3 * e ", " x[3 * k + 2] ", " x[3 * k + 3]
        print "*ELEMENT, TYPE=C3D10, ELSET=E"
        for (e = 0; e < 40; e++) {
            text = e + 1
            for (k = 1; k <= 10; k++) text = text ", " 10 * e + k
            print text
        }
        print "*MATERIAL, NAME=M\n*ELASTIC\n1., 0.\n*DENSITY\n1.\n*SOLID SECTION, ELSET=E, MATERIAL=M\n*BOUNDARY"
        for (e = 0; e < 40; e++)
            for (k = 1; k <= 10; k++) print 10 * e + k (k == 5 ? ", 2, 3" : ", 1, 3")
        print "*STEP"
        if (name == "static") {
            print "*STATIC\n*CLOAD"
            for (e = 0; e < 40; e++) print 10 * e + 5 ", 1, 1."
            print "*NODE PRINT, NSET=ALL\nU"
        } else
            print "*FREQUENCY\n2\n*NODE FILE\nU"
        print "*END STEP"
    }' >"$1.inp"
    root/usr/bin/ccx "$1" >"$1.log" 2>&1 || { tail "$1.log"; exit 1; }
}

job static
job modes
moved=$(awk '$1 == 5 && NF == 4 { print $2; exit }' static.dat)     # by a force of 1
square=$(awk '$1 == 1 && NF == 5 { print $2; exit }' modes.dat)     # omega^2
share=$(awk -v u="$moved" -v w="$square" 'BEGIN { printf "%.4f", 6 / (u * w) }')
echo "mass of the node: $share of the element's, by an exact integral 0.0762, by 4 points 0.0553"
[ "$share" = 0.0553 ]
