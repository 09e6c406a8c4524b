#!/bin/sh
# Small jobs on a GPU under compute-sanitizer, each with each of its tools, several at a time. Prints one line per
# job: what the tool found, or the first lines of its report; then one line per tool.
#   sh tests/gpu/sanitize.sh [BUILD [LOGS]]      BUILD: build folder (build-gpu); LOGS: a new one
# WHAT:  "operators pcg design run" (every operator by checkop, test_pcg, test_design, runs of two
#        designs), or some of them; "matrix": the tests of matrices, which take longer
# initcheck does not detect what the bulk copies of a GPU store (fills of matrices, gpu/matrix/gather_rows.cuh), nor that a
# row of a table may be read beyond its used part, so operators that store a matrix are left out of it. checkop finds
# what they do not write, because it poisons memory.
# TOOLS: "memcheck racecheck initcheck synccheck"; LIMIT: seconds per job (100); JOBS: jobs at a time (12)
# Exit status 0: no errors; 1: errors, a failed test, or one without a verdict (a timeout, for example);
# 77: no GPU or no compute-sanitizer that works with it.
set -u
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin

# "N errors", from the last summary of a log; nothing if there is none.
count_errors() {
    sed -n -e 's/^=* *ERROR SUMMARY: \([0-9]* errors*\).*/\1/p' \
        -e 's/^=* *RACECHECK SUMMARY:.*(\([0-9]* errors*\),.*/\1/p' "$1" | tail -n 1
}

# The first lines of the report and of failed checks; for a log without them, its end.
show() {
    grep -e '^=========' -e 'failed' "$1" | grep -v 'COMPUTE-SANITIZER' >"$1.report"
    [ -s "$1.report" ] || tail -n 5 "$1" >"$1.report"
    head -n 20 "$1.report" | sed 's/^/    /'
    echo "    ... $1"
    rm -f "$1.report"
}

# Runs one job and writes its line, and the report unless it is clean, to LOG.verdict. $kernels: part of the name of the
# kernels to check; empty: all.
examine() { # examine LOG TOOL PROGRAM ARGUMENTS...
    log=$1 tool=$2 program=$3
    shift 3
    label="$tool $(echo "$program $*" | sed -e 's,output.directory=[^ ]*,,' -e 's,configs/,,' \
        -e 's,-o [^ ]*,,')"
    api=
    # Errors that CUDA calls return are for the program to handle: it may request memory that is not available.
    [ "$tool" != memcheck ] || api="--report-api-errors no"
    # CUB's kernels would take most of racecheck's time, and are not part of this project.
    only=${kernels:+--kernel-name kns=$kernels}
    [ "$tool" != racecheck ] || [ "${can_exclude:-}" = "" ] || [ -n "$only" ] ||
        only="--kernel-name-exclude kns=cub"
    begin=$(date +%s)
    # shellcheck disable=SC2086 # none, or two words each
    timeout -k 10 "$limit" compute-sanitizer --tool "$tool" $api $only --error-exitcode 99 \
        "$build/$program" "$@" >"$log" 2>&1
    rc=$?
    took=$(($(date +%s) - begin))
    found=$(count_errors "$log")
    if grep -q 'Device not supported' "$log"; then
        echo "no device"
        return
    elif [ "$rc" = 77 ]; then
        echo "skipped $label: $(grep -i -m 1 skip "$log")"
        return
    elif [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
        verdict="not done in $limit s"
    elif [ -z "$found" ]; then
        verdict="no summary, exit status $rc"
    elif [ "$rc" != 0 ] && [ "$rc" != 99 ]; then
        verdict="$found, but it fails with $rc"
    elif [ "$rc" = 99 ] || [ "${found% *}" != 0 ]; then
        verdict=$found
    else
        echo "clean $label${kernels:+ ($kernels)}: $found, $took s"
        return
    fi
    echo "WRONG $label${kernels:+ ($kernels)}: $verdict"
    show "$log"
}

if [ "${1:-}" = --job ]; then # --job LOG KERNELS TOOL PROGRAM ARGUMENTS...
    log=$2 kernels=$3
    [ "$kernels" != all ] || kernels=
    shift 3
    examine "$log" "$@" >"$log.verdict"
    exit 0
fi

build=${1:-build-gpu} limit=${LIMIT:-100}
logs=${2:-$(mktemp -d)}
what=${WHAT:-operators pcg design run}
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
command -v compute-sanitizer >/dev/null || {
    echo "skipped: no compute-sanitizer"
    exit 77
}
[ -x "$build/tests/operator/checkop" ] || {
    echo "no tests in $build"
    exit 1
}
mkdir -p "$logs" || exit 1
rm -f "$logs"/*.verdict "$logs/jobs"
can_exclude=$(compute-sanitizer --help 2>/dev/null | grep -m 1 -e '--kernel-name-exclude' || true)
export build limit can_exclude
n_job=0

job() { # job KERNELS TOOL PROGRAM ARGUMENTS...
    [ -x "$build/$3" ] || {
        echo "not built: $3"
        return
    }
    n_job=$((n_job + 1))
    name=$(printf '%03d-%s' "$n_job" "$2-$(basename "$3")")
    echo "$logs/$name.log $*" >>"$logs/jobs"
}

operators() { # programs that this build has for a GPU
    "$build/app/hextop" list | awk '$2 == "cuda" { print $1 }' | sort -u
}

runs() { # runs TOOL: two designs with otf and multigrid, quadratic elements, mixed precision
    set -- "$1" app/hextop run configs/cantilever.cfg mesh.nx=8 mesh.ny=4 mesh.nz=4 \
        optimization.iterations=2 solver.device=cuda
    job all "$@" solver.preconditioner=multigrid "output.directory=$logs/$1-multigrid"
    job all "$@" solver.precision=mixed optimization.filter.kind=helmholtz \
        solver.preconditioner=jacobi "output.directory=$logs/$1-mixed"
    [ "$1" = initcheck ] || job all "$@" solver.element=quadratic mesh.nx=4 mesh.ny=2 mesh.nz=2 \
        "output.directory=$logs/$1-quadratic"
    job all "$1" app/hextop run "$logs/limits.cfg" "output.directory=$logs/$1-limits"
}

# Two designs by moving asymptotes, with a displacement and the stresses of all elements limited.
cat_limits() {
    cat <<'EOF'
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = {
    objective = "volume";
    start = 0.6;
    iterations = 2;
    constraints = ( { kind = "displacement"; set = "top"; direction = [0.0, 0.0, -1.0]; max = 900.0; },
                    { kind = "displacement"; set = "right"; of = "max"; max = 900.0; },
                    { kind = "stress"; max = 0.5; },
                    { kind = "stress"; max = 0.5; method = "p-norm"; } );
};
solver = { device = "cuda"; };
output = { every = 0; };
EOF
}

# ranges TOOL: rows in ranges, cut on the device, into pinned memory and a file, concurrently with the next ranges
ranges() {
    job all "$1" tests/test_cut cuda quick
    job all "$1" app/hextop matrix configs/cantilever.cfg mesh.nx=8 mesh.ny=4 mesh.nz=4 \
        solver.device=cuda --memory 2e5 -o "$logs/$1-K.npz"
}

# Under racecheck, whole tests of matrices take too long. Instead, these jobs check each fill on a small mesh, gather
# for each kind, and the kernels of lower products.
matrices() { # matrices TOOL
    [ "$1" = initcheck ] || ranges "$1" # bulk copies, see above
    if [ "$1" != racecheck ]; then
        for test in device_pattern matrix fill_kinds assembled interaction; do
            job all "$1" "tests/test_$test" cuda quick
        done
        return
    fi
    job all racecheck tests/test_device_pattern cuda quick
    job all racecheck tests/matrix/fillbench cuda 8 8 8 hex
    job all racecheck tests/matrix/fillbench cuda 6 6 6 tet
    for kind in hex tet wedge layers; do
        job all racecheck tests/matrix/fillbench cuda 4 4 4 "$kind" quadratic
    done
    for fill in stored atomic separate colour nz sort triplets; do
        job all racecheck tests/matrix/fillbench cuda 4 4 4 hex linear "$fill"
    done
    job all racecheck tests/matrix/fillbench cuda 3 3 3 layers quadratic stored
    for kernels in runs_kernel list_kernel; do
        job "$kernels" racecheck tests/test_matrix cuda quick
    done
}

cat_limits >"$logs/limits.cfg"
for tool in $tools; do # long jobs first
    for part in $what; do
        case $part in
        matrix) matrices "$tool" ;;
        run) runs "$tool" ;;
        pcg) # shellcheck disable=SC2046 # none, or a word
            job all "$tool" tests/test_pcg cuda quick $([ "$tool" != initcheck ] || echo matrix-free) ;;
        design) job all "$tool" tests/design/test_design cuda ;;
        esac
    done
done
for tool in $tools; do
    case " $what " in
    *" operators "*) for name in $(operators); do
        case $tool-$name in
        initcheck-bsr* | initcheck-c* | initcheck-ell) continue ;; # see above
        esac
        job all "$tool" tests/operator/checkop cuda --only "$name"
    done ;;
    esac
done
[ "$n_job" != 0 ] || exit 77

xargs -P "${JOBS:-12}" -L 1 sh "$0" --job <"$logs/jobs"
if grep -q '^no device' "$logs"/*.verdict; then
    echo "skipped: compute-sanitizer says that the device is not supported"
    exit 77
fi
cat "$logs"/*.verdict
n_clean=0 n_wrong=0
for tool in $tools; do
    clean=$(cat "$logs"/*.verdict | grep -c "^clean $tool ")
    wrong=$(cat "$logs"/*.verdict | grep -c "^WRONG $tool ")
    echo "$tool: $clean clean, $wrong not"
    n_clean=$((n_clean + clean)) n_wrong=$((n_wrong + wrong))
done
[ "$n_wrong" = 0 ] || exit 1
[ "$n_clean" != 0 ] || exit 77
