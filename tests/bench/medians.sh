#!/bin/sh
# Times runs on one GPU that no change may slow down: CB5, LB5, a distorted CB of 8.2 million
# elements, an L-beam of 8 million (which has the most coarse levels), and heat flow from a cube of
# 8.2 million to a point. Each runs several times and gets one line: median and range of the mean
# seconds per design, most PCG iterations of a design, bytes per element.
#   sh tests/bench/medians.sh HEXTOP FOLDER [REPEATS]
set -eu
hextop=$1 out=$2 repeats=${3:-3}
cd "$(dirname "$0")/../.."
mkdir -p "$out"

# number FILE KEY: a number of a summary.json.
number() {
    sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*\$/\1/p" "$1" | head -n 1
}

measure() { # measure NAME CONFIG [KEY=VALUE...]
    name=$1
    shift
    : >"$out/$name"
    for i in $(seq "$repeats"); do
        "$hextop" -q run "$@" solver.device=cuda output.every=0 output.directory="$out/$name-$i"
        # Mean seconds and most iterations over all designs except the first.
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            NR > 2 { n++; s += $at["seconds"]; if ($at["pcg_iterations"] > most) most = $at["pcg_iterations"] }
            END { printf "%.5f %d %s\n", s / n, most, $at["compliance"] }' \
            "$out/$name-$i/history.csv" >>"$out/$name"
    done
    bytes=$(number "$out/$name-1/summary.json" device_bytes)
    elements=$(number "$out/$name-1/summary.json" elements)
    sort -n "$out/$name" | awk -v name="$name" -v bytes="$bytes" -v elements="$elements" '
        { s[NR] = $1; most = $2; c = $3 }
        END { printf "%-14s %.5f s per design (%.5f to %.5f, %d runs), PCG at most %d, compliance %s", name,
                  s[int((NR + 1) / 2)], s[1], s[NR], NR, most, c
              if (bytes && elements) printf ", %.1f B/element", bytes / elements
              printf "\n" }'
}

measure cb5 configs/cantilever.cfg mesh.size=5
measure lb5 configs/lbeam.cfg mesh.size=5
measure cb8m-distorted configs/cantilever.cfg mesh.nx=320 mesh.ny=160 mesh.nz=160 mesh.distort=0.2 \
    optimization.filter.radius=5 optimization.iterations=20

measure lb8m configs/lbeam.cfg mesh.size=0 mesh.nx=500 mesh.ny=50 optimization.filter.radius=5 optimization.iterations=20

cat >"$out/heat.cfg" <<'EOF'
# A cube that is heated everywhere and leaves its heat through a hundredth of one face.
physics = "heat";
units = "W, mm, K";
mesh = { generator = "cantilever"; nx = 202; ny = 202; nz = 202; };
material = { conductivity = 0.4; conductivity_min = 0.0004; };
sets = ( { name = "sink"; box = { min = [0.0, 91.0, 91.0]; max = [0.0, 111.0, 111.0]; }; } );
supports = ( { set = "sink"; temperature = 20.0; } );
loads = ( { source = 1e-4; } );
optimization = {
    volume_fraction = 0.15;
    iterations = 25;
    filter = { kind = "density"; radius = 1.5; };
    continuation = { penalty_start = 1.0; step = 0.5; every = 4; };
};
EOF
measure heat8m "$out/heat.cfg"
