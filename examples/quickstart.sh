#!/bin/sh
# Builds hextop (installing what is missing on Debian, as root or with sudo), optimizes a small bracket and
# analyses the result as a solid part. Run it from any folder: sh examples/quickstart.sh
set -eu
cd "$(dirname "$0")/.."
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin

sh tests/install_deps.sh

if [ -f build/build.ninja ]; then
    meson setup --reconfigure build || meson setup --wipe build
else
    meson setup build --buildtype=release
fi
meson compile -C build hextop:executable # without the tests
# Threads that spin while they wait slow each other down if the CPU is also used by others.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
build/app/hextop run configs/first.cfg
build/app/hextop verify out/first

here=$(pwd)
cat <<END

Done. The result:
  $here/out/first/density.vtk.series
In ParaView: open it, Apply, then Filters > Threshold on density from 0.9 to 1, Apply.
Without ParaView, a picture (Debian packages python3-vtk9, python3-numpy, xvfb, xauth):
  cd $here
  python3 examples/paraview/render.py out/first/density.vtk.series first.png
END
