Point(1)={0,0,0,1}; Point(2)={2,0,0,1}; Point(3)={2,1,0,1}; Point(4)={0,1,0,1};
Line(1)={1,2}; Line(2)={2,3}; Line(3)={3,4}; Line(4)={4,1};
Line Loop(1)={1,2,3,4}; Plane Surface(1)={1};
Transfinite Line{1,3}=5; Transfinite Line{2,4}=3; Transfinite Surface{1}; Recombine Surface{1};
out[]=Extrude{0,0,1}{Surface{1}; Layers{2}; Recombine;};
Physical Volume("part")={out[1]}; Physical Surface("wall")={out[5]}; Physical Surface("end")={out[3]};
Physical Line("edge")={2};
