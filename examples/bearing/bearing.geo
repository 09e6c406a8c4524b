// A bearing bracket: foot with two bolt holes, wall with a bearing seat and a bush, a rib between (mm).
// Gmsh writes bearing.step; in the one beside it, curves in the parameters of faces are left out, and
// the solids have names.
SetFactory("OpenCASCADE");

foot = 1; wall = 2; rib = 3; seat = 4;
Box(foot) = {0, 0, 0, 80, 60, 10};
Box(wall) = {0, 0, 0, 12, 60, 50};
Cylinder(seat) = {0, 30, 50, 22, 0, 0, 22};

// The rib: a triangle 8 thick under the seat.
Point(101) = {11, 26, 9};
Point(102) = {70, 26, 9};
Point(103) = {11, 26, 34};
Line(101) = {101, 102};
Line(102) = {102, 103};
Line(103) = {103, 101};
Curve Loop(101) = {101, 102, 103};
Plane Surface(101) = {101};
r() = Extrude {0, 8, 0} { Surface{101}; };

body() = BooleanUnion{ Volume{foot}; Delete; }{ Volume{wall, seat, r(1)}; Delete; };

Cylinder(11) = {-1, 30, 50, 30, 0, 0, 14};
Cylinder(12) = {55, 12, -1, 0, 0, 12, 5};
Cylinder(13) = {55, 48, -1, 0, 0, 12, 5};
part() = BooleanDifference{ Volume{body()}; Delete; }{ Volume{11, 12, 13}; Delete; };

// The bush in the seat: a solid of its own, which touches the bore.
Cylinder(21) = {0, 30, 50, 22, 0, 0, 14};
Cylinder(22) = {-1, 30, 50, 24, 0, 0, 11};
bush() = BooleanDifference{ Volume{21}; Delete; }{ Volume{22}; Delete; };

Save "bearing.step";
Exit;
