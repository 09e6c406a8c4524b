// An L-shaped plate: recombined quadrangles, extruded into hexahedra, a group of each dimension.
//     gmsh -3 lplate.geo -format msh41 -o lplate.msh        msh22: the older format
//     gmsh -3 lplate.geo -format msh41 -bin -o lplate.msh   binary
h = 1.0;
Point(1) = {0, 0, 0, h};
Point(2) = {4, 0, 0, h};
Point(3) = {4, 2, 0, h};
Point(4) = {2, 2, 0, h};
Point(5) = {2, 4, 0, h};
Point(6) = {0, 4, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Curve Loop(1) = {1, 2, 3, 4, 5, 6};
Plane Surface(1) = {1};
Recombine Surface{1};
Mesh.Algorithm = 6;
Mesh.RecombinationAlgorithm = 3;
out[] = Extrude {0, 0, 1} { Surface{1}; Layers{2}; Recombine; };
Physical Volume("plate") = {out[1]};
Physical Volume("all") = {out[1]}; // in two groups
Physical Surface("top end") = {out[6]};
Physical Surface(7) = {out[3]}; // without a name: "surface 7"
Physical Curve("edge") = {6};
Physical Point("corner") = {1};
