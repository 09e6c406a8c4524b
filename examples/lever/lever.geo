// A lever of every kind of element: an arm of hexahedra, a head with a hole of tetrahedra, pyramids where
// they meet, and a pad of wedges, extruded from the triangles at the head's end. Millimetres.
//
//     gmsh -3 lever.geo -setnumber h 2 -o lever.msh
//
// Physical groups: volume `lever`; surfaces `root` (the arm's end), `hole`, `pad` (the top of the wedges).

SetFactory("OpenCASCADE");
DefineConstant[ h = {4, Name "Size of an element"} ];

Box(1) = {0, 0, 0, 100, 24, 40};
Box(2) = {100, 0, 0, 40, 24, 40};
Cylinder(3) = {122, -5, 20, 0, 34, 0, 10};
BooleanDifference(4) = { Volume{2}; Delete; }{ Volume{3}; Delete; };
Coherence;

// Quadrilaterals without freedom make hexahedra; the head's other faces stay triangles.
sides() = Boundary{ Volume{1}; };
lines() = Boundary{ Surface{sides()}; };
For i In {0:#lines() - 1}
    box() = BoundingBox Curve{Abs(lines(i))};
    Transfinite Curve{Abs(lines(i))} = Ceil((box(3) - box(0) + box(4) - box(1) + box(5) - box(2)) / h) + 1;
EndFor
Transfinite Surface{sides()};
Recombine Surface{sides()};
Transfinite Volume{1};

end() = Surface In BoundingBox {139.9, -0.1, -0.1, 140.1, 24.1, 40.1};
pad[] = Extrude {16, 0, 0} { Surface{end(0)}; Layers{Ceil(16 / h)}; Recombine; };

Physical Volume("lever") = Volume{:};
Physical Surface("root") = Surface In BoundingBox {-0.1, -0.1, -0.1, 0.1, 24.1, 40.1};
Physical Surface("hole") = Surface In BoundingBox {111.9, -0.1, 9.9, 132.1, 24.1, 30.1};
Physical Surface("pad") = Surface In BoundingBox {139.9, -0.1, 39.9, 156.1, 24.1, 40.1};

Mesh.MeshSizeMin = h;
Mesh.MeshSizeMax = h;
Mesh.Binary = 1;
