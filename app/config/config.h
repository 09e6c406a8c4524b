/* What a config file says, with defaults filled in. The keys, units and meanings are in one table,
 * config_schema.c; this is where their values land.
 *
 * Not given and without a default: NULL for text, NaN for numbers (in the first component), n = 0
 * for lists. */
#ifndef HX_CONFIG_H
#define HX_CONFIG_H

#include <stddef.h>

#include "../text/json.h"
#include "config_tree.h"
#include "core/files/vtk.h"
#include "core/partition/partition.h"
#include "core/problem/problem.h"
#include "core/solver/pcg.h"
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

/* Keys with a fixed list of words land in enums, in the order of the schema's words; what a plug-in
 * adds to is kept by its name. */
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

/* Entries of lists begin with where they were written: "bracket.cfg:12: supports[0]". */
typedef struct hx_config_support {
    char *origin;
    char *set, *from, *fix; /* set and fix, or from = "file" */
    double value[3];
    double temperature; /* of heat, with set */
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

/* When the processes of a run make the mesh in parts. */
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
    double source, heat, flux; /* of heat */
    int coupling;              /* HX_COUPLING_...; not given: distributing */
    int load_case;             /* 0: each step of the file is a case, with from */
} hx_config_load;

typedef struct hx_config_passive {
    char *origin;
    char *set;
    double skin, density;
} hx_config_passive;

typedef struct hx_config_plane {
    char *origin;
    double point[3], normal[3];
} hx_config_plane;

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
    char *path;     /* of the config file (owned) */
    hx_value *tree; /* as written, for the places of later messages (owned) */

    char *title;
    int physics;      /* hx_physics, or -1: not given, elasticity */
    char *units_text; /* as written */
    hx_units units;   /* of the text; all names empty without it */
    struct {
        char *generator;
        int size, nx, ny, nz;
        double distort;
        int seed;
        char *file;
        double merge;                    /* NaN: not given */
        double element_size, time_limit; /* of CAD models; NaN: not given */
        hx_config_words ignore;          /* words of what is left out on purpose */
        int shuffle, reorder;
        hx_config_in_parts in_parts;
        int degree;               /* of splines, 0: as in the file */
        hx_config_numbers refine; /* parts of their spans */
    } mesh;
    struct {
        char *from; /* "file", or NULL */
        double young, poisson, density;
        double conductivity, conductivity_min;
    } material;
    hx_config_list supports, springs, convection, loads, passive, sets;
    hx_config_numbers weights;
    struct {
        double volume_fraction, penalty, rho_min, move, damping;
        char *objective, *update; /* names */
        int iterations;
        double change_tolerance;
        char *initial;
        hx_config_list symmetry;
        double extrusion[3];
        struct {
            char *kind;
            hx_config_unit unit;
            double radius;
            int volume_weighted;
        } filter;
        struct {
            int given;
            double eta, beta, beta_max, factor;
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
        hx_partition_kind partition; /* HX_PARTITION_AUTO too */
        int transport;               /* hx_mail_way */
        int whole_coarse_grid;       /* nodes */
        int vector_unit;             /* 0: auto, else 1 + hx_vector_unit */
    } solver;
    const char *output_option; /* what names the folder on the command line; NULL: the key does */
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

/* Reads and validates FILE and the KEY=VALUE arguments. HX_EINPUT: "FILE:LINE: path.to.key: what is
 * wrong; what would be right". */
int hx_config_read(hx_config *cfg, const char *path, size_t n_override,
                   const char *const *override);

/* HX_EINPUT: a wrong word in an environment variable that stands for a key: for commands that go on
 * without a config which they cannot read. */
int hx_config_check_variables(void);

/* hx_config_read of a tree (taken, also when it fails), which messages call `path`. */
int hx_config_from_tree(hx_config *cfg, hx_value *tree, const char *path);

/* "FILE:LINE: KEY" of a key as written, or "FILE: KEY" if it was left to its default. */
const char *hx_config_place(const hx_config *cfg, const char *key, char *text, size_t n_text);

/* Puts the place of `key` before the recorded message; returns code. */
int hx_config_blame(const hx_config *cfg, const char *key, int code);

/* 1 if the key was written by the user. */
int hx_config_given(const hx_config *cfg, const char *key);

/* 1 if it was written on the command line, as a KEY=VALUE. */
int hx_config_is_argument(const hx_config *cfg, const char *key);

/* Puts the criterion `relative` and its own tolerance in place of `compliance`: for what shows the
 * fields of a single solve, or compares solves. */
void hx_config_solve_by_residual(hx_config *cfg);

/* A path of the config, relative to the config file's folder. *path is the caller's to free. */
int hx_config_resolve_path(const hx_config *cfg, const char *written, char **path);

/* The config as it was resolved, as libconfig text that gives the same run again. */
int hx_config_write(const hx_config *cfg, const char *path);

/* What decides on the result, of a config as resolved: a line "optimization.penalty = 3.0" a value,
 * without the keys that a run may change when it goes on (hx_key.is_free). *text is the caller's to
 * free. */
int hx_config_settings(const hx_config *cfg, char **text);

/* The same as a JSON object. */
void hx_config_write_json(const hx_config *cfg, hx_json *json, const char *key);

static inline hx_physics hx_config_physics(const hx_config *cfg)
{
    return cfg->physics == HX_PHYSICS_HEAT ? HX_PHYSICS_HEAT : HX_PHYSICS_ELASTICITY;
}

static inline int hx_config_is_heat(const hx_config *cfg)
{
    return cfg->physics == HX_PHYSICS_HEAT;
}

/* 1 for the name "auto". */
int hx_config_is_auto(const char *name);

/* 1 if output.fields has it. */
int hx_config_has_field(const hx_config *cfg, hx_config_field field);

/* Replaces a string of the config. */
int hx_config_set_word(char **word, const char *value);

void hx_config_free(hx_config *cfg);

#endif
