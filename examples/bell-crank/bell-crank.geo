// A bell crank: a plate with three hubs that are thicker than it. A mesh of quadrilaterals, unstructured in the plate,
// is pulled up in layers; the hubs' rings are pulled further on both sides. Millimetres.
//
//     gmsh -3 bell-crank.geo -setnumber h 3 -o bell-crank.msh
//
// h is the size of an element; README.md says which h gives how many.
// Physical groups: volumes `web` (to be designed), `hubs`; surfaces `pivot`, `input`, `output` (the bores).

DefineConstant[ h = {6, Name "Size of an element"} ];

web = 24;   // thickness of the plate
boss = 12;  // how far the hubs stand out on each side

// Pivot, input, output: centres, bores and hubs.
x[] = {0, -130, 40};
y[] = {0, 25, 110};
bore[] = {16, 9, 9};
hub[] = {30, 20, 20};

// The outline: straight lines that touch neighbouring hubs from outside, and arcs around the hubs. The
// order input, pivot, output runs counter-clockwise seen from +z.
turn[] = {1, 0, 2};
For k In {0 : 2}
  i = turn[k];
  j = turn[(k + 1) % 3];
  dx = x[j] - x[i];
  dy = y[j] - y[i];
  d = Sqrt(dx * dx + dy * dy);
  // the outward normal of the line: the right-hand side of i -> j, tilted by the difference of the radii
  s = (hub[i] - hub[j]) / d;
  c = Sqrt(1 - s * s);
  nx = (dy * c + dx * s) / d;
  ny = (-dx * c + dy * s) / d;
  Point(20 + 2 * k) = {x[i] + hub[i] * nx, y[i] + hub[i] * ny, -web / 2};
  Point(21 + 2 * k) = {x[j] + hub[j] * nx, y[j] + hub[j] * ny, -web / 2};
EndFor
For k In {0 : 2}
  Point(10 + k) = {x[k], y[k], -web / 2};
EndFor
Line(1) = {20, 21};
Circle(2) = {21, 10, 22};
Line(3) = {22, 23};
Circle(4) = {23, 12, 24};
Line(5) = {24, 25};
Circle(6) = {25, 11, 20};
Curve Loop(1) = {1 : 6};

// A circle of radius r about hub k: points and arcs from `first` on, a curve loop of that number.
Macro Ring
  For q In {0 : 3}
    Point(first + q) = {x[k] + r * Cos(q * Pi / 2), y[k] + r * Sin(q * Pi / 2), -web / 2};
  EndFor
  For q In {0 : 3}
    Circle(first + q) = {first + q, 10 + k, first + (q + 1) % 4};
  EndFor
  Curve Loop(first) = {first : first + 3};
Return

// Each hub is a ring between its bore and a circle a little inside the outline, in four quarters of
// regular quadrilaterals; the plate is the rest.
For k In {0 : 2}
  rim = hub[k] - 5;
  n_around = 2 * Ceil(rim * Pi / 4 / h);
  n_across = Ceil((rim - bore[k]) / h);
  first = 100 + 10 * k;
  r = bore[k];
  Call Ring;
  first = 200 + 10 * k;
  r = rim;
  Call Ring;
  Transfinite Curve {100 + 10 * k : 103 + 10 * k, 200 + 10 * k : 203 + 10 * k} = n_around + 1;
  For q In {0 : 3}
    Line(300 + 10 * k + q) = {100 + 10 * k + q, 200 + 10 * k + q};
    Transfinite Curve {300 + 10 * k + q} = n_across + 1;
  EndFor
  For q In {0 : 3}
    side = 300 + 10 * k + q;
    next = 300 + 10 * k + (q + 1) % 4;
    Curve Loop(side) = {side, 200 + 10 * k + q, -next, -(100 + 10 * k + q)};
    Plane Surface(side) = {side};
    Transfinite Surface {side};
    Recombine Surface {side};
  EndFor
EndFor
Plane Surface(1000) = {1, 200, 210, 220};
Recombine Surface {1000};

n_web = 2 * Ceil(web / (2 * h));
n_boss = Ceil(boss / h);
plate[] = Extrude {0, 0, web} { Surface{1000}; Layers{n_web}; Recombine; };
hubs[] = {};
// An extruded quarter returns its top, its volume, and the sides of its four curves: the bore's is the last.
For k In {0 : 2}
  wall~{k}[] = {};
  For q In {0 : 3}
    side = 300 + 10 * k + q;
    middle[] = Extrude {0, 0, web} { Surface{side}; Layers{n_web}; Recombine; };
    upper[] = Extrude {0, 0, boss} { Surface{middle[0]}; Layers{n_boss}; Recombine; };
    lower[] = Extrude {0, 0, -boss} { Surface{side}; Layers{n_boss}; Recombine; };
    hubs[] += {middle[1], upper[1], lower[1]};
    wall~{k}[] += {middle[5], upper[5], lower[5]};
  EndFor
EndFor

Physical Volume("web") = {plate[1]};
Physical Volume("hubs") = {hubs[]};
Physical Surface("pivot") = {wall_0[]};
Physical Surface("input") = {wall_1[]};
Physical Surface("output") = {wall_2[]};

Mesh.CharacteristicLengthMin = h;
Mesh.CharacteristicLengthMax = h;
Mesh.Algorithm = 1;              // adapts; with Blossom it left quadrilaterals only for the h of README.md
Mesh.RecombinationAlgorithm = 1; // Blossom
Mesh.Binary = 1;
