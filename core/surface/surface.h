/* The solid of a density field as a closed triangle surface: the iso-surface of the nodal density
 * inside the mesh, and the part of the mesh's own boundary where the density is above the threshold
 * (caps), so that faces of the part stay where the mesh has them.
 *
 * Elements that are solid whatever their density (passive solid, what a load acts on) are a body of
 * their own: it ends at their faces, which are capped as the mesh's boundary is, also against the
 * part of a neighbour that is void. The others, the free elements, are cut by the nodal density of
 * free elements alone, so that the body neither grows nor fattens what is joined to it.
 *
 * Where a mesh has tetrahedra, wedges or pyramids, or a body of hexahedra ends in steps, those
 * faces would be teeth. There solid elements are cut as the others are, with a density of 1; faces
 * that are asked for, and nodes whose boundary faces all belong to solid elements, stay. What is
 * too thin for that is a body.
 *
 * Marching over hexahedra, and over what they collapse to, whose ambiguous faces are decided by the
 * sign of the bilinear saddle (Nielson & Hamann 1991), so that both neighbours decide alike; loops
 * inside an element are triangulated without diagonals across a face. Hence closed, oriented
 * outwards and 2-manifold wherever the mesh is; where elements touch in an edge or a node only, the
 * surface is cut open along it (Gueziec et al. 2001) and the sides are drawn apart by SPLIT_SHARE
 * of an edge.
 *
 *     hx_surface_field_create -> hx_surface_threshold -> hx_surface_extract -> hx_surface_smooth
 *         -> hx_surface_write */
#ifndef HX_SURFACE_H
#define HX_SURFACE_H

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the surface is cut from. */
typedef struct hx_surface_field {
    const hx_mesh *mesh; /* finished (borrowed) */
    double *value;       /* [n_node] nodal density; may be changed before a threshold. HUGE_VAL:
                          * of nodes that only solid elements have (owned) */
    int64_t n_face;
    int64_t *face; /* [n_face] boundary faces, element * 6 + local face; behind them those of solid
                    * elements against free ones (owned) */
    /* [n_elem] 0: free; else solid, bit f: a free element beyond face f; NULL: all free (owned) */
    uint8_t *body;
} hx_surface_field;

/* In is_solid below: local face f of a solid element, on the mesh's boundary, is not cut away. */
static inline uint8_t hx_surface_kept_face(int f)
{
    return (uint8_t)(2u << f);
}

/* Nodal density: the volume-weighted mean over the node's free elements; rho: [n_elem]. is_solid:
 * [n_elem] != 0: solid whatever the density, 1 with the bits of faces that stay; NULL: no element
 * is. O(n). */
int hx_surface_field_create(hx_surface_field *field, const hx_mesh *mesh, const double *rho,
                            const uint8_t *is_solid);
/* The same on a finer mesh of hexahedra, finished: its elements n^3 e + (k n + j) n + i are element
 * e of the coarse mesh (hexahedra, too) in n^3, i along its corners 0 to 1, j along 0 to 3, k along
 * 0 to 4. Nodal densities are trilinear in a coarse element's; what is solid there is solid here.
 * O(n). */
int hx_surface_field_refine(hx_surface_field *fine, const hx_surface_field *coarse,
                            const hx_mesh *mesh, int n);
/* Accepts a zeroed struct. */
void hx_surface_field_free(hx_surface_field *field);

/* Volume of the solid, as the surface at this threshold encloses it (length^3). O(n). */
void hx_surface_volume(const hx_surface_field *field, double threshold, double *volume);

/* The threshold at which the solid has this volume, *volume: what it has there. Where the volume
 * jumps (a plateau of the density), the nearer side of the jump. A dozen volumes. HX_EINPUT: the
 * target is not between 0, or the volume of the solid elements, and the mesh's volume. */
int hx_surface_threshold(const hx_surface_field *field, double target, double *threshold,
                         double *volume);

/* Connected pieces of the solid at a threshold: piece[n_node] = the smallest node of the piece, -1
 * outside (the nodes of solid elements are inside). *n_piece, *largest: number of pieces, and the
 * one with most nodes; may be NULL. O(n). */
int hx_surface_pieces(const hx_surface_field *field, double threshold, int32_t *piece,
                      int64_t *n_piece, int32_t *largest);

/* Leaves out the pieces (of hx_surface_pieces at this threshold) that are not `keep`: their nodes
 * become less than any threshold, their solid elements free. O(n). */
void hx_surface_leave_out(hx_surface_field *field, double threshold, const int32_t *piece,
                          int32_t keep);

typedef struct hx_surface {
    int64_t n_vertex, n_tri;
    double *xyz;     /* [n_vertex][3] (owned) */
    int32_t *tri;    /* [n_tri][3] counter-clockwise seen from outside (owned) */
    uint8_t *is_cap; /* [n_tri] 1: on the mesh's boundary or a solid element's face (owned) */
    /* [n_vertex][2] nodes of the mesh edge that a vertex lies on, inside and outside; twice the
     * same: at a node; -1, -1: the middle of a face or loop, or drawn apart (owned) */
    int32_t *edge;
    int64_t n_split; /* vertices added where the mesh touches itself in an edge or a node */
} hx_surface;

/* HX_EINPUT: nothing lies above the threshold, or more than 2^31 triangle corners. O(n), about 100
 * bytes a triangle while it runs. The same for any number of threads. */
int hx_surface_extract(hx_surface *surface, const hx_surface_field *field, double threshold);
/* Accepts a zeroed struct. */
void hx_surface_free(hx_surface *surface);

/* What became of the vertices. */
typedef struct hx_surface_smoothing {
    double volume_before, volume_after;
    int64_t n_held; /* vertices put back, because a triangle turned over or went through another */
} hx_surface_smoothing;

/* n_step steps of Taubin's smoothing (1995; lambda = 0.5, pass band 0.1). Nodes of the mesh stay,
 * vertices on edges of the mesh's boundary slide along these edges, those on sharp edges of the
 * part stay, so that caps keep their place; the others move freely, at last along their normals
 * until the volume of every shell is what it was. Triangles that would turn by more than 90 degrees, vanish or go
 * through others get their vertices back. */
int hx_surface_smooth(hx_surface *surface, const hx_surface_field *field, int n_step,
                      hx_surface_smoothing *result);

/* A surface judged, vertices at the same place taken as one: what a slicer does. */
typedef struct hx_surface_report {
    int64_t n_vertex, n_tri;
    int64_t n_bad_edge;     /* edges without exactly two triangles, one in each direction */
    int64_t n_bad_vertex;   /* vertices with more than one fan of triangles */
    int64_t n_degenerate;   /* triangles with two corners at one place */
    int64_t n_crossing;     /* pairs of triangles, not neighbours, that go through each other */
    int64_t n_shell;        /* connected surfaces with volume > 0: pieces of the solid */
    int64_t n_cavity;       /* and with volume < 0: closed cavities in them */
    int64_t euler;          /* vertices - edges + triangles, all shells */
    int64_t genus;          /* holes through the solid, all shells */
    double volume, area;    /* length^3, length^2 */
    double largest_share;   /* of the largest shell in the volume of all shells */
    double min[3], max[3];  /* bounding box */
    int is_closed_manifold; /* nothing bad, nothing degenerate */
} hx_surface_report;

typedef enum { HX_SURFACE_F64, HX_SURFACE_F32 } hx_surface_precision;

/* After rounding to that precision. O(n), by sorting. */
int hx_surface_check(const hx_surface *surface, hx_surface_precision precision,
                     hx_surface_report *report);

/* What a file says besides triangles. */
typedef struct hx_surface_about {
    const char *title; /* one line; "": none (borrowed) */
    double metre; /* the unit of length in metres; 0: not known, taken as mm where a file has one */
} hx_surface_about;

typedef struct hx_surface_format {
    const char *ending;             /* of the file's name: ".stl" */
    const char *name;               /* "binary STL" */
    hx_surface_precision precision; /* of coordinates in the file, or in what reads it */
    int has_unit;                   /* 1: about.metre goes into the file */
    int (*write)(const char *path, const hx_surface *surface, const hx_surface_about *about);
} hx_surface_format;

/* All of them; ends with an empty one. */
extern const hx_surface_format hx_surface_formats[];

/* By the name's ending; NULL: none of them. */
const hx_surface_format *hx_surface_format_of_name(const char *path);
/* The same words as a constant, for tables of options. */
#define HX_SURFACE_ENDINGS ".stl .ply .3mf .obj .glb"
/* ".stl, .ply or .obj"; returns text. */
const char *hx_surface_endings(char *text, size_t n_text);

/* Checks the surface as the file has it. HX_ENUMERIC: not closed and manifold, `path` would not be
 * written. */
int hx_surface_judge(const char *path, const hx_surface_format *format, const hx_surface *surface,
                     hx_surface_report *report);
/* Judges and writes. HX_EIO. */
int hx_surface_write(const char *path, const hx_surface_format *format, const hx_surface *surface,
                     const hx_surface_about *about);

/* Steps of smoothing that do for most parts. */
#define HX_SURFACE_STEPS 10

/* A surface of any program: .stl or .ply by its name, text or binary, polygons as fans; vertices at
 * one place become one, triangles that are none then go. xyz and tri alone are filled. HX_EINPUT,
 * HX_EIO: no such file, another format, cut off, no triangles. */
int hx_surface_read(const char *path, hx_surface *surface);

/* Vertices at the same place become one, triangles with two corners at one place go. O(n). */
int hx_surface_weld(hx_surface *surface);

/* Edges that have not exactly two triangles, one in each direction, and the middle of one. */
int hx_surface_find_open(const hx_surface *surface, int64_t *n_open, double point[3]);

#ifdef __cplusplus
}
#endif

#endif
