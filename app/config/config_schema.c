#include "config_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "core/base/vector_unit.h"
#include "core/generate/generate.h"
#include "core/registry.h"
#include "core/solver/pcg.h"

static const char *generator_word(size_t i)
{
    return hx_generators[i] ? hx_generators[i]->name : NULL;
}

/* Valid everywhere, also where the build lacks them (it then says what it does instead). */
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
    return hx_objectives[i] ? hx_objectives[i]->name : NULL;
}

static const char *update_word(size_t i)
{
    return hx_updates[i] ? hx_updates[i]->name : NULL;
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

/* Those of keys that land in an enum stand in its order. */
static const char *const criterion_words[] = {"relative", "absolute", "compliance", NULL};
static const char *const in_parts_words[] = {"auto", "always", "never", NULL};
static const char *const transport_words[] = {"auto", "direct", "nccl", "messages", NULL};
static const char *const failure_words[] = {"continue", "stop", NULL};
static const char *const unit_words[] = {"element", "length", NULL};
static const char *const from_words[] = {"file", NULL};
static const char *const coupling_words[] = {"distributing", "rigid", NULL};
static const char *const share_words[] = {"total", "node", "area", NULL};
static const char *const format_words[] = {"binary", "ascii", NULL};
static const char *const field_words[] = {"density",     "displacement", "sensitivity",
                                          "energy",      "von_mises",    "sets",
                                          "temperature", "heat_flux",    NULL};
static const char *const physics_words[] = {"elasticity", "heat", NULL};

#define AT(member) offsetof(hx_config, member)
#define IN(type, member) offsetof(hx_config_##type, member)
#define GROUP(p, text)                                                                             \
    {                                                                                              \
        .path = p, .type = HX_KEY_GROUP, .offset = HX_NOWHERE, .help = text                        \
    }
#define LIST(p, member, entry_type, text)                                                          \
    {                                                                                              \
        .path = p, .type = HX_KEY_LIST, .offset = AT(member), .entry_size = sizeof(entry_type),    \
        .help = text                                                                               \
    }
#define SHAPE(p, member, text)                                                                     \
    {                                                                                              \
        .path = p, .type = HX_KEY_GROUP, .offset = IN(set, member.given), .help = text             \
    }
/* A group that switches something on when it is there. */
#define SWITCH(p, member, text)                                                                    \
    {                                                                                              \
        .path = p, .type = HX_KEY_GROUP, .offset = AT(member.given), .help = text                  \
    }
#define KEY(p, t, where, ...)                                                                      \
    {                                                                                              \
        .path = p, .type = HX_KEY_##t, .offset = where, __VA_ARGS__                                \
    }

#define ELASTICITY .only = 1 + HX_PHYSICS_ELASTICITY
#define HEAT .only = 1 + HX_PHYSICS_HEAT

const hx_key hx_keys[] = {
    KEY("title", TEXT, AT(title), .is_free = 1, .fallback = "", .note = "\"\"",
        .help = "shown in the header and written into the files"),

    KEY("physics", WORD, AT(physics), .word = physics_words, .note = "elasticity",
        .help = "elasticity, or heat: steady conduction, whose keys are in units of power, length "
                "and temperature"),

    KEY("units", TEXT, AT(units_text), .note = "-",
        .help =
            "force, length and stress of all numbers here, and the time if not s, as in \"N, mm, "
            "MPa\" or \"lbf, in, psi\": checked, and named beside the figures; nothing is "
            "converted; of heat power, length and temperature: \"W, mm, K\""),

    GROUP("mesh", "the mesh: a generator, or a file"),
    KEY("mesh.generator", TEXT, AT(mesh.generator), .more_word = generator_word,
        .help = "one of the paper's examples; `hextop list` describes them"),
    KEY("mesh.size", INT, AT(mesh.size), .generator_only = 1, .fallback = "0", .range = "[0, 5]",
        .note = "1, or 0 when nx, ny or nz is given",
        .help = "the paper's mesh sizes 1 to 5, 31 thousand to 1.2 million elements; 0: nx, ny and "
                "nz alone count, one of which is wanted then"),
    KEY("mesh.nx", INT, AT(mesh.nx), .generator_only = 1, .unit = "elements", .fallback = "0",
        .range = "[0, 100000]", .note = "from size",
        .help = "elements along x; wins over size; exact meaning in `hextop list`"),
    KEY("mesh.ny", INT, AT(mesh.ny), .generator_only = 1, .unit = "elements", .fallback = "0",
        .range = "[0, 100000]", .note = "from size", .help = "elements along y"),
    KEY("mesh.nz", INT, AT(mesh.nz), .generator_only = 1, .unit = "elements", .fallback = "0",
        .range = "[0, 100000]", .note = "from size", .help = "elements along z"),
    KEY("mesh.distort", FLOAT, AT(mesh.distort), .generator_only = 1, .unit = "element size",
        .fallback = "0.0", .range = "[0, 0.3]",
        .help = "moves inner nodes of a generated mesh at random by up to this"),
    KEY("mesh.seed", INT, AT(mesh.seed), .generator_only = 1, .fallback = "1", .range = "[0, inf)",
        .help = "start of the random numbers of distort"),
    KEY("mesh.file", TEXT, AT(mesh.file), .is_free = 1,
        .help = "mesh of solids, relative to the config: legacy VTK (integer arrays become "
                "sets), Gmsh (physical groups do), Abaqus .inp or "
                "ANSYS .cdb; or a CAD model that gmsh meshes (faces and solids become sets, "
                "names in STEP files too): .step, .iges, .brep, .stl; or a spline volume: G+Smo "
                ".xml, MFEM NURBS .mesh"),
    KEY("mesh.merge", FLOAT, AT(mesh.merge), .file_only = 1, .unit = "length", .range = "[0, inf)",
        .note = "refuses bodies that meet unconnected",
        .help = "nodes of a file closer than this become one; 0: keeps coincident nodes apart"),
    KEY("mesh.ignore", WORDS, AT(mesh.ignore), .file_only = 1, .is_free = 1,
        .example = "(\"S4\", \"MASS\")",
        .help = "what a file states, hextop does not read and the analysis leaves out on purpose: "
                "words as the warning of what is not read prints them; without it such a file "
                "refuses supports, loads and material from = \"file\""),
    KEY("mesh.element_size", FLOAT, AT(mesh.element_size), .file_only = 1, .unit = "length",
        .range = "(0, inf)", .note = "for some 100,000 tetrahedra",
        .help = "of a CAD model, the edge of its tetrahedra; down to a quarter of it where the "
                "surface is curved"),
    KEY("mesh.time_limit", FLOAT, AT(mesh.time_limit), .file_only = 1, .unit = "s",
        .range = "(0, inf)", .note = "600",
        .help = "for each run of gmsh, which meshes CAD models"),
    KEY("mesh.degree", INT, AT(mesh.degree), .file_only = 1, .range = "[1, 4]",
        .note = "the file's", .help = "of a spline: raises every direction to this degree, first"),
    KEY("mesh.refine", NUMBERS, AT(mesh.refine), .file_only = 1, .range = "[0, 10000]",
        .note = "[1, 1, 1]",
        .help = "of a spline: equal parts of every span along u, v, w of all patches, or three "
                "numbers a patch; 0 follows the neighbours through interfaces"),
    KEY("mesh.shuffle", INT, AT(mesh.shuffle), .fallback = "0", .range = "[0, inf)",
        .help = "permutes nodes and elements at random with this seed; 0: as they come"),
    KEY("mesh.reorder", BOOL, AT(mesh.reorder), .fallback = "true",
        .help = "renumbers along a space-filling curve for speed; undone in what is written"),
    KEY("mesh.in_parts", WORD, AT(mesh.in_parts), .is_free = 1, .fallback = "auto",
        .word = in_parts_words,
        .help =
            "under mpirun each process makes its part of the mesh alone and none has the whole; "
            "auto: meshes of 16 million elements and more, generated or from a .vtk, .msh or .inp "
            "file, where nothing else asks for the whole"),

    GROUP("material", "isotropic: linear elasticity, or conduction"),
    KEY("material.from", TEXT, AT(material.from), .word = from_words, .file_only = 1,
        .help = "file: the one isotropic material that mesh.file states for all elements, in the "
                "file's own units; a key beside it counts more"),
    KEY("material.E", FLOAT, AT(material.young), ELASTICITY, .unit = "force/length^2",
        .fallback = "1.0", .range = "[1e-20, 1e20]", .help = "Young's modulus of solid material"),
    KEY("material.nu", FLOAT, AT(material.poisson), ELASTICITY, .fallback = "0.3",
        .range = "[-0.999, 0.499]", .help = "Poisson's ratio"),
    KEY("material.density", FLOAT, AT(material.density), .unit = "mass/length^3",
        .range = "(0, inf)",
        .help = "of solid material, needed by gravity and centrifugal loads; consistent units: "
                "t/mm^3 with N, mm and MPa"),
    KEY("material.conductivity", FLOAT, AT(material.conductivity), HEAT,
        .unit = "power/(length*temperature)", .fallback = "1.0", .range = "[1e-20, 1e20]",
        .help = "of solid material"),
    KEY("material.conductivity_min", FLOAT, AT(material.conductivity_min), HEAT,
        .unit = "power/(length*temperature)", .range = "(0, inf)",
        .note = "1e-3 of material.conductivity",
        .help = "of void: the conductivity is conductivity_min + (conductivity - conductivity_min) "
                "rho^p"),

    LIST("supports", supports, hx_config_support, "held or displaced sets"),
    KEY("supports[].set", TEXT, IN(support, set), .note = "required without from",
        .help = "name of a set of nodes"),
    KEY("supports[].from", TEXT, IN(support, from), ELASTICITY, .word = from_words,
        .help = "file: the supports and prescribed displacements that mesh.file states"),
    KEY("supports[].fix", TEXT, IN(support, fix), ELASTICITY, .note = "required with set",
        .help = "the components held: letters of \"xyz\""),
    KEY("supports[].value", VECTOR, IN(support, value), ELASTICITY, .unit = "length",
        .fallback = "[0.0, 0.0, 0.0]", .help = "prescribed displacement of the held components"),
    KEY("supports[].temperature", FLOAT, IN(support, temperature), HEAT, .unit = "temperature",
        .note = "required", .help = "held at the set's nodes"),

    {.path = "springs",
     .type = HX_KEY_LIST,
     .offset = AT(springs),
     .entry_size = sizeof(hx_config_spring),
     ELASTICITY,
     .help = "springs from a set to ground"},
    KEY("springs[].set", TEXT, IN(spring, set), .required = 1, .help = "name of a set of nodes"),
    KEY("springs[].stiffness", VECTOR, IN(spring, stiffness), .required = 1, .unit = "force/length",
        .range = "[0, inf)", .help = "along x, y and z"),
    KEY("springs[].per", WORD, IN(spring, per), .fallback = "total", .word = share_words,
        .help = "total: of the whole set, shared by area if it spans boundary faces, else by "
                "nodes; node: at every node; area: per area of its boundary faces"),

    {.path = "convection",
     .type = HX_KEY_LIST,
     .offset = AT(convection),
     .entry_size = sizeof(hx_config_convection),
     HEAT,
     .help = "heat to a fluid, coefficient (T - ambient) per area, in every load case"},
    KEY("convection[].set", TEXT, IN(convection, set), .required = 1,
        .help = "name of a set that spans boundary faces"),
    KEY("convection[].coefficient", FLOAT, IN(convection, coefficient), .required = 1,
        .unit = "power/(length^2*temperature)", .range = "(0, inf)", .help = "of heat transfer"),
    KEY("convection[].ambient", FLOAT, IN(convection, ambient), .required = 1,
        .unit = "temperature", .help = "of the fluid"),

    LIST("loads", loads, hx_config_load,
         "forces on sets or on the whole part; each has exactly one of node_force, total_force, "
         "traction, pressure, bearing_force, remote_force (or a moment, or both), gravity, "
         "centrifugal, from; of heat exactly one of source, heat, flux"),
    KEY("loads[].set", TEXT, IN(load, set),
        .note = "required but by gravity, centrifugal, from and source",
        .help = "name of a set of nodes; traction and pressure need boundary faces in it"),
    KEY("loads[].from", TEXT, IN(load, from), ELASTICITY, .word = from_words,
        .help = "file: the forces on nodes that mesh.file states; its steps are the load cases"),
    KEY("loads[].node_force", VECTOR, IN(load, node_force), ELASTICITY, .unit = "force",
        .help = "force at every node of the set"),
    KEY("loads[].total_force", VECTOR, IN(load, total_force), ELASTICITY, .unit = "force",
        .help = "force shared over the set: by area if it spans boundary faces, else by nodes"),
    KEY("loads[].traction", VECTOR, IN(load, traction), ELASTICITY, .unit = "force/length^2",
        .help = "force per area on the set's boundary faces, as consistent nodal loads"),
    KEY("loads[].pressure", FLOAT, IN(load, pressure), ELASTICITY, .unit = "force/length^2",
        .help = "pressure on the set's boundary faces, positive pushes inwards"),
    KEY("loads[].bearing_force", VECTOR, IN(load, bearing_force), ELASTICITY, .unit = "force",
        .help = "force of a pin on the bore that the set's boundary faces are: pressure as the "
                "cosine on the half it pushes against; along the axis as a uniform traction"),
    KEY("loads[].gravity", VECTOR, IN(load, gravity), ELASTICITY, .unit = "length/time^2",
        .help = "acceleration of the whole part, by its density and material.density; "
                "[0.0, 0.0, -9810.0] in mm and s"),
    KEY("loads[].centrifugal", GROUP, IN(load, centrifugal.given), ELASTICITY,
        .help = "the whole part turns about an axis"),
    KEY("loads[].centrifugal.point", VECTOR, IN(load, centrifugal.point), .unit = "length",
        .required = 1, .help = "a point on the axis"),
    KEY("loads[].centrifugal.axis", VECTOR, IN(load, centrifugal.axis), .required = 1,
        .help = "direction of the axis, of any length"),
    KEY("loads[].centrifugal.speed", FLOAT, IN(load, centrifugal.speed), .unit = "rad/time",
        .required = 1, .range = "(0, inf)", .help = "2 pi times the turns per time"),
    KEY("loads[].remote_force", VECTOR, IN(load, remote_force), ELASTICITY, .unit = "force",
        .help = "force that acts at `point` and is carried by the set's nodes, by their share of "
                "its faces' area, or equally"),
    KEY("loads[].moment", VECTOR, IN(load, moment), ELASTICITY, .unit = "force*length",
        .help = "moment carried by the set's nodes, alone or with a remote_force"),
    KEY("loads[].point", VECTOR, IN(load, point), ELASTICITY, .unit = "length",
        .note = "required with remote_force", .help = "where remote_force acts"),
    KEY("loads[].coupling", WORD, IN(load, coupling), ELASTICITY, .word = coupling_words,
        .note = "distributing",
        .help = "of remote_force and moment: the set stays flexible, or moves as a rigid body"),
    KEY("loads[].source", FLOAT, IN(load, source), HEAT, .unit = "power/length^3",
        .help = "heat per volume of the set's elements, of the whole part without a set; whatever "
                "their density"),
    KEY("loads[].heat", FLOAT, IN(load, heat), HEAT, .unit = "power",
        .help = "heat in all, shared over the set: by volume if it holds elements, else by area if "
                "it spans boundary faces, else by nodes"),
    KEY("loads[].flux", FLOAT, IN(load, flux), HEAT, .unit = "power/length^2",
        .help = "heat per area into the set's boundary faces"),
    KEY("loads[].case", INT, IN(load, load_case), .range = "[1, 1000]",
        .note = "1; with from, every step of the file",
        .help = "load case the entry belongs to; cases are numbered without a gap; with from that "
                "step of the file, or its only one"),
    KEY("weights", NUMBERS, AT(weights), .range = "(0, inf)", .note = "1 for every case",
        .help = "weights of the load cases' compliances in the objective"),

    LIST("passive", passive, hx_config_passive, "elements that keep their density"),
    KEY("passive[].set", TEXT, IN(passive, set), .required = 1,
        .help = "name of a set of elements; with a skin, of nodes or faces"),
    KEY("passive[].skin", FLOAT, IN(passive, skin), .unit = "length", .range = "(0, inf)",
        .help =
            "instead of the set's elements those within this thickness of its boundary faces, or "
            "of its nodes: by centroid, and at least the layer that touches it"),
    KEY("passive[].density", FLOAT, IN(passive, density), .fallback = "1.0", .range = "(0, 1]",
        .help = "density kept: 1 solid, rho_min void"),

    LIST("sets", sets, hx_config_set,
         "sets selected by geometry or combined; each has a name and exactly one of plane, box, "
         "cylinder, sphere, and, or, not"),
    KEY("sets[].name", TEXT, IN(set, name), .required = 1, .help = "name of the new set"),
    SHAPE("sets[].plane", plane, "points in a plane"),
    KEY("sets[].plane.point", VECTOR, IN(set, plane.point), .unit = "length", .required = 1,
        .help = "a point of the plane"),
    KEY("sets[].plane.normal", VECTOR, IN(set, plane.normal), .required = 1,
        .help = "its normal, of any length"),
    KEY("sets[].plane.tolerance", FLOAT, IN(set, plane.tolerance), .unit = "length",
        .range = "[0, inf)", .note = "1e-6 of the mesh's diagonal", .help = "distance allowed"),
    SHAPE("sets[].box", box, "points in a box along the axes"),
    KEY("sets[].box.min", VECTOR, IN(set, box.min), .unit = "length", .required = 1,
        .help = "its corner with the smallest coordinates"),
    KEY("sets[].box.max", VECTOR, IN(set, box.max), .unit = "length", .required = 1,
        .help = "its corner with the largest coordinates"),
    KEY("sets[].box.tolerance", FLOAT, IN(set, box.tolerance), .unit = "length",
        .range = "[0, inf)", .note = "1e-6 of the mesh's diagonal", .help = "distance allowed"),
    SHAPE("sets[].cylinder", cylinder, "points in a cylinder or tube"),
    KEY("sets[].cylinder.point", VECTOR, IN(set, cylinder.point), .unit = "length", .required = 1,
        .help = "a point on the axis; its start when a length is given"),
    KEY("sets[].cylinder.axis", VECTOR, IN(set, cylinder.axis), .required = 1,
        .help = "direction of the axis, of any length"),
    KEY("sets[].cylinder.radius", FLOAT, IN(set, cylinder.radius), .unit = "length", .required = 1,
        .range = "(0, inf)", .help = "outer radius"),
    KEY("sets[].cylinder.inner", FLOAT, IN(set, cylinder.inner), .unit = "length",
        .fallback = "0.0", .range = "[0, inf)",
        .help = "inner radius; equal to radius: the surface alone"),
    KEY("sets[].cylinder.length", FLOAT, IN(set, cylinder.length), .unit = "length",
        .fallback = "0.0", .range = "[0, inf)", .help = "along the axis; 0: without ends"),
    KEY("sets[].cylinder.tolerance", FLOAT, IN(set, cylinder.tolerance), .unit = "length",
        .range = "[0, inf)", .note = "1e-6 of the mesh's diagonal", .help = "distance allowed"),
    SHAPE("sets[].sphere", sphere, "points in a sphere or shell"),
    KEY("sets[].sphere.center", VECTOR, IN(set, sphere.center), .unit = "length", .required = 1,
        .help = "its centre"),
    KEY("sets[].sphere.radius", FLOAT, IN(set, sphere.radius), .unit = "length", .required = 1,
        .range = "(0, inf)", .help = "outer radius"),
    KEY("sets[].sphere.inner", FLOAT, IN(set, sphere.inner), .unit = "length", .fallback = "0.0",
        .range = "[0, inf)", .help = "inner radius; equal to radius: the surface alone"),
    KEY("sets[].sphere.tolerance", FLOAT, IN(set, sphere.tolerance), .unit = "length",
        .range = "[0, inf)", .note = "1e-6 of the mesh's diagonal", .help = "distance allowed"),
    KEY("sets[].and", WORDS, IN(set, all_of),
        .help = "what lies in all of these sets: their common nodes, elements, boundary faces and "
                "edges"),
    KEY("sets[].or", WORDS, IN(set, any_of),
        .help = "what lies in any of these sets: it has their boundary faces and no others"),
    KEY("sets[].not", WORDS, IN(set, none_of),
        .help = "what lies in none of these sets: all other nodes, elements, boundary faces and "
                "edges"),

    GROUP("optimization", "minimum compliance at a given volume, SIMP, optimality criteria"),
    KEY("optimization.volume_fraction", FLOAT, AT(optimization.volume_fraction), .required = 1,
        .range = "(0, 1]", .help = "material allowed, passive elements included"),
    KEY("optimization.objective", TEXT, AT(optimization.objective), .fallback = "compliance",
        .more_word = objective_word, .help = "what is minimised; `hextop list` describes them"),
    KEY("optimization.update", TEXT, AT(optimization.update), .fallback = "oc",
        .more_word = update_word,
        .help = "how the next design is proposed; `hextop list` describes them"),
    KEY("optimization.penalty", FLOAT, AT(optimization.penalty), .fallback = "3.0",
        .range = "[1, 20]", .help = "SIMP exponent p: stiffness = E rho^p"),
    KEY("optimization.rho_min", FLOAT, AT(optimization.rho_min), .fallback = "0.001",
        .range = "[1e-6, 0.99]", .help = "smallest density"),
    KEY("optimization.move", FLOAT, AT(optimization.move), .fallback = "0.2", .range = "[1e-6, 1]",
        .note = "0.2, with a projection 0.1",
        .help = "largest change of a density in an iteration"),
    KEY("optimization.damping", FLOAT, AT(optimization.damping), .fallback = "0.5",
        .range = "[1e-6, 1]", .help = "exponent eta of the optimality criteria"),
    KEY("optimization.iterations", INT, AT(optimization.iterations), .is_free = 1, .fallback = "50",
        .range = "[1, 1000000]", .help = "design iterations at most"),
    KEY("optimization.change_tolerance", FLOAT, AT(optimization.change_tolerance), .is_free = 1,
        .fallback = "0.0", .range = "[0, 1)",
        .help = "stops when no density changes by more than this, and penalty and beta have their "
                "last values; 0: never"),
    KEY("optimization.initial", TEXT, AT(optimization.initial),
        .note = "uniform at the volume fraction",
        .help =
            "VTK file of an earlier run on the same mesh to start from, in any order of its cells, "
            "or "
            "its .vtk.series or folder; elements that it lacks start at rho_min; relative to the "
            "config"),
    LIST("optimization.symmetry", optimization.symmetry, hx_config_plane,
         "planes that the design is mirrored at, 1 to 3, whatever the loads"),
    KEY("optimization.symmetry[].point", VECTOR, IN(plane, point), .unit = "length", .required = 1,
        .help = "a point of the plane"),
    KEY("optimization.symmetry[].normal", VECTOR, IN(plane, normal), .required = 1,
        .help = "its normal, of any length"),
    KEY("optimization.extrusion", VECTOR, AT(optimization.extrusion), .note = "none",
        .help = "direction along which the design does not change"),
    GROUP("optimization.filter", "what keeps the result independent of the mesh"),
    KEY("optimization.filter.kind", TEXT, AT(optimization.filter.kind), .fallback = "sensitivity",
        .more_word = filter_word, .help = "`hextop list` describes them"),
    KEY("optimization.filter.radius", FLOAT, AT(optimization.filter.radius), .range = "(0, inf)",
        .note = "the generator's for its size; required with mesh.file",
        .help = "reach of the filter, in `unit`"),
    KEY("optimization.filter.unit", WORD, AT(optimization.filter.unit), .fallback = "element",
        .word = unit_words,
        .help = "unit of radius: mean element size (of tetrahedra, wedges and pyramids their mean "
                "edge), or length as in the mesh"),
    KEY("optimization.filter.volume_weighted", BOOL, AT(optimization.filter.volume_weighted),
        .fallback = "false", .help = "weights by element volume, for graded meshes"),
    SWITCH(
        "optimization.projection", optimization.projection,
        "pushes filtered densities towards rho_min and 1 by a tanh step, more and more; with the "
        "filters density and helmholtz; { } takes the defaults"),
    KEY("optimization.projection.eta", FLOAT, AT(optimization.projection.eta), .fallback = "0.5",
        .range = "(0, 1)", .help = "filtered density at which the step is"),
    KEY("optimization.projection.beta", FLOAT, AT(optimization.projection.beta), .fallback = "1.0",
        .range = "(0, 512]", .help = "steepness of the step in the first designs"),
    KEY("optimization.projection.beta_max", FLOAT, AT(optimization.projection.beta_max),
        .fallback = "32.0", .range = "(0, 512]",
        .help = "steepness of the step in the last designs; at least beta"),
    KEY("optimization.projection.factor", FLOAT, AT(optimization.projection.factor),
        .fallback = "2.0", .range = "[1.01, 100]", .help = "beta rises by this factor"),
    KEY("optimization.projection.every", INT, AT(optimization.projection.every),
        .unit = "iterations", .fallback = "25", .range = "[1, inf)",
        .help =
            "design iterations between two increases; earlier once no density changes by more than "
            "change_tolerance"),
    SWITCH("optimization.continuation", optimization.continuation,
           "raises the SIMP exponent during the run; { } takes the defaults"),
    KEY("optimization.continuation.penalty_start", FLOAT,
        AT(optimization.continuation.penalty_start), .fallback = "1.0", .range = "[1, 20]",
        .help = "exponent of the first designs; the last one is optimization.penalty"),
    KEY("optimization.continuation.step", FLOAT, AT(optimization.continuation.step),
        .fallback = "0.5", .range = "[0.001, 19]", .help = "the exponent rises by this"),
    KEY("optimization.continuation.every", INT, AT(optimization.continuation.every),
        .unit = "iterations", .fallback = "10", .range = "[1, inf)",
        .help =
            "design iterations between two increases; earlier once no density changes by more than "
            "change_tolerance"),

    GROUP("solver", "the linear systems: preconditioned conjugate gradients, matrix-free"),
    KEY("solver.device", TEXT, AT(solver.device), .is_free = 1, .fallback = "auto",
        .more_word = device_word, .help = "auto: a GPU if there is one, else the CPU"),
    KEY("solver.operator", TEXT, AT(solver.op), .is_free = 1, .fallback = "auto",
        .more_word = operator_word,
        .help =
            "how K u is computed; auto: the fastest, by a timing at the start of those that can "
            "win; `hextop list` describes them, and what runs in place of one that the device "
            "lacks"),
    KEY("solver.layout", WORD, AT(solver.layout), .is_free = 1, .fallback = "interleaved",
        .more_word = layout_word, .help = "order in memory of the element matrices"),
    KEY("solver.element", WORD, AT(solver.element), .fallback = "linear", .more_word = element_word,
        .help =
            "quadratic: hex20, wedge15, pyramid13, tet10 over the same mesh, with the middles "
            "of its edges, by operators that store a matrix; spline: the control points of a file "
            "of splines, whose default it is"),
    KEY("solver.preconditioner", TEXT, AT(solver.preconditioner), .is_free = 1, .fallback = "auto",
        .more_word = precond_word,
        .help = "`hextop list` describes them; auto: multigrid from 500 elements on (of "
                "tetrahedra nodes, of quadratic elements points), jacobi for fewer, where "
                "multigrid does not fit, with precision mixed or criterion absolute"),
    KEY("solver.precision", WORD, AT(solver.precision), .fallback = "double",
        .more_word = precision_word,
        .help = "mixed: floats inside, true residual in double, the same stopping rule; operators "
                "with `mixed` in `hextop list`"),
    KEY("solver.criterion", WORD, AT(solver.criterion), .is_free = 1, .fallback = "relative",
        .word = criterion_words,
        .help = "relative: |r| <= tolerance |f|; absolute: r'z <= "
                "tolerance, as in the paper; compliance: what the compliance of a design still "
                "lacks <= tolerance times it, as estimated (`compare`, `verify`, `analyse` take "
                "|r| <= 1e-5 |f| in its place)"),
    KEY("solver.tolerance", FLOAT, AT(solver.tolerance), .is_free = 1, .fallback = "1e-5",
        .note = "1e-5; of compliance 1e-6", .range = "(0, inf)",
        .help = "when to stop; below 1 but where it is absolute"),
    KEY("solver.max_iterations", INT, AT(solver.max_iterations), .is_free = 1, .fallback = "10000",
        .range = "[1, inf)", .help = "iterations of a solve at most"),
    KEY("solver.warm_start", BOOL, AT(solver.warm_start), .fallback = "true",
        .help = "starts from the last design's displacements and their last change"),
    KEY("solver.on_failure", WORD, AT(solver.on_failure), .is_free = 1, .fallback = "continue",
        .word = failure_words,
        .help = "when a solve does not converge: continue with a warning, or stop the run"),
    KEY("solver.threads", INT, AT(solver.threads), .is_free = 1, .fallback = "0",
        .range = "[0, 4096]", .note = "0: all, or OMP_NUM_THREADS",
        .help = "CPU threads; at most 8 for each core, or 64"),
    KEY("solver.deterministic", BOOL, AT(solver.deterministic), .fallback = "false",
        .help = "only operators that give the same bits on every run; operator auto then times "
                "nothing"),
    KEY("solver.partition", WORD, AT(solver.partition), .is_free = 1, .fallback = "bisection",
        .more_word = partition_word,
        .help = "how mpirun's processes share the elements; bisection: halves across the longest "
                "side, and again; curve: pieces of their order; graph: METIS' parts, some 3 us an "
                "element to find them; auto: the one whose largest halo is smallest"),
    KEY("solver.transport", WORD, AT(solver.transport), .is_free = 1, .fallback = "auto",
        .word = transport_words, .variable = "HEXTOP_TRANSPORT",
        .help =
            "how values go between mpirun's processes: direct, from device to device, also if "
            "processes share a GPU; nccl; messages, through the host; auto: the first of these "
            "that works, and messages on a shared GPU; what this machine lacks falls back to "
            "messages; the environment variable HEXTOP_TRANSPORT counts if the key is not given"),
    KEY("solver.whole_coarse_grid", INT, AT(solver.whole_coarse_grid), .is_free = 1,
        .unit = "nodes", .fallback = "20000", .range = "[1, inf)",
        .variable = "HEXTOP_WHOLE_LATTICE",
        .help = "multigrid by several processes: a coarse grid of at most that many nodes is kept "
                "whole in each, larger ones are distributed; the environment variable "
                "HEXTOP_WHOLE_LATTICE counts if the key is not given"),
    KEY("solver.vector_unit", WORD, AT(solver.vector_unit), .is_free = 1, .fallback = "auto",
        .more_word = vector_word, .variable = "HEXTOP_VECTOR",
        .help =
            "vector unit of the CPU, on which the last bits of results depend; auto: the best "
            "one here, named by `hextop list`; the environment variable HEXTOP_VECTOR counts if "
            "the key is not given"),

    GROUP("output", "what is written"),
    KEY("output.directory", TEXT, AT(output.directory), .is_free = 1, .fallback = "out",
        .help = "where, relative to the current folder; created if it does not exist"),
    KEY("output.every", INT, AT(output.every), .is_free = 1, .unit = "iterations", .fallback = "10",
        .range = "[0, inf)",
        .help = "a VTK file every so many iterations, and at the end; 0: only at the end"),
    KEY("output.format", WORD, AT(output.format), .is_free = 1, .fallback = "binary",
        .word = format_words, .help = "of the VTK files"),
    KEY("output.threshold", FLOAT, AT(output.threshold), .is_free = 1, .range = "[0, 1]",
        .note = "all elements",
        .help = "only elements of at least this density, with their places in the whole file as "
                "vtkOriginalCellIds"),
    KEY("output.checkpoint", FLOAT, AT(output.checkpoint), .is_free = 1, .takes_auto = 1,
        .unit = "minutes", .range = "[0, inf)", .note = "\"auto\"",
        .help =
            "time between two checkpoints, which `hextop run FILE --resume` goes on from; auto: "
            "100 times what the last one took; 0: none but on a signal and at the end of a run "
            "that has written one"),
    KEY("output.timeline", BOOL, AT(output.timeline), .is_free = 1, .fallback = "false",
        .help = "also timeline.json: where devices and hosts spent the time of the last designs, "
                "for ui.perfetto.dev or chrome://tracing; marks take time themselves"),
    KEY("output.fields", CHOICES, AT(output.fields), .is_free = 1, .fallback = "density",
        .note = "(\"density\")", .word = field_words,
        .help = "density; displacement; sensitivity (filtered); energy of elements u'Ku; von_mises "
                "at centres, of the macroscopic stress rho^p E; sets; of heat temperature, and "
                "heat_flux at centres in place of displacement and von_mises"),
};

const size_t hx_n_key = sizeof hx_keys / sizeof hx_keys[0];

const char *hx_key_name(const hx_key *key)
{
    const char *dot = strrchr(key->path, '.');
    return dot ? dot + 1 : key->path;
}

int hx_key_is_member(const hx_key *key, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (n == 0) return strchr(key->path, '.') == NULL;
    return strncmp(key->path, prefix, n) == 0 && key->path[n] == '.' &&
           strchr(key->path + n + 1, '.') == NULL;
}

const hx_key *hx_key_find(const char *prefix, const char *name)
{
    for (size_t i = 0; i < hx_n_key; i++)
        if (hx_key_is_member(&hx_keys[i], prefix) && strcmp(hx_key_name(&hx_keys[i]), name) == 0)
            return &hx_keys[i];
    return NULL;
}

static size_t add_word(const char **word, size_t n, size_t n_word, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word[i], text) == 0) return n;
    if (n < n_word) word[n++] = text;
    return n;
}

size_t hx_key_words(const hx_key *key, const char **word, size_t n_word)
{
    size_t n = 0;
    for (size_t i = 0; key->word && key->word[i]; i++) n = add_word(word, n, n_word, key->word[i]);
    for (size_t i = 0; key->more_word && key->more_word(i); i++)
        n = add_word(word, n, n_word, key->more_word(i));
    return n;
}

enum { MOST_WORDS = 64 };

int hx_key_word_place(const hx_key *key, const char *text)
{
    const char *word[MOST_WORDS];
    const size_t n = hx_key_words(key, word, MOST_WORDS);
    for (size_t i = 0; i < n; i++)
        if (strcmp(word[i], text) == 0) return (int)i;
    return -1;
}

const char *hx_key_word(const hx_key *key, int place)
{
    const char *word[MOST_WORDS];
    const size_t n = hx_key_words(key, word, MOST_WORDS);
    return place >= 0 && (size_t)place < n ? word[place] : "";
}

const char *hx_config_word(const char *path, int place)
{
    for (size_t i = 0; i < hx_n_key; i++)
        if (strcmp(hx_keys[i].path, path) == 0) return hx_key_word(&hx_keys[i], place);
    return "";
}

int hx_range_holds(const char *range, double value)
{
    char *end = NULL;
    if (!isfinite(value) || fabs(value) > HX_LARGEST_NUMBER) return 0;
    if (!range) return 1;
    const double low = strtod(range + 1, &end);
    const double high = strtod(end + 1, &end);
    return (range[0] == '[' ? value >= low : value > low) &&
           (*end == ']' ? value <= high : value < high);
}

const char *hx_key_type_name(hx_key_type type)
{
    switch (type) {
    case HX_KEY_GROUP:
        return "a group { ... }";
    case HX_KEY_LIST:
        return "a list of groups ( { ... }, { ... } )";
    case HX_KEY_TEXT:
    case HX_KEY_WORD:
        return "a text in quotes";
    case HX_KEY_BOOL:
        return "true or false";
    case HX_KEY_INT:
        return "an integer";
    case HX_KEY_FLOAT:
        return "a number";
    case HX_KEY_VECTOR:
        return "three numbers [x, y, z]";
    case HX_KEY_NUMBERS:
        return "numbers [a, b, ...]";
    case HX_KEY_WORDS:
    case HX_KEY_CHOICES:
        return "a list of texts (\"a\", \"b\")";
    }
    return "a value";
}

const char *hx_key_type_word(hx_key_type type)
{
    static const char *const word[] = {"group",      "list",    "text",   "text",
                                       "true/false", "integer", "number", "vector",
                                       "numbers",    "texts",   "texts"};
    return word[type];
}

const char *hx_key_example(const hx_key *key)
{
    const char *const own = hx_key_own_example(key);
    if (own) return own;
    switch (key->type) {
    case HX_KEY_GROUP:
        return "{ }";
    case HX_KEY_LIST:
        return "( { } )";
    case HX_KEY_TEXT:
    case HX_KEY_WORD:
        return "\"...\"";
    case HX_KEY_BOOL:
        return "true";
    case HX_KEY_INT:
        return "1";
    case HX_KEY_FLOAT:
        return "0.3";
    case HX_KEY_VECTOR:
        return "[0.0, 0.0, 1.0]";
    case HX_KEY_NUMBERS:
        return "[1.0, 1.0]";
    case HX_KEY_WORDS:
    case HX_KEY_CHOICES:
        return "(\"density\")";
    }
    return "";
}

const char *hx_key_default(const hx_key *key, char *text, size_t n_text)
{
    if (key->required)
        snprintf(text, n_text, "required");
    else if (key->note)
        snprintf(text, n_text, "%s", key->note);
    else if (key->fallback && (key->type == HX_KEY_TEXT || key->type == HX_KEY_WORD))
        snprintf(text, n_text, "\"%s\"", key->fallback);
    else
        snprintf(text, n_text, "%s", key->fallback ? key->fallback : "-");
    return text;
}
