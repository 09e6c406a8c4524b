/* The inside of a closed surface as a mesh of tetrahedra, with the supports, springs and loads of a
 * config, which are found by their positions. */
#ifndef HX_SURFACE_PART_H
#define HX_SURFACE_PART_H

#include "../session/session.h"
#include "core/surface/cut_mesh.h"

/* The mesher of the tetrahedra. CUT: the mesh's cells are cut by the surface. GMSH: gmsh, or cut
 * cells with a warning if it fails. AUTO: like GMSH, but without a warning if gmsh is not
 * installed. */
typedef enum { HX_MESHER_CUT, HX_MESHER_GMSH, HX_MESHER_AUTO, HX_N_MESHER } hx_surface_mesher;

/* Cells are split as long as this gives at most so many tetrahedra. */
#define HX_SURFACE_ENOUGH 3e5

typedef struct hx_surface_options {
    int n_refine; /* number of times that cells or tetrahedra are split into eight; -1: automatic */
    hx_surface_mesher mesher;
    double most;   /* largest number of tetrahedra without splitting; 0: any */
    double enough; /* of automatic splitting; 0: HX_SURFACE_ENOUGH */
} hx_surface_options;

/* A set of the config's mesh, transferred to the new mesh. */
typedef struct hx_surface_set {
    const char *from; /* its name in the config (borrowed) */
    char *name;       /* its name on the new mesh (owned) */
    int holds;        /* 1: the mesh's file ties it to a point */
    /* 1: a load, spring or coupling acts on it, so the fraction that is found is noted */
    int is_shared;
    int is_only_measured; /* 1: only a limit refers to it, so it may be missing */
    /* 1: something acts on each of its nodes, so the set keeps its nodes and is not taken as
     * faces */
    int by_nodes;
    /* area of its boundary faces (0: it has none); area found on the surface */
    double area, found_area;
    int64_t n_node, n_found; /* number of nodes that are on no such face; number of those found */
    int32_t *node;           /* [n_found] of the raw mesh (owned) */
    int64_t n_face, *face;   /* [n_face] faces of the raw mesh, element * 6 + local face (owned) */
} hx_surface_set;

typedef struct hx_surface_part {
    hx_surface_report surface;
    char mesher[40];          /* "cut cells", "gmsh 4.8.4" */
    hx_cut_report cut;        /* quality, also that of gmsh's tetrahedra */
    hx_mesh mesh;             /* finished (owned) */
    hx_conditions conditions; /* (owned) */
    hx_config cfg; /* config of the session, with its own lists and without passive regions */
    /* [entries of the session's `materials`] names of the sets of their tetrahedra (owned); NULL:
     * there are none */
    char **material_set;
    size_t n_material_set;
    size_t n_set;
    hx_surface_set *set; /* (owned) */
    int64_t n_dropped;   /* pieces of the surface that are left out because they have no support */
    double dropped;      /* volume of the tetrahedra that are left out */
    /* number of groups of tetrahedra that are not connected to the rest of their piece */
    int64_t n_fragment;
    double seconds;
    hx_notes notes; /* notes on what was left out (owned) */
} hx_surface_part;

/* For the session's mesh, before or after hx_session_make_problem; the session is borrowed.
 * HX_EINPUT: the file is not a surface, is not closed (the message names a place), or belongs to
 * another part; a load is not on it. */
int hx_surface_part_create(hx_surface_part *part, const hx_session *s, const char *path,
                           const hx_surface_options *options);

/* Like hx_surface_part_create, for a surface in memory, which messages call `name`. HX_EENV:
 * options->most is exceeded. */
int hx_surface_part_create_from(hx_surface_part *part, const hx_session *s, const char *name,
                                const hx_surface *surface, const hx_surface_options *options);

/* Reads the values of --refine (NULL: automatic) and --mesher. HX_EINPUT. */
int hx_surface_part_read_options(const char *refine, const char *mesher,
                                 hx_surface_options *options);

/* The words of --mesher; NULL after the last. */
const char *hx_surface_mesher_word(size_t i);

#define HX_SURFACE_MESHER_HELP                                                                     \
    "of --surface: cut (the mesh's cells), gmsh, auto (gmsh if it is installed); cut cells if "    \
    "gmsh "                                                                                        \
    "makes no mesh or slivers"

/* Name on the part's mesh of a set of the config that a limit of the session refers to (borrowed);
 * NULL: `from` is NULL; "": nothing of it is on the surface. */
const char *hx_surface_part_set(const hx_surface_part *part, const char *from);

/* Accepts a zeroed struct. */
void hx_surface_part_free(hx_surface_part *part);

#endif
