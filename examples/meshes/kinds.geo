// Every kind of solid: a block of hexahedra, one of tetrahedra, pyramids where they meet, and wedges
// extruded from the triangles on top. Second order with -order 2.
//
//     gmsh -3 kinds.geo -bin -o kinds_41_binary.msh
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Box(2) = {1, 0, 0, 1.5, 1, 1};
Coherence;
b() = Boundary{ Volume{1}; };
e() = Boundary{ Surface{b()}; };
Transfinite Curve{e()} = 2;
Transfinite Surface{b()};
Recombine Surface{b()};
Transfinite Volume{1};
top() = Surface In BoundingBox{0.9, -0.1, 0.9, 2.6, 1.1, 1.1};
out() = Extrude{0, 0, 0.5}{ Surface{top(0)}; Layers{2}; Recombine; };
Physical Volume("part") = Volume{:};
Physical Surface("held") = Surface In BoundingBox{-0.1, -0.1, -0.1, 0.1, 1.1, 1.1};
Physical Surface("right") = Surface In BoundingBox{2.4, -0.1, -0.1, 2.6, 1.1, 1.6};
Physical Surface("lid") = Surface In BoundingBox{0.9, -0.1, 1.4, 2.6, 1.1, 1.6};
Mesh.MeshSizeMax = 1;
