#!/bin/sh
# Ninja rebuilds a CUDA object if a header that it includes has changed, and only then.
#     test_depfiles.sh SRCDIR
set -u
src=$(realpath "$1")
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
for tool in nvcc meson ninja; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
. "$(dirname "$0")/../lib/scratch.sh"

mkdir tree
for item in app core filters gpu lib meson.build meson_options.txt; do cp -R "$src/$item" tree/; done
meson setup build tree -Dcuda=enabled -Dgpu_arch=90 -Dgpu_optimise=false -Dtests=false >log 2>&1 || {
    cat log
    fault "meson setup"
}
object=$(ninja -C build -t targets all | sed -n 's/^\([^ ]*rigid_set_cuda\.cu\.o\): .*/\1/p')
ninja -C build "$object" >log 2>&1 || {
    cat log
    fault "the object is not built"
}

# compiles_after FILE: touches the file; prints how often the object is then compiled, 0 or 1.
compiles_after() {
    sleep 1.1 # on file systems that store whole seconds
    touch "$(find tree -name "$1")"
    ninja -C build -n "$object" | grep -c 'Compiling Cuda object'
}
[ "$(compiles_after galerkin_cuda.cuh)" = 0 ] || fault "built again after a header that it does not include"
[ "$(compiles_after sums_cuda.cuh)" = 1 ] || fault "not built again after gpu/device/sums_cuda.cuh"
ninja -C build "$object" >log 2>&1
[ "$(compiles_after rigid_set.h)" = 1 ] || fault "not built again after rigid_set.h, which lies in core"

[ "$failed" = 0 ]
