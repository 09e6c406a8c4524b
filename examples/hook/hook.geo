// A crane hook, meshed by sweeping: a quadrilateral cross-section is turned about the hook's axis and
// pulled along the shank, so elements grow from the throat outwards. Millimetres.
//
//     gmsh -3 hook.geo -setnumber h 3 -o hook.msh
//
// h is the size of an element at the throat; README.md says which h gives how many.
// Physical groups: volume `hook`; surfaces `throat` (where the sling lies), `collar` (fixed).

DefineConstant[ h = {7, Name "Size of an element at the throat"} ];

inner = 35;    // radius of the throat
outer = 105;   // radius of the back of the hook
depth = 60;    // along z
shank = 90;    // length of the shank above the throat's centre
tip = 70 * Pi / 180;  // how far the tip rises from the horizontal on the open side

n_radial = Ceil((outer - inner) / (1.35 * h));
n_depth = 2 * Ceil(depth / (2 * h));
n_bottom = Ceil(Pi * (inner + 10) / h);
n_tip = Ceil(tip * (inner + 10) / h);
n_shank = Ceil(shank / (1.2 * h));

// The cross-section on the side of the shank, in the plane y = 0, from x = inner to x = outer.
Point(1) = {inner, 0, -depth / 2};
Point(2) = {outer, 0, -depth / 2};
Point(3) = {outer, 0, depth / 2};
Point(4) = {inner, 0, depth / 2};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Transfinite Curve {1} = n_radial + 1 Using Progression 1.05;
Transfinite Curve {3} = n_radial + 1 Using Progression 1 / 1.05;
Transfinite Curve {2, 4} = n_depth + 1;
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Surface {1};
Recombine Surface {1};

// Up the shank; down around the throat, in two halves and the tip (a turn has less than 180 degrees).
up[] = Extrude {0, shank, 0} { Surface{1}; Layers{n_shank}; Recombine; };
first[] = Extrude { {0, 0, 1}, {0, 0, 0}, -Pi / 2 } { Surface{1}; Layers{Ceil(n_bottom / 2)}; Recombine; };
second[] = Extrude { {0, 0, 1}, {0, 0, 0}, -Pi / 2 } { Surface{first[0]}; Layers{Ceil(n_bottom / 2)}; Recombine; };
third[] = Extrude { {0, 0, 1}, {0, 0, 0}, -tip } { Surface{second[0]}; Layers{n_tip}; Recombine; };

// An extrusion returns its end, its volume, and the sides of lines 1, 2, 3, 4.
Physical Volume("hook") = {up[1], first[1], second[1], third[1]};
Physical Surface("throat") = {first[5], second[5]};
Physical Surface("collar") = {up[0]};
Mesh.Binary = 1;
