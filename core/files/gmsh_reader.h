/* State of one pass over a Gmsh file, shared by gmsh_scan.c (numbers and types of elements),
 * gmsh_read.c (sections), gmsh_groups.c (physical groups), gmsh_read_2.c (nodes and elements of
 * format 2) and gmsh_read_4.c (format 4.1). Internal. */
#ifndef HX_GMSH_READER_H
#define HX_GMSH_READER_H

#include "file_scan.h"
#include "mesh_import.h"

enum { HX_GMSH_CHUNK = 4096, HX_GMSH_MOST_NODES = 128 };

/* A type of element as the format numbers it. */
typedef struct hx_gmsh_type {
    int number, dim, n_node, is_solid;
    hx_shape shape;    /* for cells that are not solids of solid.h */
    hx_solid_id solid; /* for solids */
    const char *name;
} hx_gmsh_type;

/* A physical group and its set. */
typedef struct hx_gmsh_group {
    int64_t dim, tag;
    hx_import_set *set; /* (borrowed from the import) */
    int is_met;         /* 1: an element or entity belongs to it */
} hx_gmsh_group;

/* An entity of the geometry (format 4.1): its groups are group_set[first .. first + n). */
typedef struct hx_gmsh_entity {
    int64_t dim, tag;
    int64_t first, n;
} hx_gmsh_entity;

typedef struct hx_gmsh_reader {
    hx_file_scan scan;
    hx_import import;
    int major;      /* 2 or 4 */
    int is_swapped; /* a binary file of the other byte order */
    int size_bytes; /* bytes of a size in a binary file of format 4.1 */
    int has_nodes, has_elements, has_entities;
    int joins_names; /* HX_GMSH_JOINS was read: groups of the same name are one set */

    int64_t n_group, last_group;
    size_t group_capacity;
    hx_gmsh_group *group; /* (owned) */

    int64_t n_entity;
    size_t entity_capacity;
    hx_gmsh_entity *entity; /* (owned) sorted by dim and tag after reading */
    int64_t n_group_set;
    size_t group_set_capacity;
    hx_import_set **group_set; /* (owned) */

    /* The previous solid (format 2). */
    const hx_gmsh_type *last_type;
    int64_t last_node[HX_SOLID_NODES];
} hx_gmsh_reader;

/* First line of a $Comments section that the writer puts after $MeshFormat if a set has members of
 * several dimensions. Without it, groups of one name and several dimensions are several sets. */
#define HX_GMSH_JOINS "hextop: groups of one name are one set"

#define HX_GMSH_RAISE(r, ...) HX_FILE_RAISE(&(r)->scan, __VA_ARGS__)

/* Read the next n numbers: integers (4 bytes in a binary file), sizes, real numbers. */
int hx_gmsh_ints(hx_gmsh_reader *r, int64_t n, int64_t *value);
int hx_gmsh_sizes(hx_gmsh_reader *r, int64_t n, int64_t *value);
int hx_gmsh_reals(hx_gmsh_reader *r, int64_t n, double *value);

/* Checks, before n is used, that the rest of the file has room for n records of at least n_byte
 * bytes (binary) or n_word words (text). */
int hx_gmsh_check_count(hx_gmsh_reader *r, const char *what, int64_t n, int64_t n_byte,
                        int64_t n_word);

/* Decode numbers of a binary file. */
int64_t hx_gmsh_decode_int(const hx_gmsh_reader *r, const unsigned char *bytes);
int64_t hx_gmsh_decode_size(const hx_gmsh_reader *r, const unsigned char *bytes);
double hx_gmsh_decode_real(const hx_gmsh_reader *r, const unsigned char *bytes);

/* Finds the type with that number; HX_EINPUT if there is none. */
int hx_gmsh_find_type(hx_gmsh_reader *r, int64_t number, const hx_gmsh_type **type);

/* Reads $PhysicalNames, after the section's name. */
int hx_gmsh_read_names(hx_gmsh_reader *r);

/* Finds or creates the set of a physical group: by its name, or "surface 7" if it has none. */
int hx_gmsh_group_set(hx_gmsh_reader *r, int64_t dim, int64_t tag, hx_import_set **set);

/* Marks the sets of groups without any cell, once all cells are read. */
int hx_gmsh_mark_empty_groups(hx_gmsh_reader *r);

void hx_gmsh_free_groups(hx_gmsh_reader *r);

/* Returns the line of the last word in a text file, 0 in a binary one. */
int64_t hx_gmsh_line(const hx_gmsh_reader *r);

/* Takes a cell that is not a solid; its corners or nodes are added to the n_set sets. */
int hx_gmsh_take_other(hx_gmsh_reader *r, const hx_gmsh_type *type, int64_t number,
                       const int64_t *node, int64_t line, int64_t n_set, hx_import_set *const *set);

/* Each reads the section whose first line has just been read, up to its last line. */
int hx_gmsh_read_nodes_2(hx_gmsh_reader *r, int is_parametric);
int hx_gmsh_read_elements_2(hx_gmsh_reader *r);
int hx_gmsh_read_entities_4(hx_gmsh_reader *r);
int hx_gmsh_read_nodes_4(hx_gmsh_reader *r);
int hx_gmsh_read_elements_4(hx_gmsh_reader *r);

#endif
