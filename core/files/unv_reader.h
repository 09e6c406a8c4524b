/* The reader of universal files, and the parts that read its data sets. */
#ifndef HX_UNV_READER_H
#define HX_UNV_READER_H

#include "file_scan.h"
#include "mesh_import.h"

enum { UNV_LINE_SIZE = 256, UNV_MOST_NUMBERS = 8 };

/* An element of a group. Whether it is a solid or a shell is resolved at the end. */
typedef struct unv_member {
    hx_import_set *set;
    int64_t number;
} unv_member;

/* Shells and bars of one kind: they carry load if the file has properties; otherwise they only
 * mark faces and edges. */
typedef struct unv_skin {
    int64_t kind, n, line;
    const char *name; /* in words */
} unv_skin;

/* A coordinate system of data set 2420. */
typedef struct unv_system {
    int64_t label;
    int is_global; /* Cartesian, with the axes and the origin of the global one */
} unv_system;

/* Nodes given in a coordinate system other than 0 or 1. */
typedef struct unv_system_use {
    int64_t label, n, node, line; /* values of the first such node */
    int is_place;                 /* 1: for coordinates, 0: for displacements */
} unv_system_use;

/* A group: its set, name and number. */
typedef struct unv_group {
    hx_import_set *set;
    char *name; /* (owned) */
    int64_t number;
} unv_group;

typedef struct unv_reader {
    hx_file_scan scan;
    hx_import import;
    char line[UNV_LINE_SIZE];
    /* number and corners of faces and lines; 4 nodes each, the last one of a line is -1 */
    hx_numbers cell_number, cell_corner;
    size_t n_member, member_capacity;
    unv_member *member; /* (owned) */
    size_t n_skin, skin_capacity;
    unv_skin *skin; /* (owned) */
    size_t n_system, system_capacity, n_use, use_capacity, last_use, n_group, group_capacity;
    unv_system *system;  /* (owned) */
    unv_system_use *use; /* (owned) */
    unv_group *group;    /* (owned) */
    int64_t n_joined;    /* number of groups with the same name as another */
    char joined[160];    /* description of the first of them */
    int64_t n_empty;     /* number of groups without members */
    char empty[80];      /* name of the first of them */
    int has_properties;  /* a data set has thicknesses, sections or materials */
    char skipped[200];   /* numbers of the data sets that are not read; "": none */
} unv_reader;

/* --- nodes and coordinate systems (unv_nodes.c) --- */

/* Label, the systems of coordinates and of displacements, colour; then the coordinates. Data set
 * 15 has everything in one line. */
int hx_unv_read_nodes(unv_reader *r, int64_t data_set);

/* 2420: number and name of a part; then label, type (0: Cartesian) and colour of a system, its
 * name, three lines of its axes and one of its origin. */
int hx_unv_read_systems(unv_reader *r, int64_t data_set);

/* Refuses coordinates in a system other than the global one. Systems of displacements do not
 * matter, since displacements are not read. */
int hx_unv_check_systems(unv_reader *r);

/* --- elements (unv_elements.c) --- */

/* Label, kind, property, material, colour, number of nodes (data set 780 has two more); for beams one more line; the nodes. */
int hx_unv_read_elements(unv_reader *r, int64_t data_set);

/* --- groups (unv_groups.c) --- */

int hx_unv_note_groups(unv_reader *r);

/* Number, five numbers of active sets, number of entities; the name; the entities. */
int hx_unv_read_groups(unv_reader *r, int64_t data_set);

/* Resolves elements of groups: each is a solid, or a face given by a shell. */
int hx_unv_resolve_members(unv_reader *r);

/* Called once members are resolved: each group becomes a set of elements, of faces or of nodes. */
int hx_unv_name_groups(unv_reader *r);

/* --- lines (unv_scan.c) --- */

/* Reads the next line; *more = 0 at the line of -1 that ends the data set. */
int hx_unv_next_line(unv_reader *r, int *more);

/* Like next_line(), but the data set must not end here. */
int hx_unv_need_line(unv_reader *r);

/* Reads at most `most` and at least `least` integers of the line; *n: their number. */
int hx_unv_take_integers(unv_reader *r, int least, int most, int64_t *value, int *n);

/* Reads real numbers of the line, starting at character `at`, with E or D. */
int hx_unv_take_reals(unv_reader *r, const char *at, double x[3]);

#endif
