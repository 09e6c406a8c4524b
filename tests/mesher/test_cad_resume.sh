#!/bin/sh
# A run of a CAD model that is stopped and resumed. It continues with the kept mesh, or with the same mesh
# made again, but not with another mesh: test_cad_resume.sh HEXTOP SRCDIR. Skipped if gmsh is not installed.
set -u
hextop=$(realpath "$1")
source=$(realpath "$2")
. "$source/tests/lib/counting.sh"
command -v gmsh >/dev/null || {
    echo "SKIPPED: gmsh is not installed"
    exit 77
}

cat >make.geo <<'END'
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 24, 10, 6};
Cylinder(2) = {18, 5, 0, 0, 0, 6, 2.5};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Save "part.step";
Delete All;
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 24, 10, 7};
Save "other.step";
Exit;
END
gmsh - make.geo -v 1 >/dev/null 2>&1
cat >part.cfg <<'END'
mesh = { file = "part.step"; element_size = 2.5; };
sets = ( { name = "wall"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "bore"; cylinder = { point = [18.0, 5.0, 0.0]; axis = [0.0, 0.0, 1.0]; radius = 2.5; }; } );
supports = ( { set = "wall"; fix = "xyz"; } );
loads = ( { set = "bore"; total_force = [0.0, -100.0, 0.0]; } );
optimization = { volume_fraction = 0.5; iterations = 10; change_tolerance = 0.0;
                 filter = { radius = 1.5; unit = "element"; }; };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { every = 10; checkpoint = 0.000001; };
END
cd "$work" || exit 1
run() { # folder, keys and options
    folder=$1
    shift
    "$hextop" run part.cfg "output.directory=$folder" "$@" >out 2>err
}
status() { # status, folder, keys and options
    wanted=$1
    shift
    run "$@"
    got=$?
    [ $got -eq "$wanted" ] || { echo "exit status $got: $(cat out err)" && false; }
}
says() { grep -q -- "$2" "$1" || { echo "$1: $(cat "$1")" && false; }; }
same() { cmp "$1/density_0010.vtk" whole/density_0010.vtk; }

ok "whole run" run whole
ok "first part" run parts optimization.iterations=4
ok "its mesh and its checkpoint" test -s parts/mesh.msh -a -s parts/checkpoint.state
rm -rf gone again
cp -R parts gone
cp -R parts again

HEXTOP_GMSH=/no/such/gmsh ok "second part, without gmsh" run parts --resume
ok "the kept mesh" says out "the mesh kept as parts/mesh.msh"
ok "where it goes on" says out "after iteration 4"
ok "the same design" same parts

mv part.step away.step
ok "the model is gone" run gone --resume
ok "it says so" says out "the file no longer exists; the mesh kept for it as gone/mesh.msh is used"
ok "the same design without the model" same gone
mv away.step part.step

rm again/mesh.msh
ok "the mesh is gone" run again --resume
ok "the same design on the mesh made again" same again

# Another mesh means another run, so resuming is refused and the checkpoint stays.
ok "another size is refused" status 2 parts --resume mesh.element_size=3 optimization.iterations=12
ok "it says why" says err "mesh"
cp other.step part.step
ok "another model is refused" status 2 parts --resume optimization.iterations=12
ok "the checkpoint stays" test -s parts/checkpoint.state

# Stopped by a signal: exit status 3; a resumed run continues as if it had not been stopped.
rm part.step
cp gone/mesh.msh left.msh
mkdir stopped
cp left.msh stopped/mesh.msh
"$hextop" run part.cfg output.directory=stopped optimization.iterations=100000 >out 2>err &
program=$!
for _ in $(seq 300); do
    [ -s stopped/history.csv ] && [ "$(wc -l <stopped/history.csv)" -ge 3 ] && break
    sleep 0.05
done
kill -TERM $program
wait $program
got=$?
ok "stopped by a signal: $got" test $got -eq 3
ok "a checkpoint" test -s stopped/checkpoint.state
end=$(($(tail -1 stopped/history.csv | cut -d, -f1) + 2))
ok "on from there" run stopped --resume optimization.iterations=$end
mkdir straight
cp left.msh straight/mesh.msh
ok "never stopped" run straight optimization.iterations=$end
last=$(printf 'density_%04d.vtk' $end)
ok "the same design after a signal" cmp stopped/$last straight/$last

echo "$n checks, $failed failed"
[ "$failed" = 0 ]
