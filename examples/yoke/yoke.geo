// A yoke: an eye, an arm and a fork for a pin, of solids from a CAD kernel, meshed with tetrahedra.
// Millimetres.
//
//     gmsh -3 yoke.geo -setnumber h 2 -o yoke.msh
//
// A STEP file takes the place of the lines down to the holes: Merge "part.step"; then the volume has
// the number 1. Physical groups: volume `yoke`; surfaces `eye` and `fork`, the insides of the holes.

SetFactory("OpenCASCADE");
DefineConstant[ h = {4, Name "Size of an element"} ];

Box(1) = {0, -14, -9, 100, 28, 18};
Cylinder(2) = {0, 0, -9, 0, 0, 18, 24};
Cylinder(3) = {100, 0, -15, 0, 0, 30, 20};
BooleanUnion(4) = { Volume{1}; Delete; }{ Volume{2, 3}; Delete; };
Cylinder(5) = {0, 0, -20, 0, 0, 40, 11};
Cylinder(6) = {100, 0, -20, 0, 0, 40, 8};
Box(7) = {76, -30, -5, 60, 60, 10};
BooleanDifference(8) = { Volume{4}; Delete; }{ Volume{5, 6, 7}; Delete; };

Physical Volume("yoke") = {8};
Physical Surface("eye") = Surface In BoundingBox {-11.1, -11.1, -9.1, 11.1, 11.1, 9.1};
Physical Surface("fork") = Surface In BoundingBox {91.9, -8.1, -15.1, 108.1, 8.1, 15.1};

Mesh.MeshSizeMin = h;
Mesh.MeshSizeMax = h;
Mesh.Binary = 1;
