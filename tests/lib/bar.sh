# shellcheck shell=sh
# Sourced by tests of the program, after counting.sh: a part with a closed form.

# A bar of 8 x 4 x 4 pulled by 0.5 per area: E = 2, so the compliance is 0.5^2 * 128 / 2 = 16, and its far corner moves
# by (2, -0.3, -0.3); its density is 1. Writes bar.cfg and runs it in the folder bar.
cat >bar.cfg <<'END'
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
material = { E = 2.0; nu = 0.3; density = 1.0; };
sets = ( { name = "y0"; plane = { point = [0, 0, 0]; normal = [0, 1, 0]; }; },
         { name = "z0"; plane = { point = [0, 0, 0]; normal = [0, 0, 1]; }; } );
supports = ( { set = "left"; fix = "x"; }, { set = "y0"; fix = "y"; }, { set = "z0"; fix = "z"; } );
loads = ( { set = "right"; traction = [0.5, 0.0, 0.0]; } );
optimization = { volume_fraction = 1.0; iterations = 1; filter = { kind = "none"; }; };
solver = { tolerance = 1e-10; };
output = { directory = "bar"; format = "ascii"; };
END
ok "a solid bar" "$hextop" -q run bar.cfg
