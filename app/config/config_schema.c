#include "config_schema.h"

#include "config.h"
#include "core/base/vector_unit.h"
#include "core/generate/generate.h"
#include "core/krylov/pcg.h"
#include "core/registry.h"

static const char *generator_word(size_t i)
{
    return hx_generators[i] ? hx_generators[i]->name : NULL;
}

/* The words of all devices are valid in every build. If a build lacks one, it is refused or
 * replaced later, with a message. */
static const char *device_word(size_t i)
{
    return i == 0 ? "auto" : hx_device_names[i - 1].name;
}

static const char *operator_word(size_t i)
{
    return i == 0 ? "auto" : hx_operator_names[i - 1].name;
}

static const char *precond_word(size_t i)
{
    if (i == 0) return "auto";
    return hx_preconds[i - 1] ? hx_preconds[i - 1]->name : NULL;
}

static const char *filter_word(size_t i)
{
    return hx_filters[i] ? hx_filters[i]->name : NULL;
}

static const char *objective_word(size_t i)
{
    size_t k = 0;
    for (; hx_response_kinds[k]; k++)
        if (hx_response_kinds[k]->is_objective && i-- == 0) return hx_response_kinds[k]->name;
    return NULL;
}

static const char *constraint_word(size_t i)
{
    for (size_t k = 0; hx_response_kinds[k]; k++)
        if (hx_response_kinds[k]->is_constraint && i-- == 0) return hx_response_kinds[k]->name;
    return NULL;
}

static const char *update_word(size_t i)
{
    if (i == 0) return "auto";
    return hx_updates[i - 1] ? hx_updates[i - 1]->name : NULL;
}

static const char *precision_word(size_t i)
{
    return i < HX_N_PRECISION ? hx_precision_name((hx_precision)i) : NULL;
}

static const char *element_word(size_t i)
{
    return i < HX_N_ELEMENT ? hx_element_name((hx_element)i) : NULL;
}

static const char *partition_word(size_t i)
{
    return i <= HX_PARTITION_AUTO ? hx_partition_name((hx_partition_kind)i) : NULL;
}

static const char *vector_word(size_t i)
{
    if (i == 0) return "auto";
    return i <= HX_N_VECTOR ? hx_vector_unit_name((hx_vector_unit)(i - 1)) : NULL;
}

static const char *layout_word(size_t i)
{
    return i < HX_N_LAYOUT ? hx_layout_name((hx_layout)i) : NULL;
}

/* Words of keys that are stored as an enum have the order of the enum. */
static const char *const criterion_words[] = {"relative", "absolute", "compliance", NULL};
static const char *const in_parts_words[] = {"auto", "always", "never", NULL};
static const char *const transport_words[] = {"auto", "direct", "nccl", "messages", NULL};
static const char *const failure_words[] = {"continue", "stop", NULL};
static const char *const unit_words[] = {"element", "length", NULL};
static const char *const repetition_words[] = {"cyclic", "pattern", NULL};
static const char *const from_words[] = {"file", NULL};
static const char *const coupling_words[] = {"distributing", "rigid", NULL};
static const char *const share_words[] = {"total", "node", "area", NULL};
static const char *const format_words[] = {"binary", "ascii", NULL};
static const char *const field_words[] = {"density",     "displacement", "sensitivity",
                                          "energy",      "von_mises",    "sets",
                                          "temperature", "heat_flux",    NULL};
static const char *const method_words[] = {"lagrangian", "p-norm", NULL};
static const char *const analysed_words[] = {"auto", "eroded", "all", NULL};
static const char *const of_words[] = {"mean", "max", NULL};
static const char *const physics_words[] = {"elasticity", "heat", NULL};

#define AT(member) offsetof(hx_config, member)
#define IN(type, member) offsetof(hx_config_##type, member)
/* NOLINTBEGIN(bugprone-macro-parentheses): initializers of members */
#define GROUP(p, text)                                                                             \
    {                                                                                              \
        .path = p, .type = HX_KEY_GROUP, .offset = HX_NOWHERE, .help = text                        \
    }
#define LIST(member, entry, ...)                                                                   \
    {                                                                                              \
        .path = #member, .type = HX_KEY_LIST, .offset = AT(member),                                \
        .entry_size = sizeof(hx_config_##entry), __VA_ARGS__                                       \
    }
#define SHAPE(member, text)                                                                        \
    {                                                                                              \
        .path = "sets[]." #member, .type = HX_KEY_GROUP, .offset = IN(set, member.given),          \
        .help = text                                                                               \
    }
/* A group whose mere presence switches something on. */
#define SWITCH(member, text)                                                                       \
    {                                                                                              \
        .path = #member, .type = HX_KEY_GROUP, .offset = AT(member.given), .help = text            \
    }
#define KEY_AT(p, t, where, ...)                                                                   \
    {                                                                                              \
        .path = p, .type = HX_KEY_##t, .offset = where, __VA_ARGS__                                \
    }
/* A key stands for the member of hx_config, or of the entry of its list, with the same name. */
#define KEY(member, t, ...) KEY_AT(#member, t, AT(member), __VA_ARGS__)
#define ENTRY(list, type, member, t, ...)                                                          \
    KEY_AT(#list "[]." #member, t, IN(type, member), __VA_ARGS__)

/* A key in solver.multigrid stands for the member of hx_mg_params with the same name. */
#define MG(member, limits, ...)                                                                      \
    {                                                                                                \
        .path = "solver.multigrid." #member, .offset = AT(solver.multigrid.member),                \
        .type = _Generic(hx_mg_defaults.member, int                                                \
                         : HX_KEY_INT, double                                                      \
                         : HX_KEY_FLOAT, const double *                                            \
                         : HX_KEY_VECTOR),                                                         \
        .is_expert = 1, .range = limits, __VA_ARGS__ \
    }
#define EXPERTS(name, text)                                                                        \
    {                                                                                              \
        .path = "solver.multigrid" name, .type = HX_KEY_GROUP, .offset = HX_NOWHERE,               \
        .is_expert = 1, .help = text                                                               \
    }
/* The smoother of a level: a group whose keys have examples. */
#define SMOOTHER(level, where, degrees, degree_example, ratio_example)                             \
    EXPERTS(".smoothing." #level, "Chebyshev smoother on " where),                                 \
        MG(smoothing.level.degree, degrees, .example = degree_example,                             \
           .help = "degree of the Chebyshev polynomial on " where                                  \
                   ": the number of products per smoothing"),                                      \
        MG(smoothing.level.ratio, "(1, 1000]", .example = ratio_example,                           \
           .help = "ratio of the largest to the smallest eigenvalue that is smoothed on " where)

#define ELASTICITY .only = 1 + HX_PHYSICS_ELASTICITY
#define HEAT .only = 1 + HX_PHYSICS_HEAT
/* NOLINTEND(bugprone-macro-parentheses) */

const hx_key hx_keys[] = {
    KEY(title, TEXT, .is_free = 1, .fallback = "", .note = "\"\"",
        .help = "title of the run, shown in the header and written into the files"),

    KEY(physics, WORD, .word = physics_words, .note = "elasticity",
        .help = "what is analysed: elasticity, or heat (steady conduction), whose keys are in "
                "units of power, length and temperature"),

    KEY_AT("units", TEXT, AT(units_text), .note = "-",
           .help = "names of the units of force, length and stress of all numbers, and of time if "
                   "it is not s, such as \"N, mm, MPa\" or \"lbf, in, psi\"; for heat of power, "
                   "length and temperature: \"W, mm, K\". They are checked and printed with "
                   "results; nothing is converted"),

    GROUP("mesh", "the mesh: a generator, or a file"),
    KEY(mesh.generator, TEXT, .more_word = generator_word,
        .help = "name of a generated example; `hextop list` describes them"),
    KEY(mesh.size, INT, .generator_only = 1, .fallback = "0", .range = "[0, 5]",
        .note = "1, or 0 when nx, ny or nz is given",
        .help = "mesh size 1 to 5 of the generated example, 31 thousand to 1.2 million elements; "
                "with 0, give nx, ny or nz"),
    KEY(mesh.nx, INT, .generator_only = 1, .unit = "elements", .fallback = "0",
        .range = "[0, 100000]", .note = "from size",
        .help = "number of elements along x, instead of the number that size gives; `hextop list` "
                "describes the exact meaning"),
    KEY(mesh.ny, INT, .generator_only = 1, .unit = "elements", .fallback = "0",
        .range = "[0, 100000]", .note = "from size", .help = "number of elements along y"),
    KEY(mesh.nz, INT, .generator_only = 1, .unit = "elements", .fallback = "0",
        .range = "[0, 100000]", .note = "from size", .help = "number of elements along z"),
    KEY(mesh.distort, FLOAT, .generator_only = 1, .unit = "element size", .fallback = "0.0",
        .range = "[0, 0.3]",
        .help = "largest random displacement of the inner nodes of a generated mesh"),
    KEY(mesh.seed, INT, .generator_only = 1, .fallback = "1", .range = "[0, inf)",
        .help = "seed of the random numbers of distort"),
    KEY(mesh.file, TEXT, .is_free = 1,
        .help = "mesh, CAD model or spline volume, relative to the config. Meshes of solids: "
                "Gmsh, Abaqus, CalculiX, ANSYS, Nastran, universal, Medit, Exodus and VTK files "
                "with their sets; CAD models (.step, .iges, .brep, .stl), which gmsh meshes; "
                "splines: G+Smo .xml, MFEM NURBS .mesh"),
    KEY(mesh.merge, FLOAT, .file_only = 1, .unit = "length", .range = "[0, inf)",
        .note = "none: bodies that touch unconnected are refused",
        .help = "distance below which nodes of a file become one; 0 keeps coincident nodes apart"),
    KEY(mesh.ignore, WORDS, .file_only = 1, .is_free = 1, .example = "(\"S4\", \"MASS\")",
        .help = "items of the file that hextop does not read and the analysis leaves out on "
                "purpose, spelled as in the warning that names them. Supports, loads and material "
                "from = \"file\" are refused unless all of these items are listed"),
    KEY(mesh.element_size, FLOAT, .file_only = 1, .unit = "length", .range = "(0, inf)",
        .note = "for about 100,000 tetrahedra",
        .help = "edge length of the tetrahedra of a CAD model; down to a quarter of it where the "
                "surface is curved"),
    KEY(mesh.mirrored, BOOL, .file_only = 1, .note = "false",
        .help =
            "whether one side of a CAD model is meshed and mirrored, so that every element has "
            "its image: at the planes of optimization.symmetry, or without them at those normal "
            "to the axes through the centroid at which the halves agree"),
    KEY(mesh.time_limit, FLOAT, .file_only = 1, .unit = "s", .range = "(0, inf)", .note = "600",
        .help = "time limit of each run of gmsh, which meshes CAD models"),
    KEY(mesh.degree, INT, .file_only = 1, .range = "[1, 4]", .note = "the file's",
        .help = "degree to which every direction of a spline is raised, before refine"),
    KEY(mesh.refine, NUMBERS, .file_only = 1, .range = "[0, 10000]", .note = "[1, 1, 1]",
        .help = "number of equal parts of every span of a spline along u, v and w, for all "
                "patches, or three numbers per patch; 0 follows the neighbours through "
                "interfaces"),
    KEY(mesh.shuffle, INT, .fallback = "0", .range = "[0, inf)",
        .help = "seed of a random permutation of nodes and elements; 0 keeps their order"),
    KEY(mesh.reorder, BOOL, .fallback = "true",
        .help = "whether nodes and elements are renumbered along a space-filling curve for speed; "
                "files that are written have the original order"),
    KEY(mesh.in_parts, WORD, .is_free = 1, .fallback = "auto", .word = in_parts_words,
        .help = "whether each process under mpirun creates only its own part of the mesh, so that "
                "none has the whole mesh; auto: for meshes of at least 16 million elements, "
                "generated or from a .vtk, .msh or .inp file, if nothing else needs the whole"),

    GROUP("material", "isotropic linear elastic material, or conductivity"),
    KEY(material.from, TEXT, .word = from_words, .file_only = 1,
        .help = "\"file\" takes the isotropic material that mesh.file states, in the file's own "
                "units, and other materials of element sets as `materials`; keys of the config "
                "take precedence"),
    KEY_AT("material.E", FLOAT, AT(material.young), ELASTICITY, .unit = "force/length^2",
           .fallback = "1.0", .range = "[1e-20, 1e20]",
           .help = "Young's modulus of the solid material"),
    KEY_AT("material.nu", FLOAT, AT(material.poisson), ELASTICITY, .fallback = "0.3",
           .range = "[-0.999, 0.499]", .help = "Poisson's ratio of the solid material"),
    KEY(material.density, FLOAT, .unit = "mass/length^3", .range = "(0, inf)",
        .help = "mass density of the solid material, needed by gravity and centrifugal loads, in "
                "consistent units: t/mm^3 with N, mm and MPa"),
    KEY(material.strength, FLOAT, ELASTICITY, .unit = "force/length^2", .range = "(0, inf)",
        .is_free = 1,
        .help =
            "von Mises stress that the material bears, such as the yield stress; `verify` divides "
            "it by the largest stress of the part, the factor of safety"),
    KEY(material.expansion, FLOAT, ELASTICITY, .unit = "1/temperature", .range = "[-1, 1]",
        .help = "coefficient of thermal expansion of the solid material, needed by "
                "temperature_change; 12e-6 per K for steel"),
    KEY(material.conductivity, FLOAT, HEAT, .unit = "power/(length*temperature)", .fallback = "1.0",
        .range = "[1e-20, 1e20]", .help = "thermal conductivity of the solid material"),
    KEY(material.conductivity_min, FLOAT, HEAT, .unit = "power/(length*temperature)",
        .range = "(0, inf)", .note = "1e-3 of material.conductivity",
        .help = "thermal conductivity of void, below that of the solid; that of an element is "
                "conductivity_min + (conductivity - conductivity_min) rho^p"),

    LIST(materials, material,
         .help = "other materials of element sets, such as inserts and bolts, with the Poisson's "
                 "ratio of material.nu; sets must not overlap"),
    ENTRY(materials, material, set, TEXT, .required = 1,
          .help = "name of the set of elements that have this material"),
    KEY_AT("materials[].E", FLOAT, IN(material, young), ELASTICITY, .unit = "force/length^2",
           .range = "[1e-20, 1e20]", .note = "material.E",
           .help = "Young's modulus of the set's solid material"),
    ENTRY(materials, material, density, FLOAT, .unit = "mass/length^3", .range = "(0, inf)",
          .note = "material.density", .help = "mass density of the set's solid material"),
    ENTRY(materials, material, expansion, FLOAT, ELASTICITY, .unit = "1/temperature",
          .range = "[-1, 1]", .note = "material.expansion",
          .help = "coefficient of thermal expansion of the set's solid material"),
    ENTRY(materials, material, conductivity, FLOAT, HEAT, .unit = "power/(length*temperature)",
          .range = "[1e-20, 1e20]", .note = "material.conductivity",
          .help = "thermal conductivity of the set's solid material; that of void is "
                  "material.conductivity_min everywhere"),

    LIST(supports, support,
         .help = "supports: sets of nodes with fixed or prescribed displacements, or prescribed "
                 "temperatures"),
    ENTRY(supports, support, set, TEXT, .note = "required without from",
          .help = "name of the supported set of nodes"),
    ENTRY(supports, support, from, TEXT, ELASTICITY, .word = from_words,
          .help = "\"file\" takes the supports and prescribed displacements that mesh.file "
                  "states"),
    ENTRY(supports, support, fix, TEXT, ELASTICITY, .note = "required with set",
          .help = "displacement components that are prescribed, letters of \"xyz\""),
    ENTRY(supports, support, value, VECTOR, ELASTICITY, .unit = "length",
          .fallback = "[0.0, 0.0, 0.0]", .help = "prescribed displacement in these components"),
    ENTRY(supports, support, temperature, FLOAT, HEAT, .unit = "temperature", .note = "required",
          .help = "prescribed temperature of the nodes of the set"),

    LIST(springs, spring, ELASTICITY, .help = "elastic supports of sets"),
    ENTRY(springs, spring, set, TEXT, .required = 1,
          .help = "name of the set of nodes that is connected to ground"),
    ENTRY(springs, spring, stiffness, VECTOR, .required = 1, .unit = "force/length",
          .range = "[0, inf)", .help = "spring stiffness along x, y and z"),
    ENTRY(springs, spring, per, WORD, .fallback = "total", .word = share_words,
          .help = "what the stiffness refers to. total: the whole set, shared by area if it spans "
                  "boundary faces, else by nodes; node: every node; area: the area of its "
                  "boundary faces"),

    LIST(convection, convection, HEAT,
         .help = "heat to a fluid, coefficient (T - ambient) per area, in every load case"),
    ENTRY(convection, convection, set, TEXT, .required = 1,
          .help = "name of the set whose boundary faces exchange heat"),
    ENTRY(convection, convection, coefficient, FLOAT, .required = 1,
          .unit = "power/(length^2*temperature)", .range = "(0, inf)",
          .help = "heat transfer coefficient"),
    ENTRY(convection, convection, ambient, FLOAT, .required = 1, .unit = "temperature",
          .help = "temperature of the fluid"),

    LIST(loads, load,
         .help = "loads on sets or on the whole part; each has exactly one of node_force, "
                 "total_force, traction, pressure, bearing_force, remote_force (or a moment, or "
                 "both), gravity, centrifugal, temperature_change, from; for heat exactly one of "
                 "source, "
                 "heat, flux, node_heat"),
    ENTRY(loads, load, set, TEXT,
          .note = "required, except for gravity, centrifugal, temperature_change, from and source",
          .help = "name of the loaded set of nodes; traction and pressure need boundary faces in "
                  "it, temperature_change needs elements"),
    ENTRY(loads, load, from, TEXT, ELASTICITY, .word = from_words,
          .help = "\"file\" takes the loads that mesh.file states; its steps are the load cases"),
    ENTRY(loads, load, node_force, VECTOR, ELASTICITY, .unit = "force",
          .help = "force at every node of the set"),
    ENTRY(loads, load, total_force, VECTOR, ELASTICITY, .unit = "force",
          .help = "total force on the set, shared by area if it spans boundary faces, else by "
                  "nodes"),
    ENTRY(loads, load, traction, VECTOR, ELASTICITY, .unit = "force/length^2",
          .help = "force per area on the set's boundary faces, as consistent nodal loads"),
    ENTRY(loads, load, pressure, FLOAT, ELASTICITY, .unit = "force/length^2",
          .help = "pressure on the set's boundary faces; positive pushes inwards"),
    ENTRY(loads, load, bearing_force, VECTOR, ELASTICITY, .unit = "force",
          .help = "force of a pin on the bore formed by the set's boundary faces: across the axis "
                  "a cosine-shaped pressure on the half that it pushes against, along the axis a "
                  "uniform traction"),
    ENTRY(loads, load, gravity, VECTOR, ELASTICITY, .unit = "length/time^2",
          .help = "acceleration of the whole part, which acts on its mass; [0.0, 0.0, -9810.0] "
                  "with mm and s"),
    KEY_AT("loads[].centrifugal", GROUP, IN(load, centrifugal.given), ELASTICITY,
           .help = "rotation of the whole part about an axis"),
    ENTRY(loads, load, centrifugal.point, VECTOR, .unit = "length", .required = 1,
          .help = "point on the axis of rotation"),
    ENTRY(loads, load, centrifugal.axis, VECTOR, .required = 1,
          .help = "direction of the axis of rotation, of any length"),
    ENTRY(loads, load, centrifugal.speed, FLOAT, .unit = "rad/time", .required = 1,
          .range = "(0, inf)", .help = "angular speed, 2 pi times the turns per time"),
    ENTRY(loads, load, temperature_change, FLOAT, ELASTICITY, .unit = "temperature",
          .help = "change of the temperature of the set's elements, or of the whole part without a "
                  "set, which expand by material.expansion times it; positive for heating"),
    ENTRY(loads, load, remote_force, VECTOR, ELASTICITY, .unit = "force",
          .help = "force that acts at `point` and is carried by the set's nodes, by their share "
                  "of the area of its faces, or equally"),
    ENTRY(loads, load, moment, VECTOR, ELASTICITY, .unit = "force*length",
          .help = "moment carried by the set's nodes, with or without a remote_force"),
    ENTRY(loads, load, point, VECTOR, ELASTICITY, .unit = "length",
          .note = "required with remote_force", .help = "point where remote_force acts"),
    ENTRY(loads, load, coupling, WORD, ELASTICITY, .word = coupling_words, .note = "distributing",
          .help = "how remote_force and moment load the set: distributing leaves it flexible, "
                  "rigid makes it move as a rigid body"),
    ENTRY(loads, load, source, FLOAT, HEAT, .unit = "power/length^3",
          .help = "heat per volume of the set's elements, or of the whole part without a set, at "
                  "any density"),
    ENTRY(loads, load, heat, FLOAT, HEAT, .unit = "power",
          .help = "total heat into the set, shared by volume if it holds elements, else by area "
                  "if it spans boundary faces, else by nodes"),
    ENTRY(loads, load, flux, FLOAT, HEAT, .unit = "power/length^2",
          .help = "heat per area into the set's boundary faces"),
    ENTRY(loads, load, node_heat, FLOAT, HEAT, .unit = "power",
          .help = "heat at every node of the set"),
    KEY_AT("loads[].case", INT, IN(load, load_case), .zero_unset = 1, .range = "[1, 1000]",
           .note = "1; with from, every step of the file",
           .help = "load case of the entry; cases are numbered without a gap. With from: the step "
                   "of the file that becomes this case, or its only one"),
    KEY(weights, NUMBERS, .range = "(0, inf)", .note = "1 for every case",
        .help = "weights of the load cases' compliances in the objective"),

    LIST(passive, passive, .help = "regions whose elements keep a given density"),
    ENTRY(passive, passive, set, TEXT, .required = 1,
          .help = "name of the set of elements, or with a skin of nodes or faces"),
    ENTRY(passive, passive, skin, FLOAT, .unit = "length", .range = "(0, inf)",
          .help = "thickness of a layer at the set's boundary faces, or at its nodes: elements "
                  "whose centroid lies within it, and at least those that touch the set, in place "
                  "of the set's elements"),
    ENTRY(passive, passive, density, FLOAT, .fallback = "1.0", .range = "(0, 1]",
          .help = "density that is kept: 1 is solid, rho_min is void"),

    LIST(sets, set,
         .help = "sets selected by geometry or combined from others; each has a name and exactly "
                 "one of plane, box, cylinder, sphere, and, or, not"),
    ENTRY(sets, set, name, TEXT, .required = 1, .help = "name of the new set"),
    SHAPE(plane, "selects the points in a plane"),
    ENTRY(sets, set, plane.point, VECTOR, .unit = "length", .required = 1,
          .help = "point of the plane"),
    ENTRY(sets, set, plane.normal, VECTOR, .required = 1,
          .help = "normal of the plane, of any length"),
    ENTRY(sets, set, plane.tolerance, FLOAT, .unit = "length", .range = "[0, inf)",
          .note = "1e-6 of the mesh's diagonal", .help = "largest allowed distance from the plane"),
    SHAPE(box, "selects the points in a box along the axes"),
    ENTRY(sets, set, box.min, VECTOR, .unit = "length", .required = 1,
          .help = "corner of the box with the smallest coordinates"),
    ENTRY(sets, set, box.max, VECTOR, .unit = "length", .required = 1,
          .help = "corner of the box with the largest coordinates"),
    ENTRY(sets, set, box.tolerance, FLOAT, .unit = "length", .range = "[0, inf)",
          .note = "1e-6 of the mesh's diagonal", .help = "largest allowed distance from the box"),
    SHAPE(cylinder, "selects the points in a cylinder or tube"),
    ENTRY(sets, set, cylinder.point, VECTOR, .unit = "length", .required = 1,
          .help = "point on the axis of the cylinder; its start if a length is given"),
    ENTRY(sets, set, cylinder.axis, VECTOR, .required = 1,
          .help = "direction of the axis of the cylinder, of any length"),
    ENTRY(sets, set, cylinder.radius, FLOAT, .unit = "length", .required = 1, .range = "(0, inf)",
          .help = "outer radius of the cylinder"),
    ENTRY(sets, set, cylinder.inner, FLOAT, .unit = "length", .fallback = "0.0",
          .range = "[0, inf)",
          .help = "inner radius of the tube; equal to radius: only the surface"),
    ENTRY(sets, set, cylinder.length, FLOAT, .unit = "length", .fallback = "0.0",
          .range = "[0, inf)", .help = "length of the cylinder along its axis; 0: infinite"),
    ENTRY(sets, set, cylinder.tolerance, FLOAT, .unit = "length", .range = "[0, inf)",
          .note = "1e-6 of the mesh's diagonal",
          .help = "largest allowed distance from the cylinder"),
    SHAPE(sphere, "selects the points in a sphere or shell"),
    ENTRY(sets, set, sphere.center, VECTOR, .unit = "length", .required = 1,
          .help = "centre of the sphere"),
    ENTRY(sets, set, sphere.radius, FLOAT, .unit = "length", .required = 1, .range = "(0, inf)",
          .help = "outer radius of the sphere"),
    ENTRY(sets, set, sphere.inner, FLOAT, .unit = "length", .fallback = "0.0", .range = "[0, inf)",
          .help = "inner radius of the shell; equal to radius: only the surface"),
    ENTRY(sets, set, sphere.tolerance, FLOAT, .unit = "length", .range = "[0, inf)",
          .note = "1e-6 of the mesh's diagonal",
          .help = "largest allowed distance from the sphere"),
    KEY_AT("sets[].and", WORDS, IN(set, all_of),
           .help = "names of sets whose intersection is the new set: the nodes, elements, "
                   "boundary faces and edges in all of them"),
    KEY_AT("sets[].or", WORDS, IN(set, any_of),
           .help = "names of sets whose union is the new set: the nodes, elements, boundary faces "
                   "and edges of any of them, and no other faces"),
    KEY_AT("sets[].not", WORDS, IN(set, none_of),
           .help = "names of sets whose complement is the new set: all nodes, elements, boundary "
                   "faces and edges in none of them"),

    GROUP("optimization", "what is minimized under which limits, by SIMP"),
    KEY(optimization.volume_fraction, FLOAT, .range = "(0, 1]",
        .note = "required to minimize the compliance without constraints",
        .help = "share of the volume that may be solid, passive elements included: the volume of "
                "the design under update = \"oc\", its upper limit under the other updates"),
    {.path = "optimization.objective",
     .type = HX_KEY_GROUP,
     .offset = HX_NOWHERE,
     .short_form = "kind",
     .help = "quantity that is minimized; objective = \"compliance\" is short for { kind = "
             "\"compliance\"; }"},
    KEY(optimization.objective.kind, TEXT, .fallback = "compliance", .more_word = objective_word,
        .help = "what is minimized; `hextop list` describes the kinds"),
    KEY(optimization.objective.set, TEXT, .note = "none",
        .help = "set whose displacement, temperature or reaction is minimized; required by these "
                "kinds. For a stress, a set of elements; without it, all"),
    KEY(optimization.objective.set_2, TEXT, .note = "none",
        .help = "second set: the objective is the difference of the two means"),
    KEY(optimization.objective.direction, VECTOR, .note = "none, for magnitudes",
        .help = "direction, of any length, along which a displacement or reaction counts as "
                "positive"),
    KEY(optimization.objective.magnitude, BOOL, .note = "false",
        .help = "whether the absolute value of the component along `direction` is minimized"),
    KEY(optimization.objective.of, WORD, .word = of_words, .note = "\"mean\"",
        .help = "which value of the set is minimized: the mean, by area if the set spans boundary "
                "faces, else of its nodes; or the largest at a node, whose derivative is that of a "
                "p-norm"),
    KEY_AT("optimization.objective.case", INT, AT(optimization.objective.load_case),
           .range = "[1, 1000]", .note = "all, by their weights",
           .help = "load case whose value is minimized"),
    KEY(optimization.objective.exclude, WORDS, .note = "none", .example = "(\"bolts\")",
        .help = "sets whose elements are solid and do not count; kind = \"stress\" only, like the "
                "next two"),
    KEY(optimization.objective.exclude_radius, FLOAT, .unit = "length", .range = "[0, inf)",
        .note = "two filter radii, at least two elements", .example = "2.0",
        .help =
            "distance from point loads, rims of supports and springs, rigid sets and re-entrant "
            "edges of passive solids within which elements are solid and do not count, because "
            "stresses grow there without bound as the mesh is refined; 0: none"),
    KEY(optimization.objective.relaxation, FLOAT, .range = "[0, 1]", .note = "0.5",
        .example = "0.5",
        .help = "exponent q of the stress rho^q s of an element with the stress s of its solid "
                "material"),
    LIST(optimization.constraints, constraint,
         .help = "limits that the design must meet beside volume_fraction; each has a kind, and "
                 "max, min or both"),
    ENTRY(optimization.constraints, constraint, kind, TEXT, .required = 1,
          .more_word = constraint_word,
          .help = "what is limited; `hextop list` describes the kinds"),
    ENTRY(optimization.constraints, constraint, max, FLOAT, .note = "none",
          .unit = "unit of the kind",
          .help = "upper limit, in the units of the config: of compliance force*length, of "
                  "displacement length, of reaction force, of stress force/length^2; of volume the "
                  "fraction of the whole, "
                  "passive elements included; of local_volume the fraction of a ball"),
    ENTRY(optimization.constraints, constraint, min, FLOAT, .note = "none",
          .unit = "unit of the kind", .help = "lower limit, in the units of max"),
    ENTRY(optimization.constraints, constraint, set, TEXT, .note = "none",
          .help = "set whose displacement, temperature or reaction is limited; required by these "
                  "kinds. For a stress or a local volume, a set of elements; without it, all"),
    ENTRY(optimization.constraints, constraint, radius, FLOAT, .unit = "length",
          .range = "(0, inf)", .note = "required by local_volume", .example = "2.0",
          .help = "radius of the balls over which kind = \"local_volume\" takes the mean density: "
                  "by sums over the elements in a ball up to 8 element edges, over blocks of "
                  "elements from 16, by a Helmholtz equation between"),
    ENTRY(optimization.constraints, constraint, set_2, TEXT, .note = "none",
          .help = "second set: the difference of the two means is limited"),
    ENTRY(optimization.constraints, constraint, direction, VECTOR, .note = "none, for magnitudes",
          .help = "direction, of any length, along which a displacement or reaction counts as "
                  "positive"),
    ENTRY(optimization.constraints, constraint, magnitude, BOOL, .note = "false",
          .help = "whether the absolute value of the component along `direction` is limited"),
    ENTRY(optimization.constraints, constraint, of, WORD, .word = of_words, .note = "\"mean\"",
          .help = "which value of the set is limited: the mean, by area if the set spans boundary "
                  "faces, else of its nodes; or the largest at a node, whose derivative is that of "
                  "a p-norm"),
    KEY_AT("optimization.constraints[].case", NUMBERS, IN(constraint, load_case), .is_whole = 1,
           .range = "[1, 1000]", .note = "every case",
           .help = "load case, or list of cases, in each of which the limit applies"),
    ENTRY(optimization.constraints, constraint, exclude, WORDS, .note = "none",
          .example = "(\"bolts\")",
          .help = "sets whose elements are solid and have no limit; kind = \"stress\" only, like "
                  "the next three"),
    ENTRY(optimization.constraints, constraint, exclude_radius, FLOAT, .unit = "length",
          .range = "[0, inf)", .note = "two filter radii, at least two elements", .example = "2.0",
          .help =
              "distance from point loads, rims of supports and springs, rigid sets and re-entrant "
              "edges of passive solids within which elements are solid and have no limit, because "
              "stresses grow there without bound as the mesh is refined; 0: none"),
    ENTRY(optimization.constraints, constraint, method, WORD, .word = method_words,
          .note = "\"lagrangian\"",
          .help = "how all elements are limited: by the augmented Lagrangian, which joins the "
                  "objective, or by one p-norm scaled to the largest stress"),
    ENTRY(optimization.constraints, constraint, relaxation, FLOAT, .range = "[0, 1]", .note = "0.5",
          .example = "0.5",
          .help = "exponent q of the stress rho^q s of an element with the stress s of its solid "
                  "material"),
    ENTRY(optimization.constraints, constraint, name, TEXT,
          .note = "the kind, with a number if several have it or history.csv has such a column",
          .help = "name of the limit in messages, history.csv, summary.json and the report; "
                  "_case1, _case2, ... follow it if the limit applies in several cases"),
    KEY(optimization.start, FLOAT, .range = "(0, 1]", .note = "volume_fraction; without it 0.5",
        .help = "density of all elements in the first design, except passive ones"),
    KEY(optimization.update, TEXT, .fallback = "auto", .more_word = update_word,
        .help = "method that proposes the next design; auto: oc to minimize the compliance at a "
                "volume_fraction without constraints and without loads by mass, else mma. "
                "`hextop list` describes them"),
    KEY(optimization.minimum_length, FLOAT, .unit = "length", .range = "(0, inf)", .note = "none",
        .help = "least thickness of members, at least three elements: takes the filter density and "
                "a projection of three thresholds, of which the eroded design is analysed"),
    KEY(optimization.minimum_gap, FLOAT, .unit = "length", .range = "(0, inf)",
        .note = "minimum_length", .help = "least width of gaps and holes between members"),
    KEY(optimization.analysed, WORD, .word = analysed_words, .note = "auto",
        .help = "designs that are analysed with minimum_length, or an erosion or dilation: the "
                "eroded one, or all three, of which the worst is improved; auto: all if the "
                "objective is a displacement, temperature or reaction, otherwise the eroded one"),
    KEY(optimization.penalty, FLOAT, .fallback = "3.0", .range = "[1, 20]",
        .note = "3.0, with a projection and stress limits by the augmented Lagrangian 4.0",
        .help = "SIMP exponent p: the stiffness of an element is E rho^p"),
    KEY(optimization.rho_min, FLOAT, .fallback = "0.001", .range = "[1e-6, 0.99]",
        .help = "smallest density of an element, that of void"),
    KEY(optimization.move, FLOAT, .fallback = "0.2", .range = "[1e-6, 1]",
        .note = "0.2, with a projection 0.1",
        .help = "largest change of a density in an iteration"),
    KEY(optimization.damping, FLOAT, .fallback = "0.5", .range = "[1e-6, 1]",
        .help = "exponent eta of the optimality criteria"),
    KEY(optimization.iterations, INT, .is_free = 1, .fallback = "50", .range = "[1, 1000000]",
        .help = "largest number of design iterations"),
    KEY(optimization.change_tolerance, FLOAT, .is_free = 1, .fallback = "0.0", .range = "[0, 1)",
        .help = "the run stops once no density changes by more than this, all limits are met, and "
                "penalty and beta have their final values; 0: never"),
    KEY(optimization.kkt_tolerance, FLOAT, .is_free = 1, .range = "[0, 1)",
        .note = "1e-3; with update = \"oc\" 0",
        .help = "the run stops once the residual of the optimality (KKT) conditions, relative to "
                "that of the first design that meets all limits, and the last relative change of "
                "the objective are below this, all limits are met, and penalty and beta have their "
                "final values; 0: never"),
    KEY(optimization.initial, TEXT, .note = "uniform, of density start",
        .help = "result to start from: VTK file, .vtk.series or folder of an earlier run on the "
                "same mesh, with cells in any order, relative to the config; elements missing in "
                "it start at rho_min"),
    LIST(optimization.symmetry, plane,
         .help = "one to three planes at which the design is mirrored, for any loads"),
    ENTRY(optimization.symmetry, plane, point, VECTOR, .unit = "length", .required = 1,
          .help = "point of the symmetry plane"),
    ENTRY(optimization.symmetry, plane, normal, VECTOR, .required = 1,
          .help = "normal of the symmetry plane, of any length"),
    LIST(optimization.repetition, repetition,
         .help = "repetitions of the design, for any loads: at most one cyclic and three patterns"),
    ENTRY(optimization.repetition, repetition, kind, WORD, .required = 1, .word = repetition_words,
          .help = "cyclic: copies about an axis, equal angles apart; pattern: copies along a step"),
    ENTRY(optimization.repetition, repetition, copies, INT, .required = 1, .range = "[2, 1000]",
          .help = "number of copies, the first one included"),
    ENTRY(optimization.repetition, repetition, point, VECTOR, .unit = "length",
          .note = "for a pattern where the part begins",
          .help = "cyclic: point of the axis, required; pattern: point of the plane across the "
                  "step in which the first copy begins"),
    ENTRY(optimization.repetition, repetition, axis, VECTOR, .note = "required with cyclic",
          .help = "direction of the axis of a cyclic repetition, of any length"),
    ENTRY(optimization.repetition, repetition, step, VECTOR, .unit = "length",
          .note = "required with pattern",
          .help = "vector from a copy of a pattern to the next one; elements beyond the last copy "
                  "stay free"),
    KEY(optimization.extrusion, VECTOR, .note = "none",
        .help = "direction along which the design does not change"),
    SWITCH(optimization.overhang,
           "overhang limit, for parts that are printed without supports: every element rests on "
           "the base plate or on material in a cone below it"),
    KEY(optimization.overhang.angle, FLOAT, .unit = "degrees", .fallback = "45.0",
        .range = "[10, 80]",
        .help = "least angle between a surface that faces down and the base plate; 90 would be "
                "a vertical wall"),
    KEY(optimization.overhang.direction, VECTOR, .required = 1,
        .help = "direction in which the part is printed, from the base plate upwards, of any "
                "length"),
    KEY(optimization.overhang.base, TEXT,
        .note = "the elements that touch the plane of the lowest node along direction",
        .help = "set of the elements that rest on the base plate: its elements, or for a set of "
                "nodes or faces the elements with a node in it"),
    SWITCH(optimization.draw,
           "no undercuts, for parts that are cast, moulded or forged: no void lies under material "
           "as seen from where a mould half leaves"),
    KEY(optimization.draw.direction, VECTOR, .required = 1,
        .help = "direction in which a mould half leaves the part, of any length"),
    KEY(optimization.draw.parting, VECTOR, .unit = "length",
        .note = "none: one mould half, which leaves along direction",
        .help = "point of the plane across direction at which two mould halves part; the other one "
                "leaves in the opposite direction"),
    LIST(optimization.milling, milling,
         .help = "one to eight directions from which a straight tool reaches the part; it can "
                 "remove all that is not hidden behind material from all of them"),
    ENTRY(optimization.milling, milling, direction, VECTOR, .required = 1,
          .help = "direction from the part towards the tool, of any length"),
    GROUP("optimization.filter",
          "filter that sets the smallest size of members and makes the result independent of the "
          "mesh"),
    KEY(optimization.filter.kind, TEXT, .by_length = 1, .more_word = filter_word,
        .note = "\"sensitivity\"; \"density\" with constraints or another objective",
        .help = "kind of filter; `hextop list` describes them"),
    KEY(optimization.filter.radius, FLOAT, .by_length = 1, .range = "(0, inf)",
        .note = "the generator's for its size; required with mesh.file",
        .help = "filter radius, in `unit`"),
    KEY(optimization.filter.unit, WORD, .by_length = 1, .fallback = "element", .word = unit_words,
        .help = "unit of radius: the mean element size (for tetrahedra, wedges and pyramids the "
                "mean edge), or the length unit of the mesh"),
    KEY(optimization.filter.volume_weighted, BOOL, .by_length = 1, .fallback = "false",
        .help = "whether neighbours are weighted by their volume, for graded meshes"),
    SWITCH(
        optimization.projection,
        "projection that pushes filtered densities towards rho_min and 1 by a tanh step of rising "
        "steepness, with the filters density and helmholtz; { } takes the defaults"),
    KEY(optimization.projection.eta, FLOAT, .by_length = 1, .fallback = "0.5", .range = "(0, 1)",
        .help = "filtered density at which the step lies"),
    KEY(optimization.projection.erosion, FLOAT, .by_length = 1, .range = "[0, 0.5)",
        .note = "0, with stress limits by the augmented Lagrangian 0.025",
        .help = "the eroded design, whose step lies at eta + erosion, is analysed, and the design "
                "itself is made: all its members are thicker than those that carry the loads"),
    KEY(optimization.projection.dilation, FLOAT, .by_length = 1, .range = "[0, 0.5)", .note = "0",
        .help = "the volume has the derivative of the dilated design, whose step lies at eta - "
                "dilation, so that gaps narrower than a certain width cost material"),
    KEY(optimization.projection.beta, FLOAT, .fallback = "1.0", .range = "(0, 512]",
        .help = "initial value of beta, the steepness of the step"),
    KEY(optimization.projection.beta_max, FLOAT, .fallback = "32.0", .range = "(0, 512]",
        .note = "32.0, with stress limits by the augmented Lagrangian 10.0 to 32.0 (5 per element "
                "of the radius)",
        .help = "final value of beta; at least beta"),
    KEY(optimization.projection.factor, FLOAT, .fallback = "2.0", .range = "[1.01, 100]",
        .note = "2.0, with stress limits by the augmented Lagrangian 1.29",
        .help = "factor by which beta rises"),
    KEY(optimization.projection.every, INT, .unit = "iterations", .fallback = "25",
        .range = "[1, inf)",
        .help = "design iterations between two increases of beta; earlier once no density changes "
                "by more than change_tolerance"),
    SWITCH(
        optimization.continuation,
        "continuation that raises the SIMP exponent during the run; { } takes the defaults. With "
        "stress limits by the augmented Lagrangian and no penalty it raises it from 3 to 4 by "
        "0.25"),
    KEY(optimization.continuation.penalty_start, FLOAT, .fallback = "1.0", .range = "[1, 20]",
        .help = "initial SIMP exponent; the final one is optimization.penalty"),
    KEY(optimization.continuation.step, FLOAT, .fallback = "0.5", .range = "[0.001, 19]",
        .help = "amount by which the SIMP exponent rises"),
    KEY(optimization.continuation.every, INT, .unit = "iterations", .fallback = "10",
        .range = "[1, inf)",
        .help = "design iterations between two increases of the exponent; earlier once no density "
                "changes by more than change_tolerance"),

    GROUP("solver", "the linear systems, solved by preconditioned conjugate gradients"),
    KEY(solver.device, TEXT, .is_free = 1, .fallback = "auto", .more_word = device_word,
        .help = "device that computes; auto: a GPU if there is one, else the CPU"),
    KEY_AT("solver.operator", TEXT, AT(solver.op), .is_free = 1, .fallback = "auto",
           .more_word = operator_word,
           .help = "algorithm that computes K u; `hextop list` describes them, and what replaces "
                   "one that the device lacks. auto: the fastest, by a timing at the start"),
    KEY(solver.layout, WORD, .is_free = 1, .fallback = "interleaved", .more_word = layout_word,
        .help = "memory layout of stored element matrices"),
    KEY(solver.element, WORD, .fallback = "linear", .more_word = element_word,
        .help = "elements. quadratic: hex20, wedge15, pyramid13 and tet10 on the same mesh, with "
                "operators that store a matrix; spline: the control points of a file of splines, "
                "for which it is the default"),
    KEY(solver.preconditioner, TEXT, .is_free = 1, .fallback = "auto", .more_word = precond_word,
        .help = "preconditioner; `hextop list` describes them. auto: multigrid for at least 500 "
                "elements (nodes of tetrahedra, points of quadratic elements), jacobi for fewer, "
                "if multigrid does not fit, with precision mixed or criterion absolute"),
    KEY(solver.precision, WORD, .fallback = "double", .more_word = precision_word,
        .help = "precision of PCG. mixed: single precision inside, the true residual in double, "
                "the same stopping criterion; for operators with `mixed` in `hextop list`"),
    KEY(solver.criterion, WORD, .is_free = 1, .fallback = "relative", .word = criterion_words,
        .help = "stopping criterion of PCG. relative: |r| <= tolerance |f|; absolute: r'z <= "
                "tolerance; compliance: the estimated error of the compliance <= tolerance x "
                "compliance (`compare`, `verify` and `analyse` use |r| <= 1e-5 |f| instead)"),
    KEY(solver.tolerance, FLOAT, .is_free = 1, .fallback = "1e-5",
        .note = "1e-5; for compliance 1e-6", .range = "(0, inf)",
        .help = "tolerance of the stopping criterion; below 1 unless it is absolute"),
    KEY(solver.max_iterations, INT, .is_free = 1, .fallback = "10000", .range = "[1, inf)",
        .help = "largest number of iterations of a solve"),
    KEY(solver.warm_start, BOOL, .fallback = "true",
        .help = "whether a solve starts from the displacements of the last design and their last "
                "change"),
    KEY(solver.on_failure, WORD, .is_free = 1, .fallback = "continue", .word = failure_words,
        .help = "what happens if a solve does not converge: continue with a warning, or stop the "
                "run"),
    KEY(solver.threads, INT, .is_free = 1, .fallback = "0", .range = "[0, 4096]",
        .note = "0: all, or OMP_NUM_THREADS",
        .help = "number of CPU threads; at most 8 per core, or 64"),
    KEY(solver.deterministic, BOOL, .fallback = "false",
        .help = "whether only operators are allowed that give the same bits in every run; "
                "operator auto then measures nothing"),
    KEY(solver.partition, WORD, .is_free = 1, .fallback = "bisection", .more_word = partition_word,
        .help = "how the elements are divided among the processes of mpirun. bisection: halves "
                "across the longest side, recursively; curve: pieces of a space-filling curve; "
                "graph: by METIS; auto: the one with the smallest largest halo"),
    KEY(solver.transport, WORD, .is_free = 1, .fallback = "auto", .word = transport_words,
        .variable = "HEXTOP_TRANSPORT",
        .help = "how the processes of mpirun exchange values. direct: from device to device, also "
                "if processes share a GPU; nccl; messages: through the host; auto: the first of "
                "these that works, and messages on a shared GPU. If this machine does not support "
                "the choice, messages are used. Without the key, the environment variable "
                "HEXTOP_TRANSPORT is used"),
    KEY(solver.whole_coarse_grid, INT, .is_free = 1, .unit = "nodes", .fallback = "20000",
        .range = "[1, inf)", .variable = "HEXTOP_WHOLE_COARSE_GRID",
        .help = "largest number of nodes of a coarse grid that multigrid on several processes "
                "keeps whole in each; larger ones are distributed. Without the key, the "
                "environment variable HEXTOP_WHOLE_COARSE_GRID is used"),
    KEY(solver.vector_unit, WORD, .is_free = 1, .fallback = "auto", .more_word = vector_word,
        .variable = "HEXTOP_VECTOR",
        .help = "vector unit of the CPU, which the last bits of results depend on; auto: the best "
                "one, named by `hextop list`. Without the key, the environment variable "
                "HEXTOP_VECTOR is used"),

    EXPERTS("",
            "constants of the preconditioner multigrid, for experts; the defaults were tuned on "
            "many meshes. `hextop run -v` prints those that differ from the defaults, and what "
            "multigrid has chosen"),
    EXPERTS(".coarsening", "width of the cells of coarse grids, and where coarsening stops"),
    MG(coarsening.elements, "[1, 100]", .unit = "elements", .example = "3.0",
       .help = "number of elements across a cell of the first coarse grid in each direction, for "
               "linear elements in elasticity"),
    MG(coarsening.elements_narrow, "[1, 100]", .unit = "elements", .example = "3.0",
       .help = "number of elements across a cell on a mesh with line smoothing, on a device where "
               "coarse grids are cheap"),
    MG(coarsening.narrow_most, "[0, inf)", .unit = "elements", .example = "1000000",
       .help = "number of elements of the largest mesh to which elements_narrow applies"),
    MG(coarsening.elements_other, "[1, 100]", .unit = "elements", .example = "1.5",
       .help = "number of elements across a cell for heat conduction and quadratic elements; for "
               "splines divided by their degree"),
    MG(coarsening.proportion_aspect, "[1, inf)", .example = "4.0",
       .help = "mean aspect ratio of elements above which the edges of a cell follow the square "
               "root of the proportions of the mean element, instead of these proportions"),
    MG(coarsening.sheet_ratio, "[1, inf)", .example = "2.0",
       .help = "ratio of the largest to the mean edge along short edges of stretched elements "
               "above which cells are no wider than the largest element"),
    MG(coarsening.sheet_elements, "[0, inf)", .unit = "elements", .example = "3.0",
       .help = "number of elements across a cell above which sheet_ratio and slender_across "
               "apply"),
    MG(coarsening.slender_along, "[1, inf)", .unit = "cells", .example = "8.0",
       .help = "number of cells along a part above which it is slender"),
    MG(coarsening.slender_across, "[1, 100]", .unit = "cells", .example = "4.0",
       .help = "number of cells across a slender part"),
    MG(coarsening.slender_elements, "[1, 100]", .unit = "elements", .example = "1.5",
       .help = "smallest number of elements across the cells of a slender part"),
    MG(coarsening.places, "[1, 1000]", .example = "100",
       .help = "largest number of places of the first coarse grid per element of the mesh, which "
               "limits memory"),
    MG(coarsening.sample, "[1, inf)", .unit = "elements", .example = "1000000",
       .help = "approximate number of elements that are measured for the cell size"),
    MG(coarsening.last_nodes, "[8, 10000]", .unit = "nodes", .example = "100",
       .help = "number of nodes of a coarse grid below or at which no further one follows"),
    {.path = "solver.multigrid.coarsening.thin",
     .type = HX_KEY_LIST,
     .offset = AT(solver.thin),
     .entry_size = sizeof(hx_config_thin),
     .is_expert = 1,
     .help = "rules, in place of the built-in ones, that decide whether a direction of a coarse "
             "grid keeps its cells on the next coarse grid: it does if all conditions of a rule "
             "hold; otherwise it is coarsened"},
    KEY_AT("solver.multigrid.coarsening.thin[].cells_from", INT, IN(thin, rule.cells_from),
           .required = 1, .unit = "cells", .range = "[2, 1000]", .example = "3",
           .help = "smallest number of cells along the direction"),
    KEY_AT("solver.multigrid.coarsening.thin[].cells_to", INT, IN(thin, rule.cells_to),
           .required = 1, .unit = "cells", .range = "[2, 1000]", .example = "5",
           .help = "largest number of cells along the direction"),
    KEY_AT("solver.multigrid.coarsening.thin[].longest", FLOAT, IN(thin, rule.longest),
           .fallback = "0.0", .range = "[0, 1000]", .example = "2.0",
           .help =
               "smallest ratio of the number of cells along the longest direction to that along "
               "this one"),
    KEY_AT("solver.multigrid.coarsening.thin[].nodes_most", INT, IN(thin, rule.nodes_most),
           .unit = "nodes", .fallback = "0", .range = "[0, inf)", .example = "4000",
           .help = "largest number of nodes of the coarse grid; 0: any number"),
    EXPERTS(".lines", "line smoothing on meshes of stretched elements"),
    MG(lines.aspect, "[1, inf)", .example = "4.0",
       .help = "mean aspect ratio of the elements of a mesh above which lines of nodes are "
               "smoothed"),
    MG(lines.element_aspect, "[1, inf)", .example = "2.0",
       .help = "aspect ratio of an element above which its short edges join a line"),
    MG(lines.longest, "[1, 100000]", .unit = "nodes", .example = "128",
       .help = "largest number of nodes of a line, which a device processes one after the other"),
    EXPERTS(".smoothing", "smoothers, by the level that they smooth"),
    SMOOTHER(mesh_few, "the mesh with fewer than few_below elements across a cell", "[2, 8]", "3",
             "8.0"),
    SMOOTHER(mesh_many, "the mesh with fewer than many_below elements across a cell", "[2, 8]", "5",
             "20.0"),
    SMOOTHER(mesh_most, "the mesh with more elements across a cell", "[2, 8]", "5", "40.0"),
    MG(smoothing.few_below, "(0, inf)", .unit = "elements", .example = "4.5",
       .help = "mean number of elements across a cell of the first coarse grid below which the "
               "mesh is smoothed by mesh_few"),
    MG(smoothing.many_below, "(0, inf)", .unit = "elements", .example = "12.0",
       .help = "mean number of elements across a cell of the first coarse grid below which the "
               "mesh is smoothed by mesh_many, at least few_below"),
    SMOOTHER(first, "the first coarse grid", "[1, 8]", "3", "10.0"),
    SMOOTHER(others, "the other coarse grids", "[1, 8]", "3", "12.0"),
    SMOOTHER(few, "a coarse grid of at most few_nodes nodes above the direct solve", "[1, 8]", "2",
             "8.0"),
    MG(smoothing.few_nodes, "[0, inf)", .unit = "nodes", .example = "2000",
       .help = "number of nodes below or at which a coarse grid above the direct solve visits it "
               "once, and is smoothed by `few` if it is visited often itself"),
    MG(smoothing.visits, "[1, 4]", .unit = "visits", .example = "1",
       .help = "number of visits of the next coarse grid per cycle on the first coarse grid, and "
               "on the others if coarse matrices are corrected for rigid motions; 2 gives a "
               "W-cycle"),
    MG(smoothing.weight, "(0, 2)", .example = "1.4",
       .help = "factor of a correction from a coarse grid that is visited more than once"),
    EXPERTS(".spectrum", "estimates of the largest eigenvalues, by power iteration"),
    MG(spectrum.safety, "[1, 10]", .example = "1.2",
       .help = "ratio of the upper end of the smoothed interval to the estimated largest "
               "eigenvalue"),
    MG(spectrum.kept, "[0, 1]", .example = "0.95",
       .help = "smallest ratio of an estimate to that of the previous design"),
    MG(spectrum.steps_begin, "[2, 1000]", .unit = "power steps", .example = "30",
       .help = "number of power steps on each level for the first design"),
    MG(spectrum.steps_mesh, "[2, 1000]", .unit = "power steps", .example = "4",
       .help = "number of power steps on the mesh for a later design"),
    MG(spectrum.steps_uneven, "[2, 1000]", .unit = "power steps", .example = "10",
       .help = "number of power steps on a mesh of unequal elements for a later design"),
    MG(spectrum.steps_first, "[2, 1000]", .unit = "power steps", .example = "8",
       .help = "number of power steps on the first coarse grid for a later design"),
    MG(spectrum.steps_others, "[2, 1000]", .unit = "power steps", .example = "20",
       .help = "number of power steps on each other coarse grid for a later design"),
    MG(spectrum.steps_refresh, "[2, 1000]", .unit = "power steps", .example = "60",
       .help = "number of power steps from a random vector, when a solve takes long"),
    MG(spectrum.steps_unscaled, "[0, 8]", .unit = "power steps", .example = "4",
       .help = "number of power steps on a coarse grid after which its vector is scaled"),
    EXPERTS(".direct", "direct solve on the last coarse grid"),
    MG(direct.operations, "[0, inf)", .example = "20000.0",
       .help = "largest number of operations of a factorization on a CPU, per element of the "
               "mesh"),
    MG(direct.factor_nodes, "[1, inf)", .unit = "nodes", .example = "10000",
       .help = "number of nodes of the largest coarse grid that a CPU factorizes"),
    MG(direct.inverse_nodes, "[1, 2000]", .unit = "nodes", .example = "400",
       .help = "number of nodes of the largest coarse grid that a GPU inverts"),
    MG(direct.added, "(0, 0.1]", .example = "1e-5",
       .help = "fraction of the diagonal that is added to the last matrix if there is one coarse "
               "grid, twice as much for each further one"),
    MG(direct.added_factor, "[1.1, 1000]", .example = "2.0",
       .help = "factor by which that fraction grows while rounding noise exceeds it"),
    MG(direct.added_most, "(0, 1]", .example = "0.02",
       .help = "largest fraction of the diagonal that is added to the last matrix"),
    EXPERTS(".update", "updates of the first coarse matrix for a new design"),
    MG(update.stored_bytes, "[0, inf)", .unit = "bytes", .example = "2e9",
       .help = "size up to which the contributions of all cells are stored in any case"),
    MG(update.stored_room, "[0, 1]", .example = "0.2",
       .help = "fraction of the device memory that must remain free to store contributions of a "
               "larger size"),
    MG(update.means_iterations, "[0, inf)", .unit = "iterations", .example = "30",
       .help = "number of iterations of a solve above which contributions of cells are no longer "
               "computed from mean strains"),
    MG(update.means_cells, "[0, inf)", .unit = "cells", .example = "64",
       .help = "smallest number of cells of a mesh whose contributions are computed from mean "
               "strains"),
    EXPERTS(".rigid", "rigid sets"),
    MG(rigid.cycles, "[1, 100]", .unit = "cycles", .example = "6",
       .help = "number of multigrid cycles that extend the motion of a rigid set elastically into "
               "the part"),
    MG(rigid.added, "(0, 1]", .example = "1e-5",
       .help = "fraction of the energy of motions without extension that is added to the diagonal "
               "of their matrix"),
    EXPERTS(".deflation", "deflation of floating components"),
    MG(deflation.stiff, "(0, 1]", .example = "[0.05, 0.005, 0.0005]",
       .help = "fractions of the largest modulus above which elements form components, in "
               "descending order"),
    MG(deflation.softness, "(0, inf)", .example = "20.0",
       .help = "smallest softness of a component that is deflated"),
    MG(deflation.components, "[1, 400]", .unit = "components", .example = "50",
       .help = "largest number of components that are deflated, the softest"),
    MG(deflation.spare_nodes, "[0, inf)", .unit = "nodes", .example = "200000",
       .help = "largest number of nodes of all deflated components together, in addition to those "
               "of the mesh"),
    MG(deflation.held_nodes, "[0, inf)", .unit = "nodes", .example = "2000",
       .help = "number of nodes above which a component that supports hold is not deflated"),
    MG(deflation.diagonal, "(0, 10]", .example = "0.3",
       .help = "estimated diagonal entry of an element's stiffness matrix, divided by its modulus "
               "and edge"),
    MG(deflation.held_pivot, "[0, 1)", .example = "1e-7",
       .help = "smallest relative pivot of the supports that hold a component"),
    MG(deflation.energy_pivot, "[0, 1)", .example = "1e-12",
       .help = "relative pivot of the energies of a component below which its nodes lack a "
               "motion"),
    MG(deflation.column_pivot, "[0, 1)", .example = "1e-9",
       .help = "relative pivot below which a motion depends linearly on those of other "
               "components"),
    MG(deflation.coupled_pivot, "[0, 1)", .example = "1e-14",
       .help = "relative pivot of the coupled energies below which only rounding is left"),
    MG(deflation.pause, "[1, 1000]", .unit = "designs", .example = "4",
       .help = "number of designs that are not searched after a search without result, doubled "
               "each time"),
    EXPERTS(".monitoring", "when a long solve enables deflation or refreshes estimates"),
    MG(monitoring.earliest, "[1, inf)", .unit = "iterations", .example = "12",
       .help = "smallest number of iterations before deflation is enabled because convergence is "
               "slow"),
    MG(monitoring.every, "[1, 1000]", .unit = "iterations", .example = "8",
       .help = "number of iterations over which convergence is judged"),
    MG(monitoring.far, "[1, inf)", .unit = "iterations", .example = "80",
       .help = "predicted number of iterations above which deflation is enabled early"),
    MG(monitoring.deflate_after, "[1, inf)", .unit = "iterations", .example = "40",
       .help = "number of iterations after which deflation is enabled in any case"),
    MG(monitoring.patience, "[1, 100000]", .unit = "iterations", .example = "60",
       .help = "number of iterations after which estimates are refreshed, doubled each time"),
    MG(monitoring.decades, "[0, 100]", .unit = "decades", .example = "2.0",
       .help = "smallest reduction of the residual that must be left for early deflation, or for a "
               "refresh because r'z < 0"),

    GROUP("output", "files that a run writes"),
    KEY(output.directory, TEXT, .is_free = 1, .fallback = "out",
        .help = "output folder, relative to the current folder; created if it does not exist"),
    KEY(output.every, INT, .is_free = 1, .unit = "iterations", .fallback = "10",
        .range = "[0, inf)",
        .help = "design iterations between two VTK files; the last design is always written, with "
                "0 only that"),
    KEY(output.format, WORD, .is_free = 1, .fallback = "binary", .word = format_words,
        .help = "format of the VTK files"),
    KEY(output.threshold, FLOAT, .is_free = 1, .range = "[0, 1]", .note = "all elements",
        .help = "smallest density of the elements that VTK files contain, with their places in "
                "the mesh as vtkOriginalCellIds"),
    KEY(output.checkpoint, FLOAT, .is_free = 1, .takes_auto = 1, .unit = "minutes",
        .range = "[0, inf)", .note = "\"auto\"",
        .help = "time between two checkpoints, from which `hextop run FILE --resume` continues; "
                "auto: 100 times what the last one took; 0: only on a signal, and at the end of a "
                "run that has written one"),
    KEY(output.timeline, BOOL, .is_free = 1, .fallback = "false",
        .help = "whether timeline.json is written, which shows how devices and hosts spent the "
                "time of the last designs, for ui.perfetto.dev or chrome://tracing; recording it "
                "takes time"),
    KEY(output.fields, CHOICES, .is_free = 1, .fallback = "density", .note = "(\"density\")",
        .word = field_words,
        .help = "fields of the VTK files: density; displacement; sensitivity (filtered); energy "
                "of elements u'Ku; von_mises at centres, of the macroscopic stress rho^p E; sets; "
                "for heat temperature, and heat_flux at centres, instead of displacement and "
                "von_mises"),
};

const size_t hx_n_key = sizeof hx_keys / sizeof hx_keys[0];
