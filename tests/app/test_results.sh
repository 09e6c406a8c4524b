#!/bin/sh
# What names a result: a file, a .series, or the folder of a run; and paths that stay valid if files are moved.
#     test_results.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/counting.sh"

cat >part.cfg <<'END'
mesh = { generator = "cantilever"; nx = 6; ny = 3; nz = 3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0, 0, -1]; } );
optimization = { volume_fraction = 0.5; iterations = 5; filter = { radius = 1.5; }; };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "runs/one"; every = 3; };
END
ok "a run" "$hextop" -q run part.cfg
compliance() { awk '$1 == "compliance" { print $2, $3; exit }' stdout; }
json() { sed -n "s/^  \"$1\": \"\\(.*\\)\",*\$/\\1/p" "$2"; }

# verify: the last design, and the config in its folder.
ok "verify of a file" "$hextop" verify --made no runs/one/density_0005.vtk part.cfg --output file.json
expected=$(compliance)
for named in runs/one runs/one/ runs/one/density.vtk.series runs/one/density_0005.vtk; do
    ok "verify $named alone" "$hextop" verify --made no $named
    ok "is that of the last design" test "$(compliance)" = "$expected"
    ok "which it says" grep -qx "result    runs/one/*density_0005.vtk" stdout
done
ok "an earlier one" "$hextop" verify --made no runs/one/density_0003.vtk --output early.json
ok "is another" test "$(compliance)" != "$expected"
ok "KEY=VALUE without a config" "$hextop" verify --made no runs/one loads[0].total_force=[0,0,-2] --output twice.json
ok "counts" near "$(compliance | cut -d' ' -f1)" "$(echo "$expected" | awk '{ print 4 * $1 }')" 1e-4
ok "and is kept" contains twice.json '"loads[0].total_force=[0,0,-2]"'
ok "KEY=VALUE after a config" "$hextop" verify --made no runs/one part.cfg solver.tolerance=1e-6 --output twice.json

# Paths in verify.json: relative to its folder if the files are in it, otherwise absolute.
ok "the result beside it" test "$(json result runs/one/verify.json)" = density_0005.vtk
ok "the config beside it" test "$(json config runs/one/verify.json)" = config.cfg
ok "the result below it" test "$(json result file.json)" = runs/one/density_0005.vtk
mkdir elsewhere
ok "a file elsewhere" "$hextop" verify --made no runs/one part.cfg --output elsewhere/v.json
ok "has whole paths" test "$(json result elsewhere/v.json)" = "$(realpath runs/one/density_0005.vtk)"
ok "of both" test "$(json config elsewhere/v.json)" = "$(realpath part.cfg)"

# The other commands that read results.
ok "surface of a file" "$hextop" surface runs/one/density_0005.vtk file.stl
ok "surface of a folder" "$hextop" surface runs/one folder.stl
ok "says which" grep -qx "result     runs/one/density_0005.vtk" stdout
ok "is the same" cmp file.stl folder.stl
ok "surface of a series" "$hextop" surface runs/one/density.vtk.series series.stl
ok "is the same" cmp file.stl series.stl
ok "matrix of a file" "$hextop" matrix part.cfg --density runs/one/density_0005.vtk -o file.mtx
ok "matrix of a folder" "$hextop" matrix part.cfg --density runs/one -o folder.mtx
ok "is the same" cmp file.mtx folder.mtx
for named in runs/one/density_0005.vtk runs/one runs/one/density.vtk.series; do
    ok "analyse of $named" "$hextop" analyse part.cfg --density $named
    ok "says which" grep -qx "result    runs/one/density_0005.vtk" stdout
    ok "mesh of $named" "$hextop" mesh part.cfg design$((k = ${k:-0} + 1)).inp --threshold 0.2 --density $named
done
ok "are the same" cmp design1.inp design2.inp
ok "are the same" cmp design1.inp design3.inp
ok "initial of a folder" "$hextop" -q run part.cfg optimization.initial=runs/one output.directory=runs/two
ok "is resolved" contains runs/two/config.cfg "initial = \"$(realpath runs/one/density_0005.vtk)\";"
ok "initial of the file" "$hextop" -q run part.cfg optimization.initial=runs/one/density_0005.vtk output.directory=three
ok "is the same" cmp runs/two/density_0005.vtk three/density_0005.vtk

# A surface of two slabs, one of which is loaded but has no support.
sed 's/^loads/passive = ( { set = "left"; skin = 1.0; } ); &/; s,runs/one,slabs,' part.cfg >slabs.cfg
ok "a run" "$hextop" -q run slabs.cfg optimization.iterations=1
ok "its surface" "$hextop" -q surface slabs slabs.stl --threshold 0.95

# The commands that a run prints can be copied into a shell.
ok "a run into a folder with a blank" "$hextop" run part.cfg optimization.iterations=1 output.directory="it's one"
ok "is quoted" contains stdout "hextop verify 'it'\\''s one', hextop surface 'it'\\''s one' part.stl"

# Names that hold no result.
refused() { # WHAT TEXT ARGUMENT...
    what=$1 text=$2
    shift 2
    "$hextop" "$@" >stdout 2>stderr
    ok "$what: exit status 2" test $? = 2
    ok "$what: its message" contains stderr "$text"
}
refused "a folder above" "'runs' is a folder without a density.vtk.series; there is one in runs/" verify runs
refused "an empty folder" "'elsewhere' is a folder without a density.vtk.series; name the output.directory of" \
    surface elsewhere a.stl
refused "nothing of that name" "cannot read 'nowhere'" verify nowhere
cp runs/one/density_0005.vtk elsewhere/
refused "a folder with files alone" "name a file: elsewhere/density_0005.vtk" verify elsewhere
refused "analyse of such" "name a file: elsewhere/density_0005.vtk" analyse part.cfg --density elsewhere
refused "mesh of nothing" "cannot read 'nowhere'" mesh part.cfg a.inp --density nowhere
refused "a load on a piece without support" "set 'right' is on a piece of the surface that is not connected to a support" \
    verify slabs --surface slabs.stl --refine 0
refused "no config beside it" "there is no config.cfg beside elsewhere/density_0005.vtk; name the config of the run" \
    verify elsewhere/density_0005.vtk
printf '{ "files" : [ { "name" : "density_0005.vtk" }, { "name" : "g\\"one.vtk" } ] }\n' >elsewhere/density.vtk.series
refused "a file that is gone" "cannot read 'elsewhere/g\"one.vtk', which elsewhere/density.vtk.series names" \
    surface elsewhere a.stl
echo '{ "files" : [ ] }' >elsewhere/density.vtk.series
refused "an empty series" "elsewhere/density.vtk.series: not a list of files" verify elsewhere/density.vtk.series
refused "initial that holds none" "optimization.initial: $(realpath elsewhere)/density.vtk.series: not a list of files" run part.cfg output.directory=four \
    optimization.initial=elsewhere
ok "no files are left by what was refused" test ! -e four -a ! -e a.stl

echo "$n checks, $failed failed"
[ $failed = 0 ]
