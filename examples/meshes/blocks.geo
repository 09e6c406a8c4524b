// Two transfinite blocks that share a face, of different materials perhaps.
//     gmsh -3 blocks.geo -format msh41 -o blocks.msh
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 2, 1, 1};
Box(2) = {2, 0, 0, 1, 1, 1};
Coherence;
Transfinite Curve{:} = 3;
Transfinite Surface{:};
Recombine Surface{:};
Transfinite Volume{:};
Physical Volume("left") = {1};
Physical Volume("right") = {2};
Physical Surface("between") = {2};
