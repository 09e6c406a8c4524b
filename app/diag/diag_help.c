/* What each warning measures and means, for `hextop help CODE`. doc/commands.md has the same rows,
 * which test_help.sh compares. */
#include "diag.h"

const hx_diag_words hx_diag_help[HX_N_DIAG] = {
    [HX_DIAG_POOR_ELEMENTS] = {"worst scaled Jacobian", "< 0.2",
                               "slow solves, inaccurate stresses"},
    [HX_DIAG_BODIES] = {"bodies that share no node", "> 1", "each needs its own supports"},
    [HX_DIAG_HINGES] =
        {"nodes whose elements share no face there", "> 0",
         "such a joint turns freely: the part is connected there at points or edges only",
         "remesh the joint so that its elements share faces"},
    [HX_DIAG_THIN_TETRAHEDRA] = {"share of tetrahedra without an interior corner", "> 0.5",
                                 "walls about one element thick; linear elements are too stiff"},
    [HX_DIAG_FAR_FROM_ORIGIN] = {"rounding of the coordinates, in elements", "> 1e-6",
                                 "refused from 1e-3"},
    [HX_DIAG_UNIT] = {"E or density, if units are stated", "",
                      "stiffer than diamond, or lighter than air; the remedy is the value "
                      "converted from SI units"},
    [HX_DIAG_LOAD_ON_SUPPORT] = {"share of a case's force on held nodes", "> 0.1",
                                 "the supports take it; a case held entirely is refused",
                                 "load nodes that no support holds, or fix fewer directions"},
    [HX_DIAG_WEIGHT_ONLY] =
        {"load cases whose only loads are by mass, without passive solid, if the compliance is "
         "minimized",
         "> 0", "less material is always stiffer under its own weight, so the best design is none"},
    [HX_DIAG_EXPANSION] =
        {"load cases with a temperature change whose compliance is minimized or limited", "> 0",
         "the load grows with the stiffness, so less material, grey or none, has less compliance"},
    [HX_DIAG_FREE_OUTPUT] =
        {"nodes of a set whose displacement along a direction is minimized, if it has neither a "
         "spring nor a load along it",
         "> 0",
         "nothing resists the output, so the best mechanism transmits no force and may not be "
         "connected to it",
         "add a spring with the stiffness of what the part is to move"},
    [HX_DIAG_SOFT_PORT] =
        {"nodes of such a set with a spring, if no passive solid element and no load is there",
         "> 0", "the displacement may be that of grey or void",
         "make the elements there passive solid"},
    [HX_DIAG_PASSIVE_VOID_LOAD] = {"loaded nodes in passive void", "> 0",
                                   "the load acts on void, so the compliance measures the void"},
    [HX_DIAG_PASSIVE_VOID_SUPPORT] = {"nodes of a support that lies entirely in passive void",
                                      "> 0", "the support holds nothing but void"},
    [HX_DIAG_VOID_CUTS] =
        {"share of a case's force on pieces that passive void cuts off and that can move", "> 0",
         "void carries them. What supports, springs and convection hold does not count; pieces "
         "joined by a rigid set count as one; functions of degree p of a spline connect across "
         "fewer than p void spans; pieces that only edges or points connect count as cut off by "
         "hinges (limit 0.01; not for splines or meshes in parts). 1 if given displacements or "
         "temperatures strain only void. `analyse` warns of it too",
         "remove the passive void between the load and the supports"},
    [HX_DIAG_FORCED_SOLID] =
        {"volume of the elements behind loads and of passive solid, over the target volume", "> 1",
         "every 0/1 design has these elements, so `verify`, `surface`, `analyse` and `mesh` refuse "
         "the result without `--preserve` or `--threshold`; `run` prints its commands with the "
         "option that is needed",
         "raise `optimization.volume_fraction`, or load fewer elements"},
    [HX_DIAG_NEAR_INCOMPRESSIBLE] = {"nu, with linear elements", "> 0.49", "volumetric locking"},
    [HX_DIAG_FILTER_SMALL] = {"radius in elements", "< 1.5", "reaches no neighbour: checkerboards"},
    [HX_DIAG_FILTER_LARGE] = {"radius in elements", "> 10",
                              "a radius above the size of the part is refused"},
    [HX_DIAG_FILTER_SPLINE] =
        {"radius over half of the p + 1 spans over which functions of degree p reach", "< 1",
         "functions bridge narrower gaps: the design may fall into pieces"},
    [HX_DIAG_NO_IMAGE] =
        {"share of elements without an image by symmetry or repetition", "> 0.1",
         "such elements keep their own density, so the design is not symmetric or repeated there"},
    [HX_DIAG_NOT_SYMMETRIC] =
        {"share of elements off their image", "> 0.1",
         "they share the density of an element elsewhere",
         "`mesh.mirrored=true` if a CAD model's halves agree; otherwise "
         "mesh one half or copy and mirror or repeat it, or remove the symmetry, "
         "repetition or extrusion"},
    [HX_DIAG_TOO_FEW_ITERATIONS] = {"iterations", "",
                                    "penalty or beta, as named, will not reach its last value",
                                    "raise `optimization.iterations`, or take larger or more "
                                    "frequent steps of penalty and beta"},
    [HX_DIAG_CHANGE_TOLERANCE] = {"`optimization.change_tolerance`", "> 0.05",
                                  "the run ends before designs converge",
                                  "`optimization.change_tolerance=0.01` is usual"},
    [HX_DIAG_SOFT_VOID] =
        {"`rho_min` to the power of `penalty`", "< 1e-14",
         "double precision hardly resolves void: PCG may converge slowly or break down",
         "use a larger `optimization.rho_min`, or a smaller penalty"},
    [HX_DIAG_TOLERANCE] = {"`solver.tolerance`, relative", "> 1e-3", "refused from 1"},
    [HX_DIAG_TOLERANCE_COMPLIANCE] = {"`solver.tolerance` with `criterion = \"compliance\"`",
                                      "> 5e-6", "refused from 1"},
    [HX_DIAG_THREADS] = {"threads per core", "> 1",
                         "more than 8 per core, and more than 64, are refused"},
    [HX_DIAG_MEMORY] = {"share of the free host memory needed", "> 0.9",
                        "the run may end by lack of memory"},
    [HX_DIAG_DISK] = {"share of the free disk needed", "> 1",
                      "the run may end without its results"},
    [HX_DIAG_PCG] = {"designs with a solve that stopped early", "> 0",
                     "the solve ended before its tolerance: compliance and sensitivities of that "
                     "design are inaccurate"},
    [HX_DIAG_NO_INFLUENCE] =
        {"difference between the largest and smallest compliance of all designs, relative to the "
         "larger one",
         "< 1e-5",
         "a rigid coupling spans the part, or springs are far softer than it: the design is "
         "arbitrary, and no other warning judges it. Not for runs from `optimization.initial`",
         "let the loads deform elements that are not passive"},
    [HX_DIAG_INITIAL_FILTERED] =
        {"greyness of the first design minus that of `optimization.initial`", "> 0.01, either sign",
         "the filter smooths the result once more; resume that run instead"},
    [HX_DIAG_ROUNDED_STIFFNESS] =
        {"effect of an operator's single precision (`sym32`, `bsr32`) on the compliance, to first "
         "order",
         "> 1e-4", "rounded entries resist rigid-body motions: slender parts, soft springs"},
    [HX_DIAG_VOLUME] = {"relative error of the volume", "> 1e-4",
                        "the design has more or less material than requested"},
    [HX_DIAG_LIMIT] = {"relative violation of the worst limit of `optimization.constraints`",
                       "> 1e-3", "the last design does not meet it, so it has not converged"},
    [HX_DIAG_CHANGING] =
        {"fall of the compliance over the last 5 designs, rise above their lowest, difference of "
         "two alternating designs, or change",
         "> 0.01, or `change_tolerance`",
         "the iterations ran out, or penalty and beta still rise. Rises and alternating designs "
         "are reported for converged runs too; designs alternate if their densities change by more "
         "than 0.01 (with a projection, if their compliances differ by as much). A rise names the "
         "best design with the final penalty and beta. Not repeated after `too-few-iterations`"},
    [HX_DIAG_DAMPED] =
        {"change that the usual damping of 0.5 would allow", ">= 2 `change_tolerance`",
         "the run counts as converged because `optimization.damping` shortens the steps"},
    [HX_DIAG_GREY] = {"greyness", "> 0.2",
                      "the extracted part has a different stiffness; `verify` quantifies it"},
    [HX_DIAG_FLOATING_PIECES] = {"solid elements connected to the part only through void", "> 0",
                                 "in the 0/1 design of `verify`"},
    [HX_DIAG_LOAD_ON_VOID] = {"share of a case's force on void or floating pieces", "> 0.01",
                              "also if only the loaded elements are solid"},
    [HX_DIAG_SUPPORT_ON_VOID] =
        {"nodes of a support or spring none of which is on the largest piece", "> 0",
         "the support holds nothing of the part"},
    [HX_DIAG_FEW_ELEMENTS] = {"share of the solid volume with half of the strain energy",
                              "< 0.01, or 8 of 200 elements", "a dent under a point load, a hinge"},
    [HX_DIAG_LINEAR_TETRAHEDRA] = {"estimated compliance that linear tetrahedra miss", "> 0.05",
                                   "usually a lower bound"},
    [HX_DIAG_OTHER] = {"", "", "any other warning of the log", "the message states it"},
};
