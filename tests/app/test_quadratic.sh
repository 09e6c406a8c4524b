#!/bin/bash
# Quadratic elements in the program: run, check and verify support them, and operators that do not are refused.
#     test_quadratic.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
meshes=$(realpath "$2")/examples/meshes
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
value() { # FILE KEY: the first number with that name
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
    # a uniform beam with 4 linear elements over its height is 3 to 10 % too stiff
    a=$(value one_linear/summary.json compliance) b=$(value one_quadratic/summary.json compliance)
    ok "quadratic is softer at $fraction: $a, $b" awk -v a="$a" -v b="$b" 'BEGIN { exit !(b > 1.005 * a && b < 1.1 * a) }'
done
ok "mixed precision is refused" test "$("$hextop" run part.cfg solver.element=quadratic solver.precision=mixed >/dev/null 2>&1; echo $?)" = 2
ok "check" "$hextop" check part.cfg solver.element=quadratic
ok "check counts unknowns" contains stdout "3,435 degrees of freedom held"
ok "check shows points" contains stdout "points"

ok "verify" "$hextop" verify --made no linear/density_0006.vtk linear/config.cfg --element quadratic
ok "verify says it" contains stdout "quadratic hex20, 192 elements, 1,145 points"
ok "verify.json" contains linear/verify.json '"solid_only": false'
ok "verify of the solid alone" "$hextop" verify --made no linear/density_0006.vtk linear/config.cfg --element quadratic-solid --output solid.json
ok "says that" contains stdout "of the largest solid piece, without void"
ok "solid.json" contains solid.json '"solid_only": true'
ok "verify of a quadratic run" "$hextop" verify --made no quadratic/density_0006.vtk quadratic/config.cfg
# the 0/1 design with quadratic elements, requested in two ways
ok "directly" "$hextop" verify --made no linear/density_0006.vtk linear/config.cfg solver.element=quadratic --output direct.json
ok "prints what was replaced" contains stdout "operator auto instead of otf (linear/config.cfg:"
direct=$(sed -n '/"black_white"/,/}/s/.*"compliance": \([-0-9.e+]*\).*/\1/p' direct.json | head -1)
beside=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' linear/verify.json | head -1)
ok "the same compliance" near "$direct" "$beside" 1e-4
alone=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' solid.json | head -1)
ok "without void softer, but little: $beside, $alone" awk -v a="$beside" -v b="$alone" 'BEGIN { exit !(b > a && b < 1.2 * a) }'

# An element given on the command line takes precedence over the operator of a run's config.
for more in "" "--density linear --black-white" "--density linear --solid-only"; do
    # shellcheck disable=SC2086
    ok "analyse $more" "$hextop" analyse linear/config.cfg solver.element=quadratic $more
    ok "analyse $more: said once" test "$(grep -c 'operator auto instead of otf (linear/config.cfg:' stdout)" = 1
done
ok "one that knows it stays" "$hextop" analyse linear/config.cfg solver.element=quadratic solver.operator=csr
ok "nothing is said" test "$(grep -c 'operator auto instead' stdout)" = 0
sed 's/operator = "otf"/operator = "bsr"/' linear/config.cfg >bsr.cfg
ok "of the file too" "$hextop" analyse bsr.cfg solver.element=quadratic
ok "nothing is printed about the file's" test "$(grep -c 'operator auto instead' stdout)" = 0
ok "preconditioners of the registry" test "$(kinds Preconditioners | wc -l)" -ge 2
for precond in $(kinds Preconditioners); do
    ok "$precond knows it" "$hextop" analyse linear/config.cfg solver.element=quadratic solver.preconditioner=$precond
done

# Heat on the whole mesh, with a prescribed and an ambient temperature, requested in two ways.
sed -e 's/^loads.*/loads = ( { source = 0.01; } );/' -e 's/^material.*/physics = "heat"; material = { conductivity = 1.0; };/' \
    -e 's/^supports.*/supports = ( { set = "left"; temperature = 20.0; } );\nconvection = ( { set = "right"; coefficient = 0.1; ambient = 35.0; } );/' \
    -e 's/ rho_min = 0.1;//' -e 's/fields = .*/fields = ["density"]; };/' part.cfg >heat.cfg
ok "heat" "$hextop" run heat.cfg output.directory=heat
ok "verify of heat" "$hextop" verify --made no heat --element quadratic solver.tolerance=1e-10
ok "verify of heat says it" contains stdout "quadratic hex20, 192 elements, 1,145 points"
ok "verify of heat directly" "$hextop" verify --made no heat solver.element=quadratic solver.tolerance=1e-10 --output direct.json
for key in compliance temperature heat_flux; do
    case $key in compliance) shown=compliance ;; *) shown=value ;; esac
    a=$(sed -n "/\"black_white\"/,/\"quadratic\"/{/\"$key\"/,/\"$shown\"/s/.*\"$shown\": \([-0-9.e+]*\).*/\1/p}" direct.json | head -1)
    b=$(sed -n "/\"quadratic\"/,\${/\"$key\"/,/\"$shown\"/s/.*\"$shown\": \([-0-9.e+]*\).*/\1/p}" heat/verify.json | head -1)
    ok "heat, the same $key: $a, $b" near "$b" "$a" 1e-8
done

# Curved edges of a file: two elements of a ring, in two formats, also if only the solid is analysed.
cat >ring.cfg <<'END'
material = { E = 1.0; nu = 0.3; };
sets = ( { name = "start"; plane = { point = [0.0, 0.0, 0.0]; normal = [0.0, 1.0, 0.0]; }; },
         { name = "stop"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "bore"; cylinder = { point = [0.0, 0.0, 0.0]; axis = [0.0, 0.0, 1.0]; radius = 1.0; inner = 1.0; }; } );
supports = ( { set = "start"; fix = "yz"; }, { set = "stop"; fix = "xz"; } );
loads = ( { set = "bore"; pressure = 1.0; } );
optimization = { volume_fraction = 1.0; iterations = 1; rho_min = 0.1; filter = { radius = 0.1; }; };
solver = { device = "cpu"; threads = 1; deterministic = true; tolerance = 1e-12; };
END
for format in inp vtk; do
    for element in linear quadratic; do
        ok "ring, $format, $element" "$hextop" run ring.cfg mesh.file="$meshes/curved.$format" solver.element=$element \
            output.directory=ring_${element}_$format
    done
    ok "$format: curved edges are said" grep -q 'straight with element = "linear", curved with "quadratic"' stdout stderr
done
a=$(value ring_quadratic_inp/summary.json compliance)
b=$(value ring_quadratic_vtk/summary.json compliance)
c=$(value ring_linear_inp/summary.json compliance)
ok "formats: $a, $b" near "$a" "$b" 1e-9
# Lame: p u r L times the angle of the quarter, u = 1.3 p (0.4 r + 4 / r) / 3 at r = 1
ok "ring: $a, linear $c" near "$a" 1.4975 0.02
ok "verify of the ring" "$hextop" verify --made no ring_linear_inp/density_0001.vtk ring_linear_inp/config.cfg --element quadratic
ok "verify of the ring's solid" "$hextop" verify --made no ring_linear_inp/density_0001.vtk ring_linear_inp/config.cfg \
    --element quadratic-solid --output ring_solid.json
b=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' ring_linear_inp/verify.json | head -1)
c=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' ring_solid.json | head -1)
ok "curved in verify: $a, $b, $c" near "$a" "$b" 1e-9
ok "curved in the solid alone: $a, $c" near "$a" "$c" 1e-9

# Supports and forces that a file states at corners and mid-side nodes.
cat >second.cfg <<END
mesh = { file = "$meshes/second.inp"; };
material = { E = 1.0; nu = 0.3; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 1.0; iterations = 1; rho_min = 0.1; filter = { radius = 0.1; }; };
solver = { device = "cpu"; threads = 1; deterministic = true; tolerance = 1e-12; };
END
ok "second.inp" "$hextop" run second.cfg output.directory=second
ok "second.inp, quadratic" "$hextop" run second.cfg output.directory=second_quadratic solver.element=quadratic
for part in quadratic quadratic-solid; do
    ok "verify of second.inp, $part" "$hextop" verify --made no second/density_0001.vtk second/config.cfg --element $part --output $part.json
done
a=$(value second_quadratic/summary.json compliance)
b=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' quadratic.json | head -1)
c=$(sed -n '/"quadratic"/,$s/.*"compliance": \([-0-9.e+]*\).*/\1/p' quadratic-solid.json | head -1)
ok "the file's middles in verify: $a, $b" near "$a" "$b" 1e-9
ok "the file's middles in the solid alone: $a, $c" near "$a" "$c" 1e-9

refused() { # WHAT TEXT COMMAND...: exit status 2, and a message
    local what=$1 text=$2
    shift 2
    "$hextop" "$@" >/dev/null 2>refused.txt
    ok "$what: status" test $? = 2
    ok "$what: message" contains refused.txt "$text"
}
# a mesh that is too large is refused before it is created, because its points and rows would take 6 TB
"$hextop" run part.cfg mesh.nx=800 mesh.ny=800 mesh.nz=800 solver.operator=bsrsym solver.element=quadratic \
    >/dev/null 2>huge.txt
ok "too large: status" test $? != 0
rest=$(sed -n 's/.*host memory (mesh: .*, other data: \([0-9]*\) bytes per element).*/\1/p' huge.txt)
# 233 blocks instead of 27, of 1133 bytes; 4 points of about 320 bytes instead of one node
ok "too large: $rest bytes per element" awk -v b="$rest" 'BEGIN { exit !(b > 10500 && b < 12000) }'
refused compare "'otf' does not support quadratic elements" compare part.cfg solver.element=quadratic --operators otf,bsr
refused matrix "are made in one range" matrix part.cfg solver.element=quadratic --memory 1e5
refused operator "operator 'otf' does not support quadratic elements: use one that stores a matrix (bsr, bsrsym, csr), or auto" \
    verify linear/density_0006.vtk linear/config.cfg solver.element=quadratic solver.operator=otf
refused heat "leaves out void, through which heat flows, too: use --element quadratic with physics = \"heat\"" \
    verify heat --element quadratic-solid
refused word "unknown 'cubic'; valid: linear, quadratic, quadratic-solid" \
    verify linear/density_0006.vtk linear/config.cfg --element cubic
ok "mesh shows the nodes" "$hextop" mesh part.cfg shown.vtk solver.element=quadratic
"$hextop" mesh part.cfg job.inp solver.element=quadratic >/dev/null
ok "a job has quadratic elements" grep -qE "TYPE=C3D(20|10|15)," job.inp
"$hextop" check part.cfg solver.element=quadratic >check.txt 2>/dev/null
ok "check counts the points" test "$(sed -n 's/^elements  \(hex20, .* points\)$/\1/p' check.txt | tr -d ,)" = \
    "hex20 $(sed -n 's/^ *"points": \([0-9]*\),.*/\1/p' quadratic/summary.json) points"
ok "surface needs no solve" "$hextop" surface quadratic/density_0006.vtk part.stl
echo "$n checks, $failed failed"
[ $failed = 0 ]
