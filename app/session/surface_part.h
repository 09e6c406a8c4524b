/* The part that a closed surface encloses, as a mesh of tetrahedra with the supports, springs and
 * loads of a config, found again by their place. */
#ifndef HX_SURFACE_PART_H
#define HX_SURFACE_PART_H

#include "core/surface/cut_mesh.h"
#include "session.h"

/* What makes the tetrahedra: the mesh's cells cut by the surface; gmsh, and cut cells where it
 * cannot (a warning); the same, also where it is not installed, without a warning. */
typedef enum { HX_MESHER_CUT, HX_MESHER_GMSH, HX_MESHER_AUTO, HX_N_MESHER } hx_surface_mesher;

typedef struct hx_surface_options {
    int n_refine; /* times that cells or tetrahedra are split into eight, -1: as is enough */
    hx_surface_mesher mesher;
} hx_surface_options;

/* A set of the config's mesh on the new one. */
typedef struct hx_surface_set {
    const char *from; /* its name in the config (borrowed) */
    char *name;       /* on the new mesh (owned) */
    int holds;        /* tied to a point by the mesh's file */
    int by_nodes;     /* something acts on each node: the same nodes, not the faces they span */
    double area, found_area; /* of its boundary faces, 0: it has none; found on the surface */
    int64_t n_node, n_found; /* nodes that no such face has, and how many were found */
    int32_t *node;           /* [n_found] of the raw mesh (owned) */
    int64_t n_face, *face;   /* likewise, element * 6 + local face (owned) */
} hx_surface_set;

typedef struct hx_surface_part {
    hx_surface_report surface;
    char mesher[40];          /* "cut cells", "gmsh 4.8.4" */
    hx_cut_report cut;        /* of gmsh's tetrahedra, too */
    hx_mesh mesh;             /* finished (owned) */
    hx_conditions conditions; /* (owned) */
    hx_config cfg;            /* that of the session, with lists of its own and nothing passive */
    size_t n_set;
    hx_surface_set *set; /* (owned) */
    int64_t n_dropped;   /* pieces of the surface that are connected to nothing */
    double dropped;      /* volume of the tetrahedra that are left out */
    int64_t n_value,
        n_value_lost; /* nodes with a support or force of the mesh's file, not over faces */
    double seconds;
    hx_notes notes; /* what was lost (owned) */
} hx_surface_part;

/* Of the session's mesh, before or after hx_session_make_problem; it is borrowed. HX_EINPUT: no
 * surface, one that is not closed (where), of another part, a load that is not on it (named). */
int hx_surface_part_create(hx_surface_part *part, const hx_session *s, const char *path,
                           const hx_surface_options *options);

/* The values of --refine (NULL: as often as is enough) and --mesher. HX_EINPUT. */
int hx_surface_part_read_options(const char *refine, const char *mesher,
                                 hx_surface_options *options);

/* The words of --mesher; NULL past the last. */
const char *hx_surface_mesher_word(size_t i);

#define HX_SURFACE_MESHER_HELP                                                                     \
    "of --surface: cut (the mesh's cells), gmsh, auto (gmsh if it is installed); cut cells if "    \
    "gmsh "                                                                                        \
    "makes no mesh or slivers"

/* Accepts a zeroed struct. */
void hx_surface_part_free(hx_surface_part *part);

#endif
