#!/bin/sh
# The target volume is refused if passive elements take all of it through the filter, or if it exceeds what passive
# elements leave. The message gives the least or the largest volume that works. Runs with that volume change the design
# from the first iteration on; a missed volume is reported.
#     test_volume.sh HEXTOP
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/scratch.sh"

cat >ring.cfg <<'END'
mesh = { generator = "cantilever"; nx = 20; ny = 10; nz = 4; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; total_force = [0.0, 0.0, -1.0]; } );
sets = ( { name = "ring"; cylinder = { point = [10, 5, 0]; axis = [0, 0, 1]; radius = 4.5;
                                       inner = 3.0; length = 4; }; } );
passive = ( { set = "ring"; density = 1.0; } );
optimization = { volume_fraction = 0.25; rho_min = 0.001; iterations = 4;
                 filter = { kind = "density"; radius = 2.5; };
                 projection = { beta = 1.0; beta_max = 8.0; every = 2; }; };
solver = { device = "cpu"; };
output = { directory = "out"; every = 0; };
END

# column FOLDER NAME: a column of the history, one line per design.
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i }
                          NR > 1 { print $k }' "$1/history.csv"
}

# says FILE TEXT
says() {
    grep -qF -- "$2" "$1" || fault "$what: does not say: $2, but: $(cat "$1")"
}

# lacks FILE TEXT
lacks() {
    ! grep -qF -- "$2" "$1" || fault "$what: says: $2"
}

# refused FRACTION OVERRIDES...: run and check refuse it with exit status 2; $least is the fraction that works.
refused() {
    fraction=$1
    shift
    for command in run check; do
        "$hextop" $command ring.cfg "$@" optimization.volume_fraction="$fraction" >stdout 2>stderr
        [ $? -eq 2 ] || fault "$what: $command does not refuse $fraction: $(cat stderr)"
        says stderr "ring.cfg: volume_fraction = $fraction "
        says stderr "already take"
    done
    [ ! -e out ] || fault "$what: something is written"
    least=$(sed -n 's/.*set volume_fraction to at least \([0-9.]*\).*/\1/p' stderr)
    [ -n "$least" ] || least=1.0
}

# moves FOLDER OVERRIDES...: the volume is met in every design and all of them differ.
moves() {
    folder=$1
    shift
    "$hextop" run ring.cfg output.directory="$folder" "$@" >stdout 2>stderr ||
        fault "$what: does not run: $(cat stderr)"
    lacks stderr "instead of volume_fraction"
    column "$folder" change | awk '$1 < 1e-3 { exit 1 }' ||
        fault "$what: stands still: $(column "$folder" change | tr '\n' ' ')"
    column "$folder" compliance | awk 'NR > 1 && !($1 < 0.99 * last) { exit 1 } { last = $1 }' ||
        fault "$what: compliance $(column "$folder" compliance | tr '\n' ' ')"
}

# A volume at the limit, at which no design could change, is refused. The volume that the message names runs, with a
# warning; if there is ample room, there is no warning.
spreading='' other=''
for kind in $(kinds Filters); do
    "$hextop" check ring.cfg optimization.filter.kind="$kind" optimization.projection= optimization.volume_fraction=0.01 \
        >stdout 2>stderr
    if grep -qF "as filter '$kind' spreads them" stderr; then spreading="$spreading $kind"; else other="$other $kind"; fi
done
[ -n "$spreading" ] && [ -n "$other" ] || fault "filters that spread passive elements: $spreading; others: $other"
for kind in $spreading; do
    for projection in "optimization.projection.eta=0.5" "optimization.projection="; do
        what="$kind, $projection"
        options="optimization.filter.kind=$kind $projection"
        # shellcheck disable=SC2086
        refused 0.2 $options
        says stderr "cannot be met: the passive elements, as filter '$kind' spreads them, and rho_min"
        # shellcheck disable=SC2086
        moves "$kind-least" $options optimization.volume_fraction="$least" optimization.iterations=3
        says stderr "warning: volume_fraction = $least leaves"
        # shellcheck disable=SC2086
        moves "$kind-ample" $options optimization.volume_fraction=0.4 optimization.iterations=3
        lacks stderr "volume to design"
        # shellcheck disable=SC2086
        "$hextop" check ring.cfg $options optimization.volume_fraction="$least" >stdout 2>stderr ||
            fault "$what: check refuses $least: $(cat stderr)"
        says stderr "warning: volume_fraction = $least leaves"
        says stdout "with the filter, and rho_min take"
        below=$(awk -v l="$least" 'BEGIN { print l - 0.0005 }')
        # shellcheck disable=SC2086
        refused "$below" $options
    done
done
what="a projection to begin with"
refused 0.215
rm -rf out
says stderr "if the projection begins with beta = 8)"

# Linked variables, and filters that do not change densities.
what="a symmetric design"
refused 0.2 'optimization.symmetry=({point=[0,5,0];normal=[0,1,0];})'
moves tied 'optimization.symmetry=({point=[0,5,0];normal=[0,1,0];})' optimization.volume_fraction="$least" \
    optimization.iterations=3
for kind in $other; do
    what=$kind
    taken=$("$hextop" check ring.cfg optimization.filter.kind=$kind optimization.projection= |
        sed -n 's/.*with the filter, and rho_min take \([0-9.]*\).*/\1/p')
    refused "$taken" optimization.filter.kind=$kind optimization.projection=
done

# Without passive elements the least volume is slightly above that of rho_min; slightly less is refused.
for rho_min in 0.001 0.02 0.5; do
    what="rho_min $rho_min alone"
    options="passive= optimization.projection= optimization.filter.kind=sensitivity optimization.rho_min=$rho_min"
    # shellcheck disable=SC2086
    "$hextop" check ring.cfg $options optimization.volume_fraction=$rho_min >stdout 2>stderr && fault "$what: not refused"
    least=$(sed -n 's/.*set volume_fraction to at least \([0-9.]*\).*/\1/p' stderr)
    awk -v l="$least" -v r=$rho_min 'BEGIN { exit !(l > r && l - r < 2e-5) }' || fault "$what: least $least"
    # shellcheck disable=SC2086
    "$hextop" check ring.cfg $options optimization.volume_fraction="$least" >stdout 2>stderr || fault "$what: refuses $least"
    below=$(awk -v l="$least" -v r=$rho_min 'BEGIN { print l - 0.2 * (l - r) }')
    # shellcheck disable=SC2086
    "$hextop" check ring.cfg $options optimization.volume_fraction="$below" >stdout 2>stderr && fault "$what: takes $below"
done
what="a part of rho_min 0.5"
moves dense passive= optimization.projection= optimization.filter.kind=sensitivity optimization.rho_min=0.5 \
    optimization.volume_fraction=0.53 optimization.iterations=3

# Filtered densities above eta increase with beta: the volume is met at first but not to the end, and messages report
# both.
what="less as beta rises"
late="optimization.projection.eta=0.3 optimization.projection.beta_max=32 optimization.volume_fraction"
# shellcheck disable=SC2086
"$hextop" check ring.cfg $late=0.2 >stdout 2>stderr
first=$(sed -n 's/.*already take \([0-9.]*\) of the volume.*/\1/p' stderr)
between=$(awk -v f="$first" 'BEGIN { print 1.02 * f }')
# shellcheck disable=SC2086
"$hextop" run ring.cfg $late="$between" optimization.iterations=12 output.directory=late >stdout 2>stderr ||
    fault "$what: does not run: $(cat stderr)"
says stderr "volume_fraction = $between can be met only at the beginning of the run"
grep -Eq "warning: iteration [0-9]+: the design has a volume of 0\.[0-9]+ instead of volume_fraction = $between" stderr ||
    fault "$what: the first design that misses is not named: $(cat stderr)"
grep -Eq "warning: the volume is not met: the last design has a volume fraction of 0\.[0-9]+ instead of $between " stderr ||
    fault "$what: the last design is not named: $(cat stderr)"
says late/summary.json '"volume_met": false'
says late/summary.json "\"volume_target\": $between"
off=$(column late volume | awk -v w="$between" '$1 > 1.0001 * w || $1 < 0.9999 * w { n++ } END { print n + 0 }')
says late/summary.json "\"designs_off_volume\": $off"
[ "$off" -gt 0 ] || fault "$what: all designs have the volume"
what="ample room"
says density-ample/summary.json '"volume_met": true'
says density-ample/summary.json '"designs_off_volume": 0'

# A volume above what passive elements leave is refused; the message names the largest one that works, which
# filters reduce.
for options in "optimization.filter.kind=sensitivity optimization.projection=" \
    "optimization.filter.kind=density optimization.projection=" "optimization.filter.kind=helmholtz" \
    "optimization.filter.kind=density"; do
    what="too much, $options"
    for command in check run; do
        # shellcheck disable=SC2086
        "$hextop" $command ring.cfg $options 'passive[0].density=0.001' optimization.volume_fraction=0.95 \
            output.directory=much >stdout 2>stderr
        [ $? -eq 2 ] || fault "$what: $command does not refuse it: $(cat stderr)"
        says stderr "ring.cfg: volume_fraction = 0.95 cannot be met: the passive elements"
    done
    [ ! -e much ] || fault "$what: something is written"
    most=$(sed -n 's/.*; set volume_fraction to at most \([0-9.]*\), or.*/\1/p' stderr)
    # shellcheck disable=SC2086
    "$hextop" run ring.cfg $options 'passive[0].density=0.001' optimization.volume_fraction="$most" \
        optimization.iterations=3 output.directory=most >stdout 2>stderr || fault "$what: $most does not run: $(cat stderr)"
    lacks stderr "instead of volume_fraction"
    above=$(awk -v m="$most" 'BEGIN { print m + 0.0003 }')
    # shellcheck disable=SC2086
    "$hextop" check ring.cfg $options 'passive[0].density=0.001' optimization.volume_fraction="$above" >stdout 2>stderr &&
        ! grep -q "can be met only at the beginning of the run" stderr && fault "$what: $above is not refused"
    # shellcheck disable=SC2086
    "$hextop" check ring.cfg $options 'passive[0].density=0.001' optimization.volume_fraction="$most" >stdout 2>stderr
    says stdout "with passive elements it is at most 0."
done
# The message names only the limit that is exceeded, and the number in it is accepted.
what="passive of 0.4"
"$hextop" check ring.cfg optimization.filter.kind=sensitivity optimization.projection= 'passive[0].density=0.4' \
    optimization.volume_fraction=0.99 >stdout 2>stderr
[ $? -eq 2 ] || fault "$what: not refused: $(cat stderr)"
most=$(sed -n 's/.*the passive elements leave at most \(0\.[0-9]*\) of the volume; set volume_fraction to at most \1, or.*/\1/p' stderr)
[ -n "$most" ] || fault "$what: $(cat stderr)"
lacks stderr void
"$hextop" check ring.cfg optimization.filter.kind=sensitivity optimization.projection= 'passive[0].density=0.4' \
    optimization.volume_fraction="$most" >stdout 2>stderr || fault "$what: $most is refused: $(cat stderr)"
what="below passive and rho_min"
refused 0.01 optimization.filter.kind=sensitivity optimization.projection=
says stderr "the passive elements and rho_min already take"
"$hextop" check ring.cfg optimization.filter.kind=sensitivity optimization.projection= \
    optimization.volume_fraction="$least" >stdout 2>stderr || fault "$what: $least is refused: $(cat stderr)"
what="no void"
"$hextop" check ring.cfg optimization.volume_fraction=1 >stdout 2>stderr || fault "$what: $(cat stderr)"

[ $failed = 0 ]
