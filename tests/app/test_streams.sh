#!/bin/sh
# Where the program writes: outputs that are symbolic links, and closed standard streams.
#     test_streams.sh HEXTOP
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/scratch.sh"

cat >small.cfg <<'END'
mesh = { generator = "cantilever"; nx = 6; ny = 3; nz = 2; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; rho_min = 0.01; iterations = 2;
                 filter = { kind = "density"; radius = 2.0; }; };
solver = { device = "cpu"; };
output = { directory = "out"; every = 0; };
END

# status WANTED WHAT COMMAND...: checks the exit status; the output is in said.txt.
status() {
    wanted=$1
    what=$2
    shift 2
    "$@" >said.txt 2>&1
    got=$?
    [ $got -eq "$wanted" ] || fault "$what: exit status $got, not $wanted: $(cat said.txt)"
}

says() {
    grep -qF -- "$1" said.txt || fault "$what does not say: $1, but: $(cat said.txt)"
}

# --- links ---

# A link to a file elsewhere through another link, each relative to its own folder; the file keeps its mode.
mkdir -p out far/away
echo old >far/away/real.csv
chmod 640 far/away/real.csv
ln -s away/real.csv far/second.csv
ln -s ../far/second.csv out/history.csv
ln -s "$work/far/summary.json" out/summary.json # its target does not exist yet
status 0 "outputs that are links" "$hextop" run small.cfg
[ -L out/history.csv ] && [ -L far/second.csv ] || fault "a link was replaced"
[ "$(wc -l <far/away/real.csv)" = 3 ] || fault "the history is not behind its link: $(cat far/away/real.csv)"
[ "$(stat -c %a far/away/real.csv)" = 640 ] || fault "mode $(stat -c %a far/away/real.csv), not 640"
[ -L out/summary.json ] && grep -q '"status": "done"' far/summary.json || fault "the summary is not behind its link"
status 0 "outputs that are links, again" "$hextop" run small.cfg
[ -L out/summary.json ] && grep -q '"status": "done"' far/summary.json || fault "the second summary is not behind its link"
[ -z "$(find . -name '*.tmp.*')" ] || fault "temporary files are left: $(find . -name '*.tmp.*')"

echo old >far/mesh.vtk
ln -s far/mesh.vtk mesh.vtk
status 0 "a mesh behind a link" "$hextop" mesh small.cfg mesh.vtk
[ -L mesh.vtk ] || fault "hextop mesh replaced a link"
head -1 far/mesh.vtk | grep -q '^# vtk' || fault "the mesh is not behind its link"

ln -s round.vtk circle.vtk
ln -s circle.vtk round.vtk
status 1 "a circle of links" "$hextop" mesh small.cfg circle.vtk
says "circle.vtk: cannot write: it is a symbolic link that leads back to itself"
[ -L circle.vtk ] && [ -L round.vtk ] || fault "a circle of links was replaced"

ln -s nowhere/at/all.vtk lost.vtk
status 1 "a link into no folder" "$hextop" mesh small.cfg lost.vtk
says "lost.vtk: cannot create 'nowhere/at/all.vtk', the target of this symbolic link: No such file or directory"
[ -L lost.vtk ] || fault "a link into no folder was replaced"

ln -s far folder.vtk
status 1 "a link to a folder" "$hextop" mesh small.cfg folder.vtk
says "folder.vtk: cannot write: it is a directory, not a regular file"

# --- streams ---

# clean FOLDER: the history of a run has three lines of numbers and nothing else.
clean() {
    [ "$(wc -l <"$1/history.csv")" = 3 ] || fault "$1/history.csv has $(wc -l <"$1/history.csv") lines: $(cat "$1/history.csv")"
    awk -F, 'NR > 1 && ($1 != NR - 1 || NF < 10) { exit 1 }' "$1/history.csv" || fault "$1/history.csv: $(cat "$1/history.csv")"
    [ "$(head -c 1 "$1/summary.json")" = "{" ] || fault "$1/summary.json begins otherwise"
    grep -q '"status": "done"' "$1/summary.json" || fault "$1 was not finished"
}

what="a run with stdout closed"
"$hextop" run small.cfg output.directory=closed1 >&- 2>said.txt || fault "$what: exit status $?"
grep -v '^hextop: warning: the design' said.txt && fault "$what says: $(cat said.txt)"
clean closed1
what="a run with stderr closed"
"$hextop" run small.cfg output.directory=closed2 solver.max_iterations=1 2>&- >said.txt || fault "$what: exit status $?"
clean closed2
what="a run with all three closed"
"$hextop" run small.cfg output.directory=closed3 solver.max_iterations=1 <&- >&- 2>&- || fault "$what: exit status $?"
clean closed3
"$hextop" run small.cfg nothing.at=all <&- >&- 2>&-
[ $? -eq 2 ] || fault "a wrong key with all three closed has another exit status"

# Output that cannot be printed makes the command fail.
for command in "check small.cfg" "list" "--version" "--help" "help run"; do
    what="$command with stdout closed"
    # shellcheck disable=SC2086
    "$hextop" $command >&- 2>said.txt
    [ $? -eq 1 ] || fault "$what does not fail"
    says "cannot write to the standard output"
done
"$hextop" check small.cfg nothing.at=all >&- 2>said.txt
[ $? -eq 2 ] || fault "check of a wrong key with stdout closed has another exit status"
"$hextop" check -q small.cfg >&- 2>said.txt || fault "check -q with stdout closed fails: $(cat said.txt)"

[ $failed -eq 0 ] || exit 1
echo "streams: all as it should be"
