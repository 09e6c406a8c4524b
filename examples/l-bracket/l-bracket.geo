// An L-bracket as one would draw it (mm): a leg at the wall with two counterbored bolt holes, a shelf that ends in an eye
// for a pin, a fillet in the corner. gmsh writes l-bracket.step.
//     gmsh -0 examples/l-bracket/l-bracket.geo
SetFactory("OpenCASCADE");

Box(1) = {0, 0, 0, 28, 60, 110};                             // the leg; the wall is the plane x = 0
Box(2) = {0, 0, 0, 96, 60, 28};                              // the shelf
Cylinder(3) = {96, 0, 14, 0, 60, 0, 14};                     // its round end, about the pin
body() = BooleanUnion{ Volume{1}; Delete; }{ Volume{2, 3}; Delete; };

corner() = Curve In BoundingBox {27, -1, 27, 29, 61, 29};    // x = z = 28
body() = Fillet{ body(0) }{ corner() }{ 14 };

For i In {0:1}
    Cylinder(11 + i) = {-1, 15 + 30 * i, 92, 40, 0, 0, 5.5};    // bolts M10
    Cylinder(21 + i) = {12, 15 + 30 * i, 92, 40, 0, 0, 9};      // their heads
EndFor
Cylinder(31) = {96, -1, 14, 0, 62, 0, 8};                    // the eye
part() = BooleanDifference{ Volume{body(0)}; Delete; }{ Volume{11:12, 21:22, 31}; Delete; };

Save "l-bracket.step";
Exit;
