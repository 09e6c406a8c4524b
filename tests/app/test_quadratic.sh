#!/bin/bash
# Quadratic elements in the program: run, check and verify take them, operators without them say so.
#     test_quadratic.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/counting.sh"

cat >part.cfg <<'END'
mesh = { generator = "cantilever"; nx = 12; ny = 4; nz = 4; };
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; traction = [0.0, 0.0, -0.01]; } );
passive = ( { set = "hole"; density = 0.1; } );
sets = ( { name = "hole"; box = { min = [7, -1, -1]; max = [9, 5, 1]; }; } );
optimization = { volume_fraction = 0.6; iterations = 6; rho_min = 0.1;
                 filter = { kind = "density"; radius = 1.3; }; };
solver = { device = "cpu"; threads = 1; deterministic = true; };
output = { directory = "out"; fields = ["density", "displacement", "von_mises"]; };
END
value() { # FILE KEY: the first number of that name
    sed -n "s/.*\"$2\": \([-0-9.e+]*\).*/\1/p" "$1" | head -1
}

ok "linear" "$hextop" run part.cfg output.directory=linear
ok "quadratic" "$hextop" run part.cfg output.directory=quadratic solver.element=quadratic
ok "says the cells" contains stdout "hex20"
ok "summary: element" contains quadratic/summary.json '"element": "quadratic"'
ok "summary: points" contains quadratic/summary.json '"points": 1145'
ok "summary: nodes" contains quadratic/summary.json '"nodes": 325'
ok "config says it" grep -q 'element = "quadratic"' quadratic/config.cfg
for fraction in 0.6 1.0; do
    for element in linear quadratic; do
        ok "$element at $fraction" "$hextop" run part.cfg optimization.iterations=1 passive=[] \
            optimization.volume_fraction=$fraction solver.element=$element output.directory=one_$element
    done
    # a uniform beam of 4 linear elements in its height is 3 to 10 % too stiff
    a=$(value one_linear/summary.json compliance) b=$(value one_quadratic/summary.json compliance)
    ok "quadratic is softer at $fraction: $a, $b" awk -v a="$a" -v b="$b" 'BEGIN { exit !(b > 1.005 * a && b < 1.1 * a) }'
done
ok "mixed precision is refused" test "$("$hextop" run part.cfg solver.element=quadratic solver.precision=mixed >/dev/null 2>&1; echo $?)" = 2
ok "check" "$hextop" check part.cfg solver.element=quadratic
ok "check counts unknowns" contains stdout "3,435 degrees of freedom held"
ok "check shows points" contains stdout "points"

ok "verify" "$hextop" verify linear/density_0006.vtk linear/config.cfg --element quadratic
ok "verify says it" contains stdout "quadratic hex20, 192 elements, 1,145 points"
ok "verify.json" contains linear/verify.json '"solid_alone": false'
ok "verify of the solid alone" "$hextop" verify linear/density_0006.vtk linear/config.cfg --element quadratic-solid --output solid.json
ok "says that" contains stdout "of the largest solid piece, without void"
ok "solid.json" contains solid.json '"solid_alone": true'
ok "verify of a quadratic run" "$hextop" verify quadratic/density_0006.vtk quadratic/config.cfg
# 0/1 with quadratic elements, asked for in two ways
ok "directly" "$hextop" verify linear/density_0006.vtk linear/config.cfg solver.element=quadratic \
    solver.operator=auto solver.preconditioner=auto --output direct.json
direct=$(sed -n '/"black_white"/,/}/s/.*"compliance": \([-0-9.e+]*\).*/\1/p' direct.json | head -1)
beside=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' linear/verify.json | head -1)
ok "the same compliance" near "$direct" "$beside" 1e-4
alone=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' solid.json | head -1)
ok "without void softer, but little: $beside, $alone" awk -v a="$beside" -v b="$alone" 'BEGIN { exit !(b > a && b < 1.2 * a) }'

refused() { # WHAT TEXT COMMAND...: exit status 2, and a message
    local what=$1 text=$2
    shift 2
    "$hextop" "$@" >/dev/null 2>refused.txt
    ok "$what: status" test $? = 2
    ok "$what: message" contains refused.txt "$text"
}
refused compare "'otf' has no quadratic elements" compare part.cfg solver.element=quadratic --operators otf,bsr
refused matrix "are made in one range" matrix part.cfg solver.element=quadratic --memory 1e5
refused operator "operator 'otf' has no quadratic elements: those that store a matrix have (bsr, bsrsym, csr), or auto" \
    verify linear/density_0006.vtk linear/config.cfg solver.element=quadratic solver.operator=otf
refused word "unknown 'cubic'; valid: linear, quadratic, quadratic-solid" \
    verify linear/density_0006.vtk linear/config.cfg --element cubic
ok "mesh shows the nodes" "$hextop" mesh part.cfg shown.vtk solver.element=quadratic
ok "surface needs no solve" "$hextop" surface quadratic/density_0006.vtk part.stl
echo "$n checks, $failed failed"
[ $failed = 0 ]
