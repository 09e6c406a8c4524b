// A wall bracket: two bolt holes on the left, an arm with a pin hole on the right, concave flanks.
// A 2D mesh of quadrilaterals only, unstructured, extruded in layers: hexahedra. Millimetres.
//
//     gmsh -3 bracket.geo -setnumber h 3.2 -o bracket.vtk
//     gmsh -3 bracket.geo -setnumber h 4.5 -setnumber tetrahedra 1 -setnumber named 1 -o bracket.msh
//
// h is the size of an element; README.md says which h gives how many. With `tetrahedra` the same part is meshed
// with these, with `named` the file has the surfaces `bolts` and `pin`.

SetFactory("OpenCASCADE");
DefineConstant[ h = {6.9, Name "Size of an element"}, tetrahedra = {0, Name "Tetrahedra"},
                named = {0, Name "Named surfaces"} ];

thickness = 36;

// Upper bolt, pin, lower bolt: centres, holes and the bosses around them.
x[] = {24, 184, 24};
y[] = {62, -18, -62};
hole[] = {8.5, 16, 8.5};
boss[] = {24, 34, 24};

flank = 220; // radius of the concave flanks

// Flank k is the arc that touches the bosses k and k + 1 from outside.
For k In {0 : 1}
  dx = x[k + 1] - x[k];
  dy = y[k + 1] - y[k];
  d = Sqrt(dx * dx + dy * dy);
  a = flank + boss[k];
  b = flank + boss[k + 1];
  along = (d * d + a * a - b * b) / (2 * d);
  across = Sqrt(a * a - along * along);
  cx = x[k] + (along * dx - across * dy) / d;
  cy = y[k] + (along * dy + across * dx) / d;
  Point(10 + k) = {cx, cy, 0};
  Point(20 + k) = {x[k] + boss[k] * (cx - x[k]) / a, y[k] + boss[k] * (cy - y[k]) / a, 0};
  Point(30 + k) = {x[k + 1] + boss[k + 1] * (cx - x[k + 1]) / b,
                   y[k + 1] + boss[k + 1] * (cy - y[k + 1]) / b, 0};
EndFor

// The outline, clockwise from the top of the wall.
Point(1) = {x[0], y[0], 0};
Point(2) = {x[1], y[1], 0};
Point(3) = {x[2], y[2], 0};
Point(4) = {x[0] - boss[0], y[0], 0};
Point(5) = {x[1] + boss[1], y[1], 0};
Point(6) = {x[2] - boss[2], y[2], 0};
Circle(1) = {4, 1, 20};
Circle(2) = {20, 10, 30};
Circle(3) = {30, 2, 5};
Circle(4) = {5, 2, 21};
Circle(5) = {21, 11, 31};
Circle(6) = {31, 3, 6};
Line(7) = {6, 4};
Curve Loop(1) = {1 : 7};

For k In {0 : 2}
  Circle(11 + k) = {x[k], y[k], 0, hole[k]};
  Curve Loop(11 + k) = {11 + k};
EndFor
Plane Surface(1) = {1, 11, 12, 13};

If (tetrahedra)
  solid[] = Extrude {0, 0, thickness} { Surface{1}; };
Else
  layers = Ceil(thickness / h - 0.5);
  solid[] = Extrude {0, 0, thickness} { Surface{1}; Layers{layers}; Recombine; };
  Recombine Surface{1};
EndIf

// The solid alone is saved, no points, lines and faces, but for those that are named.
Physical Volume("bracket") = {solid[1]};
If (named)
  bolts[] = Surface In BoundingBox {15, 53, -1, 33, 71, thickness + 1};
  bolts[] += Surface In BoundingBox {15, -71, -1, 33, -53, thickness + 1};
  Physical Surface("bolts") = bolts[];
  Physical Surface("pin") = Surface In BoundingBox {167, -35, -1, 201, -1, thickness + 1};
EndIf

Mesh.CharacteristicLengthMin = h;
Mesh.CharacteristicLengthMax = h;
Mesh.Algorithm = 6;              // frontal: even sizes
Mesh.RecombinationAlgorithm = 3; // Blossom, quadrilaterals only: no triangle becomes a wedge
Mesh.Binary = 1;
