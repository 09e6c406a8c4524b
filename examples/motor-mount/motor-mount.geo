// A motor mount as one would draw it (mm): a foot with four bolt holes, an upright plate with the pilot bore (95 mm) and
// the four screw holes (M10 on 115 mm) of an IEC 80 motor with a flange B14, and a cheek on each side. Shaft and pulley lie
// between the cheeks. gmsh writes motor-mount.step.
//     gmsh -0 examples/motor-mount/motor-mount.geo
SetFactory("OpenCASCADE");

Box(1) = {0, 0, 0, 130, 150, 18};                            // foot
Box(2) = {0, 0, 0, 18, 150, 160};                            // plate; the motor is at x < 0
// A cheek: a plane figure in x and z, 22 thick.
Point(101) = {11, 0, 11};
Point(102) = {130, 0, 11};
Point(103) = {130, 0, 40};
Point(104) = {40, 0, 160};
Point(105) = {11, 0, 160};
Line(101) = {101, 102};
Line(102) = {102, 103};
Line(103) = {103, 104};
Line(104) = {104, 105};
Line(105) = {105, 101};
Curve Loop(101) = {101:105};
Plane Surface(101) = {101};
near() = Extrude {0, 22, 0} { Surface{101}; };
far() = Translate {0, 128, 0} { Duplicata { Volume{near(1)}; } };
body() = BooleanUnion{ Volume{1}; Delete; }{ Volume{2, near(1), far(0)}; Delete; };

inner() = Curve In BoundingBox {17, 21, 17, 19, 129, 19};    // between foot and plate
body() = Fillet{ body(0) }{ inner() }{ 9 };

r = 115 / 2 * Sqrt(0.5);
For i In {-1:1:2}
    For j In {-1:1:2}
        Cylinder(20 + 2 * i + j) = {-1, 75 + i * r, 92 + j * r, 30, 0, 0, 5.5};               // screws of the motor
        Cylinder(30 + 2 * i + j) = {80 + j * 30, 75 + i * 36, -1, 0, 0, 30, 8.5};             // bolts M16 of the foot
    EndFor
EndFor
Cylinder(40) = {-1, 75, 92, 30, 0, 0, 47.5};                                                // pilot bore
part() = BooleanDifference{ Volume{body(0)}; Delete; }{ Volume{17, 19, 21, 23, 27, 29, 31, 33, 40}; Delete; };

Save "motor-mount.step";
Exit;
