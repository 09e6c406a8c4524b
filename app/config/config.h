/* The values of a config file, with defaults filled in. The table in config_schema.c has all keys
 * with units and meanings; the members below receive their values.
 *
 * A key that is not given and has no default is NULL for text, NaN for numbers (a vector's first
 * component), and n = 0 for lists. */
#ifndef HX_CONFIG_H
#define HX_CONFIG_H

#include <limits.h>
#include <stddef.h>

#include "../text/json.h"
#include "config_tree.h"
#include "core/files/vtk.h"
#include "core/krylov/pcg.h"
#include "core/multigrid/mg_params.h"
#include "core/partition/partition.h"
#include "core/problem/problem.h"
#include "units.h"

/* A list of entries of one type: `const hx_config_load *load = cfg->loads.entry;` */
typedef struct hx_config_list {
    size_t n;
    void *entry; /* (owned) */
} hx_config_list;

typedef struct hx_config_numbers {
    size_t n;
    double *value; /* (owned) */
} hx_config_numbers;

typedef struct hx_config_words {
    size_t n;
    char **word; /* (owned) */
} hx_config_words;

/* Keys with a fixed list of words become enums, in the order of the schema's words. Names of
 * plug-ins (operators, filters, ...) stay strings. */
/* Which of the eroded, made and dilated designs are analysed. */
typedef enum { HX_ANALYSED_AUTO, HX_ANALYSED_ERODED, HX_ANALYSED_ALL } hx_config_analysed;

typedef enum { HX_UNIT_ELEMENT, HX_UNIT_LENGTH } hx_config_unit;
typedef enum { HX_FAILURE_CONTINUE, HX_FAILURE_STOP } hx_config_failure;
enum { HX_COUPLING_NOT_GIVEN = -1, HX_COUPLING_DISTRIBUTING, HX_COUPLING_RIGID };
typedef enum {
    HX_FIELD_DENSITY,
    HX_FIELD_DISPLACEMENT,
    HX_FIELD_SENSITIVITY,
    HX_FIELD_ENERGY,
    HX_FIELD_VON_MISES,
    HX_FIELD_SETS,
    HX_FIELD_TEMPERATURE,
    HX_FIELD_HEAT_FLUX
} hx_config_field;

/* Some of a key's words, in the order given. */
typedef struct hx_config_choices {
    size_t n;
    int *word; /* (owned) */
} hx_config_choices;

/* `origin` of a list entry is the place where it was written: "bracket.cfg:12: supports[0]". */
typedef struct hx_config_support {
    char *origin;
    char *set, *from, *fix; /* `set` with `fix`, or from = "file" */
    double value[3];
    double temperature; /* for heat, together with `set` */
} hx_config_support;

typedef struct hx_config_convection {
    char *origin;
    char *set;
    double coefficient, ambient;
} hx_config_convection;

typedef struct hx_config_spring {
    char *origin;
    char *set;
    hx_spring_share per;
    double stiffness[3];
} hx_config_spring;

/* Whether the processes of a run make the mesh in parts. */
typedef enum { HX_IN_PARTS_AUTO, HX_IN_PARTS_ALWAYS, HX_IN_PARTS_NEVER } hx_config_in_parts;

typedef struct hx_config_load {
    char *origin;
    char *set, *from;
    double node_force[3], total_force[3], traction[3];
    double pressure;
    double bearing_force[3];
    double gravity[3];
    struct {
        int given;
        double point[3], axis[3], speed;
    } centrifugal;
    double remote_force[3], moment[3], point[3];
    double temperature_change;
    double source, heat, flux, node_heat; /* for heat */
    int coupling;                         /* HX_COUPLING_...; not given: distributing */
    int load_case; /* counted from 1; 0 (only with `from`): each step of the file is a case */
} hx_config_load;

/* Another material for a set of elements; NaN: the value of `material`. */
typedef struct hx_config_material {
    char *origin;
    char *set;
    double young, density, conductivity, expansion;
} hx_config_material;

typedef struct hx_config_passive {
    char *origin;
    char *set;
    double skin, density;
} hx_config_passive;

/* Which value of a set a response takes; -1: not given. */
typedef enum { HX_OF_MEAN, HX_OF_LARGEST } hx_config_of;

/* How the stresses of all elements are limited; -1: not given. */
typedef enum { HX_METHOD_LAGRANGIAN, HX_METHOD_NORM } hx_config_method;

typedef struct hx_config_constraint {
    char *origin;
    char *kind, *set, *set_2, *name;
    double max, min, direction[3];
    int magnitude, of;
    hx_config_numbers load_case; /* counted from 1; none: every case */
    /* of a stress: sets that are excluded; NaN or -1: not given */
    hx_config_words exclude;
    double exclude_radius, relaxation;
    int method;
    double radius; /* of a local volume; NaN: not given */
} hx_config_constraint;

/* A rule of solver.multigrid.coarsening.thin. */
typedef struct hx_config_thin {
    char *origin;
    hx_mg_thin rule;
} hx_config_thin;

typedef struct hx_config_plane {
    char *origin;
    double point[3], normal[3];
} hx_config_plane;

/* One cyclic, three patterns. */
enum { HX_CONFIG_MOST_REPETITIONS = 4 };

typedef struct hx_config_repetition {
    char *origin;
    int kind; /* hx_repetition_kind */
    int copies;
    double point[3], axis[3], step[3];
} hx_config_repetition;

typedef struct hx_config_milling {
    char *origin;
    double direction[3];
} hx_config_milling;

typedef struct hx_config_set {
    char *origin;
    char *name;
    struct {
        int given;
        double point[3], normal[3], tolerance;
    } plane;
    struct {
        int given;
        double min[3], max[3], tolerance;
    } box;
    struct {
        int given;
        double point[3], axis[3], radius, inner, length, tolerance;
    } cylinder;
    struct {
        int given;
        double center[3], radius, inner, tolerance;
    } sphere;
    hx_config_words all_of, any_of, none_of; /* and, or, not */
} hx_config_set;

typedef struct hx_config {
    char *path;     /* path of the config file (owned) */
    hx_value *tree; /* values as written, for messages with the position of a key (owned) */

    char *title;
    int physics;      /* hx_physics; -1: not given, which means elasticity */
    char *units_text; /* as written */
    hx_units units;   /* parsed from units_text; all names are empty without it */
    struct {
        char *generator;
        int size, nx, ny, nz;
        double distort;
        int seed;
        char *file;
        double merge;                    /* NaN: not given */
        double element_size, time_limit; /* for CAD models; NaN: not given */
        int mirrored;                    /* for CAD models */
        /* words for items of the mesh file that the user leaves out on purpose */
        hx_config_words ignore;
        int shuffle, reorder;
        hx_config_in_parts in_parts;
        int degree;               /* for splines; 0: as in the file */
        hx_config_numbers refine; /* number of parts of each span */
    } mesh;
    struct {
        char *from; /* "file", or NULL */
        double young, poisson, density, strength, expansion;
        double conductivity, conductivity_min;
    } material;
    hx_config_list materials, supports, springs, convection, loads, passive, sets;
    hx_config_numbers weights;
    struct {
        double volume_fraction; /* NaN: not given */
        double penalty, rho_min, move, damping;
        struct {
            char *kind, *set, *set_2;
            double direction[3];
            int magnitude, of, load_case; /* load_case: counted from 1; 0: all */
            hx_config_words exclude;
            double exclude_radius, relaxation; /* NaN: not given */
        } objective;
        hx_config_list constraints;
        double start;                       /* NaN: not given */
        double minimum_length, minimum_gap; /* NaN: not given */
        int analysed;                       /* hx_config_analysed; -1: not given */
        char *update; /* "auto" until the problem is known (hx_session_choose_update) */
        int iterations;
        double change_tolerance, kkt_tolerance; /* kkt_tolerance: NaN: not given */
        char *initial;
        hx_config_list symmetry, repetition;
        double extrusion[3];
        struct {
            int given;
            double angle, direction[3];
            char *base; /* NULL: the lowest elements */
        } overhang;
        struct {
            int given;
            double direction[3], parting[3]; /* parting: NaN: not given */
        } draw;
        hx_config_list milling;
        struct {
            char *kind;
            hx_config_unit unit;
            double radius;
            double in_elements; /* no key: the radius in elements, once the mesh is known; else 0 */
            int volume_weighted;
        } filter;
        struct {
            int given;
            double eta, erosion, dilation, beta, beta_max, factor;
            int every;
        } projection;
        struct {
            int given;
            double penalty_start, step;
            int every;
        } continuation;
    } optimization;
    struct {
        char *device, *op, *preconditioner; /* names, or "auto" */
        hx_layout layout;
        hx_element element;
        hx_precision precision;
        hx_pcg_criterion criterion;
        hx_config_failure on_failure;
        double tolerance;
        int max_iterations, warm_start, threads, deterministic;
        hx_partition_kind partition; /* also HX_PARTITION_AUTO */
        int transport;               /* hx_transport_kind */
        int whole_coarse_grid;       /* number of nodes */
        int vector_unit;             /* 0: auto; otherwise 1 + hx_vector_unit */
        hx_mg_params multigrid;
        hx_config_list thin; /* rules as written; also in multigrid.coarsening.thin */
    } solver;
    /* command-line option that replaces output.directory; NULL: the key names the folder */
    const char *output_option;
    struct {
        char *directory;
        hx_vtk_format format;
        int every;
        double threshold;  /* NAN: all elements */
        double checkpoint; /* minutes; NAN: auto */
        int timeline;
        hx_config_choices fields;
    } output;
} hx_config;

/* Reads and validates the config FILE with the KEY=VALUE arguments. HX_EINPUT: "FILE:LINE:
 * PATH.KEY: what is wrong; what would be right". */
int hx_config_read(hx_config *cfg, const char *path, size_t n_override,
                   const char *const *override);

/* Like hx_value_override; for a member of a group that a word stands for, the word first becomes
 * that group: "mass" becomes { kind = "mass"; }. */
int hx_config_override(hx_value *tree, const char *argument);

/* HX_EINPUT: an environment variable that replaces a key has an invalid word. For commands that can
 * run without a config. */
int hx_config_check_variables(void);

/* Like hx_config_read, for a tree, which is consumed even on failure; messages call it `path`. */
int hx_config_from_tree(hx_config *cfg, hx_value *tree, const char *path);

/* Size of the text below: a path, its line, and a key. */
enum { HX_CONFIG_PLACE = PATH_MAX + 1024 };

/* "FILE:LINE: KEY" if the key was written, else "FILE: KEY". */
const char *hx_config_place(const hx_config *cfg, const char *key, char *text, size_t n_text);

/* Puts the place of `key` before the recorded message, unless that begins with the place of a key
 * already; returns code. */
int hx_config_blame(const hx_config *cfg, const char *key, int code);

/* 1 if the key was written by the user. */
int hx_config_given(const hx_config *cfg, const char *key);

/* 1 if the key was given on the command line as KEY=VALUE. */
int hx_config_is_argument(const hx_config *cfg, const char *key);

/* Replaces the stopping criterion `compliance` by `relative` with its own default tolerance, for
 * commands that show the fields of a single solve or compare solves. */
void hx_config_solve_by_residual(hx_config *cfg);

/* The penalty of a config that states none: 3, and with a projection and stress limits by the
 * augmented Lagrangian hx_stress_penalty.last (core/design/stress_limit.h). */
double hx_config_usual_penalty(const hx_config *cfg);
/* 1 if stresses of all elements are limited, each by itself. */
int hx_config_limits_stresses(const hx_config *cfg);
/* The final beta of a projection that states none: 32, and with such limits 5 per element of the
 * filter radius, 10 to 32, so that grey borders of members are as many elements wide on each mesh: every large
 * rise of beta exceeds the limits by far, and a steep projection cuts members
 * (doc/notebook/2026-11-30-eroded-designs.md). */
double hx_config_usual_beta_max(const hx_config *cfg);

/* 1 if eroded, made and dilated designs are all analysed. */
int hx_config_analyses_all(const hx_config *cfg);

/* 1 if the final steepness of a projection follows from the filter radius in elements, because the
 * stress limits hold for each element and the config does not state it. */
int hx_config_chooses_beta(const hx_config *cfg);

/* Resolves a path of the config, which is relative to the folder of the config file. The caller
 * frees *path. */
int hx_config_resolve_path(const hx_config *cfg, const char *written, char **path);

/* Writes the resolved config as libconfig text; running it repeats the run. */
int hx_config_write(const hx_config *cfg, const char *path);

/* The settings that determine the result, with one line such as "optimization.penalty = 3.0" per
 * value. Keys that a resumed run may change (hx_key.is_free) are left out. The caller frees
 * *text. */
int hx_config_settings(const hx_config *cfg, char **text);

/* Writes the resolved config as a JSON object. */
void hx_config_write_json(const hx_config *cfg, hx_json *json, const char *key);

static inline hx_physics hx_config_physics(const hx_config *cfg)
{
    return cfg->physics == HX_PHYSICS_HEAT ? HX_PHYSICS_HEAT : HX_PHYSICS_ELASTICITY;
}

static inline int hx_config_is_heat(const hx_config *cfg)
{
    return cfg->physics == HX_PHYSICS_HEAT;
}

/* The first of the keys optimization.overhang, draw and milling that is given; NULL: none. */
const char *hx_config_sweep(const hx_config *cfg);

/* 1 if the name is "auto". */
int hx_config_is_auto(const char *name);

/* 1 if output.fields contains the field. */
int hx_config_has_field(const hx_config *cfg, hx_config_field field);

/* Replaces a string of the config. */
int hx_config_set_word(char **word, const char *value);

void hx_config_free(hx_config *cfg);

#endif
