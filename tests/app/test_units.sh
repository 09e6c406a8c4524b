#!/bin/sh
# Units that the config states appear with every figure: header, last line, check, VTK, summary; also the output of
# check and mesh about bearing forces, remote forces and skins.
#     test_units.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
src=$(realpath "$2")
. "$src/tests/lib/scratch.sh"

# says TEXT FILE: the file must contain TEXT.
says() {
    grep -qF -- "$1" "$2" || fault "$2 lacks: $1"
}

cat >rod.cfg <<'END'
title = "rod";
units = "N, mm, MPa";
mesh = { generator = "conrod"; nx = 20; };
material = { E = 210000.0; nu = 0.3; density = 7.85e-9; };
supports = ( { set = "lower-bore-lower-half"; fix = "xyz"; value = [0.0, 0.0, 0.5]; } );
loads = ( { set = "upper-bore-upper-half"; bearing_force = [100.0, 20.0, 1000.0]; },
          { set = "upper-bore"; remote_force = [0.0, 5.0, 0.0]; moment = [0.0, 0.0, 700.0];
            point = [75.0, 0.0, 400.0]; case = 2; },
          { set = "upper-bore"; moment = [0.0, 9000.0, 0.0]; case = 2; },
          { gravity = [0.0, 0.0, -9810.0]; case = 3; },
          { centrifugal = { point = [0.0, 0.0, 0.0]; axis = [0.0, 0.0, 1.0]; speed = 10.0; };
            case = 3; } );
passive = ( { set = "lower-bore"; skin = 5.0; } );
optimization = { volume_fraction = 0.3; update = "oc"; iterations = 2; filter = { radius = 2.0; }; };
solver = { operator = "otf"; };
output = { directory = "out"; every = 0; };
END

"$hextop" check rod.cfg >check.txt 2>&1 || fault "check: $(tail -1 check.txt)"
says 'units     N, mm, MPa; mass in t, density in t/mm^3, compliance in N mm' check.txt
says '  box               0 to 150, 0 to 20, 0 to 350 mm' check.txt
grep -q '^  volume  *[0-9.]* mm^3, mean element size [0-9.]* mm$' check.txt || fault "check: volume"
grep -q '^  element volumes  *[0-9.]* to [0-9.]* mm^3$' check.txt || fault "check: volumes"
says 'material  E 210000 MPa, nu 0.3' check.txt
grep -q '^  density 7.85e-09 t/mm^3; mass 7\.[0-9]* kg solid, 2\.[0-9]* kg at the volume fraction$' check.txt ||
    fault "check: mass: $(grep density check.txt)" # volume of 350 x 150 x 20 minus two bores
says 'acceleration [0, 0, -9810] mm/s^2' check.txt
says '10 rad/s about [0, 0, 1]' check.txt
says '[0, 0, 0.5] mm' check.txt
# 2 F / (pi r L) = 2 * 1005 / (pi 30 20) = 1.066 on the round bore
grep -q '\[100, 20, 1000\] N of a pin: radius 29\.9[0-9]* mm, axis \[0, 1, 0\] through \[75, 10, 275\] mm, peak pressure 1\.0[67][0-9]* MPa  *case 1$' \
    check.txt || fault "check: the bore"
says '[0, 5, 0] N at [75, 0, 400] mm, moment [0, 0, 700] N mm, distributing' check.txt
says 'moment [0, 9000, 0] N mm, distributing' check.txt
says 'sum of case 1, weight 1: [100, 20, 1000] N' check.txt
says 'skin of lower-bore, 5 mm thick: 72 elements of density 1' check.txt
grep -q '^filter .*, radius [0-9.]* mm, ' check.txt || fault "check: filter"
"$hextop" check rod.cfg material.E=210e9 2>&1 | grep -q 'E = 2.1e+11 MPa is above that of diamond' ||
    fault "check: E in Pa passes for MPa"
"$hextop" check rod.cfg material.density=7850.0 2>&1 |
    grep -q 'density = 7850 t/mm^3 is above that of osmium' || fault "check: kg/m^3 pass for t/mm^3"

"$hextop" check rod.cfg 'loads[2]={set="lower-bore";bearing_force=[0,0,-700];case=2;}' 2>&1 |
    grep -q '[0-9]* % of the nodal forces of load case 2 act on fixed degrees' ||
    fault "check: a load on what is held"

"$hextop" run rod.cfg >run.txt 2>&1 || fault "run: $(tail -1 run.txt)"
says '  units     N, mm, MPa; compliance in N mm' run.txt
grep -q '^  filter .*, radius [0-9.]* mm (' run.txt || fault "run: filter"
grep -q '^compliance [-0-9.e+]* N mm, volume 0.3000, mass 2.2[0-9]* kg, ' run.txt ||
    fault "run: last line: $(grep '^compliance' run.txt)"
says '"mass": 0.0022' out/summary.json
says 'rod, hextop, iteration 2, units N, mm, MPa' out/density_0002.vtk
says 'units = "N, mm, MPa";' out/config.cfg
says '"compliance": "N mm"' out/summary.json
says '"density": "t/mm^3"' out/summary.json
"$hextop" -q run out/config.cfg output.directory=again || fault "the resolved config does not run"
cmp -s out/density_0002.vtk again/density_0002.vtk || fault "the resolved config gives another design"

"$hextop" verify --made no out/density_0002.vtk rod.cfg --vtk solid.vtk >verify.txt 2>&1 ||
    fault "verify: $(tail -1 verify.txt)"
says 'compliance, N mm' verify.txt
says 'largest displacement, mm' verify.txt
says 'largest von Mises, MPa' verify.txt
says '"stress": "MPa"' out/verify.json
says '0/1 design, units N, mm, MPa' solid.vtk

# Without units, nothing changes and no figure has a unit.
"$hextop" run rod.cfg units= output.directory=plain >plain.txt 2>&1 || fault "run without units"
grep -q 'mm\|MPa' plain.txt && fault "units that nobody stated: $(grep 'mm\|MPa' plain.txt)"
grep -q '"units"' plain/summary.json && fault "units in the summary that nobody stated"
cut -d, -f1-7 out/history.csv >a
cut -d, -f1-7 plain/history.csv >b
cmp -s a b || fault "units change the result"

# The sum of the load fields: force, and moment about a point.
if command -v python3 >/dev/null; then
    "$hextop" -q mesh rod.cfg mesh.vtk output.format=ascii || fault "mesh"
    cat >sums.py <<'END'
text = open("mesh.vtk").read().split("\n")
assert text[1] == "rod, units N, mm, MPa", text[1]
words = "\n".join(text[2:]).split()
def numbers(after, n):
    at = words.index(after)
    at += 3 if after == "POINTS" else 2 if words[at - 1] == "VECTORS" else 4 # else in FIELD
    return [float(w) for w in words[at:at + n]]
n = int(words[words.index("POINTS") + 1])
x = numbers("POINTS", 3 * n)
def resultant(name, about):
    f = numbers(name, 3 * n)
    force, moment = [0.0] * 3, [0.0] * 3
    for a in range(n):
        d = [x[3 * a + i] - about[i] for i in range(3)]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            force[i] += f[3 * a + i]
            moment[i] += d[j] * f[3 * a + k] - d[k] * f[3 * a + j]
    return force, moment
def near(a, b, error):
    assert all(abs(p - q) < error for p, q in zip(a, b)), (a, b)
force, moment = resultant("load_1", (75.0, 10.0, 275.0))
near(force, (100.0, 20.0, 1000.0), 1e-5)
assert abs(moment[1]) < 1e-3, moment # no moment about the pin
force, moment = resultant("load_2", (75.0, 0.0, 400.0))
near(force, (0.0, 5.0, 0.0), 1e-5)
near(moment, (0.0, 9000.0, 700.0), 1e-2)
END
    python3 sums.py || fault "sums of the nodal loads"
fi

# Other systems of units, and the figures named with them.
for case in 'N, m, Pa:kg:N m' 'kN mm GPa:kt:kN mm' 'lbf, in, psi:lbf s^2/in:lbf in' 'kN, m, kPa:t:kN m' \
    'N, mm, MPa, ms:g:N mm' 'uN, um, MPa:kg:uN um' 'N, cm, N/cm^2:N s^2/cm:N cm' 'MPa, N, mm:t:N mm' \
    'kip, in, ksi:kip s^2/in:kip in' 'lbf, ft, psf:lbf s^2/ft:lbf ft'; do
    units=${case%%:*}
    rest=${case#*:}
    "$hextop" check rod.cfg "units=$units" 2>&1 | grep '^units ' >line
    grep -qF "; mass in ${rest%%:*}, density" line || fault "units $units: $(cat line)"
    grep -q "compliance in ${rest#*:}\$" line || fault "units $units: $(cat line)"
done

# Masses are printed in a readable unit, whatever the system's unit of mass: two cubes of about 7.85 g/cm^3.
cat >cubes.cfg <<'END'
mesh = { generator = "cantilever"; nx = 2; ny = 1; nz = 1; };
material = { E = 210000.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; filter = { kind = "none"; }; };
END
for case in 'N, mm, MPa:7.85e-9:15.7 mg' 'N, cm, N/cm^2:7.85e-5:15.7 g' 'lbf, in, psi:7.33e-4:256.736 g' \
    'uN, um, MPa:7.85e-15:15.7 pg' 'kgf, mm, kgf/mm^2:8e-10:15.6906 mg' 'mN, um, GPa:7.85e-18:15.7 pg' \
    'N, m, Pa:7850:15700 kg' 'N, m, Pa:0.4:0.8 kg' 'kN, m, kPa:7.85:15.7 t'; do
    rest=${case#*:}
    "$hextop" check cubes.cfg "units=${case%%:*}" "material.density=${rest%%:*}" >line 2>&1
    grep -qF "; mass ${rest#*:} solid" line || fault "mass of $case: $(grep -e mass -e error line)"
done

# Masses of one line have one unit, and heat has no unit of mass.
for density in 7.85e-9 1e-9 2.5e-6 1.7e-12; do
    for units in 'N, mm, MPa' 'mN, mm, kPa' 'kgf, mm, kgf/mm^2'; do
        "$hextop" check cubes.cfg "units=$units" "material.density=$density" optimization.volume_fraction=0.4 >line 2>&1
        grep -qE '; mass [-0-9.e]+ ([a-z]+) solid, [-0-9.e]+ \1 at the volume fraction$' line ||
            fault "masses with $units, $density: $(grep -e mass -e error line)"
    done
done
cat >heat.cfg <<'END'
physics = "heat";
units = "W, mm, K";
mesh = { generator = "cantilever"; nx = 2; ny = 1; nz = 1; };
material = { conductivity = 0.2; };
supports = ( { set = "left"; temperature = 20.0; } );
loads = ( { source = 0.001; } );
optimization = { volume_fraction = 0.5; filter = { kind = "none"; }; };
END
"$hextop" check heat.cfg >line 2>&1
grep -qxF 'units     W, mm, K; conductivity in W/(mm K), compliance in W K' line ||
    fault "units of heat: $(grep units line)"
# The density has no unit there, so that of a mass contains it.
"$hextop" check heat.cfg material.density=3 optimization.objective=mass optimization.volume_fraction= \
    'optimization.constraints=({kind="mass";max=1.5;},{kind="temperature";set="right";max=80;})' 'optimization.filter={kind="density";radius=1.5;}' >line 2>&1
for text in 'units     W, mm, K; conductivity in W/(mm K), compliance in W K, mass in [density] mm^3' \
    'at most 1.5 [density] mm^3'; do
    grep -qF "$text" line || fault "mass in heat: $(cat line)"
done

# The unit of stress may have no name of its own; then the message does not explain the unit by itself.
"$hextop" check cubes.cfg 'units=kip, ft, ksi' >line 2>&1
grep -qF '"kip, ft, ksi" is not consistent: with kip and ft stresses (E, pressure) are in kip/ft^2; ksi goes with kip and in' line ||
    fault "kip, ft, ksi: $(cat line)"
"$hextop" check cubes.cfg 'units=N, m, MPa' >line 2>&1
grep -qF 'is not consistent: 1 N / m^2 is 1 Pa, so with N and m stresses' line || fault "N, m, MPa: $(cat line)"

echo "$failed failed"
[ $failed = 0 ]
