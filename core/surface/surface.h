/* The solid of a density field as a closed triangle surface: the iso-surface of the nodal density
 * inside the mesh, plus the part of the mesh's boundary where the density exceeds the threshold
 * (caps), so that faces of the part stay on the mesh's boundary.
 *
 * Forced-solid elements (passive solid, or loaded) form a separate body. The body ends at the faces
 * of these elements, which are capped like the mesh's boundary, even where the neighbour is void.
 * The other, free elements are cut by the nodal density of free elements only, so the body neither
 * grows nor thickens what is attached to it.
 *
 * If a mesh has tetrahedra, wedges or pyramids, or a body of hexahedra ends in steps, those faces
 * would be jagged. There forced-solid elements are cut like the others, with density 1; requested
 * faces, and nodes whose boundary faces all belong to forced-solid elements, are kept. Regions that
 * are too thin for that remain a body.
 *
 * Marching cubes over hexahedra and their collapsed forms. Ambiguous faces are resolved by the sign
 * of the bilinear saddle (Nielson and Hamann 1991), so that both neighbours agree; loops inside an
 * element are triangulated without diagonals across a face. The surface is therefore closed,
 * oriented outwards and 2-manifold wherever the mesh is. Where elements touch only in an edge or a
 * node, it is cut open (Gueziec et al. 2001) and the sides are separated by a fraction of an edge.
 *
 *     hx_surface_field_create -> hx_surface_threshold -> hx_surface_extract -> hx_surface_smooth
 *         -> hx_surface_improve -> hx_surface_write */
#ifndef HX_SURFACE_H
#define HX_SURFACE_H

#include "../mesh/mesh.h"

HX_C_BEGIN

/* Input of the extraction. */
typedef struct hx_surface_field {
    const hx_mesh *mesh; /* finished (borrowed) */
    /* [n_node] nodal density, which may be changed before a threshold is chosen. HUGE_VAL: only
     * forced-solid elements share the node (owned) */
    double *value;
    int64_t n_face;
    /* [n_face] boundary faces (element * 6 + local face), followed by the faces of forced-solid
     * elements against free ones (owned) */
    int64_t *face;
    /* [n_elem] 0: free; otherwise forced solid, with bit f set if a free element lies across face
     * f; NULL: all free (owned) */
    uint8_t *body;
    /* [n_node] 1: raised above the threshold to keep a member, so the surface is not smoothed
     * there; NULL: none (owned) */
    uint8_t *is_repaired;
} hx_surface_field;

/* Bit in is_solid below: local face f of a forced-solid element on the mesh's boundary is not cut
 * away. */
static inline uint8_t hx_surface_kept_face(int f)
{
    return (uint8_t)(2u << f);
}

/* Nodal density: the volume-weighted mean over the node's free elements; rho: [n_elem]. is_solid:
 * [n_elem] 0: free; forced solid: 1 plus the bits of faces to keep; NULL: all free. O(n). */
int hx_surface_field_create(hx_surface_field *field, const hx_mesh *mesh, const double *rho,
                            const uint8_t *is_solid);
/* Transfers the field to a finer finished mesh of hexahedra, whose elements n^3 e + (k n + j) n + i
 * divide element e of the coarse mesh (also hexahedra) into n^3, with i along its corners 0 to 1, j
 * along 0 to 3 and k along 0 to 4. Nodal densities are trilinear within a coarse element;
 * forced-solid elements remain forced solid. O(n). */
int hx_surface_field_refine(hx_surface_field *fine, const hx_surface_field *coarse,
                            const hx_mesh *mesh, int n);
/* Accepts a zeroed struct. */
void hx_surface_field_free(hx_surface_field *field);

/* Volume that the surface at this threshold encloses (length^3). O(n). */
void hx_surface_volume(const hx_surface_field *field, double threshold, double *volume);

/* The threshold at which the solid has the target volume; *volume: its volume there. If the volume
 * jumps (a plateau of the density), the nearer side of the jump. Evaluates about a dozen volumes.
 * HX_EINPUT: the target is not between 0, or the volume of the forced-solid elements, and the
 * mesh's volume. */
int hx_surface_threshold(const hx_surface_field *field, double target, double *threshold,
                         double *volume);

/* Connected pieces of the solid at a threshold: piece[n_node] = the smallest node of the piece, -1
 * outside (nodes of forced-solid elements are inside). *n_piece, *largest: number of pieces, and
 * the one with the most nodes; either may be NULL. O(n). */
int hx_surface_pieces(const hx_surface_field *field, double threshold, int32_t *piece,
                      int64_t *n_piece, int32_t *largest);

/* Removes the pieces (of hx_surface_pieces at this threshold) other than `keep`: their nodes fall
 * below any threshold, their forced-solid elements become free. O(n). */
void hx_surface_leave_out(hx_surface_field *field, double threshold, const int32_t *piece,
                          int32_t keep);

typedef struct hx_surface {
    int64_t n_vertex, n_tri;
    double *xyz;  /* [n_vertex][3] (owned) */
    int32_t *tri; /* [n_tri][3] counter-clockwise as seen from outside (owned) */
    /* [n_tri] 1: on the mesh's boundary or on a face of a forced-solid element (owned) */
    uint8_t *is_cap;
    /* [n_vertex][2] nodes of the mesh edge that contains the vertex, inside and outside; two equal
     * nodes: at that node; -1, -1: at the middle of a face or loop, or separated (owned) */
    int32_t *edge;
    int64_t n_split; /* vertices added where the mesh touches itself in an edge or a node */
} hx_surface;

/* HX_EINPUT: no density exceeds the threshold, or more than 2^31 triangle corners. O(n), about 100
 * bytes per triangle during extraction. Results do not depend on the number of threads. */
int hx_surface_extract(hx_surface *surface, const hx_surface_field *field, double threshold);
/* Accepts a zeroed struct. */
void hx_surface_free(hx_surface *surface);

/* Result of smoothing. */
typedef struct hx_surface_smoothing {
    double volume_before, volume_after;
    int64_t n_held; /* vertices moved back because a triangle flipped or intersected another one */
} hx_surface_smoothing;

/* n_step steps of Taubin smoothing (1995; lambda = 0.5, pass band 0.1). Vertices at nodes of the
 * mesh and on sharp edges of the part stay, and vertices on edges of the mesh's boundary slide
 * along these edges, so caps keep their place. The others move freely, and finally along their
 * normals until every shell has its original volume. Vertices of triangles that would turn by more
 * than 90 degrees, degenerate or intersect others are moved back. */
int hx_surface_smooth(hx_surface *surface, const hx_surface_field *field, int n_step,
                      hx_surface_smoothing *result);

/* A round face of the part, on which a mesh has chords: a cylinder or a sphere. */
typedef struct hx_surface_seat {
    int is_sphere;
    double center[3]; /* a point of the axis, or the centre */
    double axis[3];   /* unit vector; 0 for a sphere */
    double radius;
} hx_surface_seat;

/* Improves the triangles of a smoothed surface whose quality is below 0.3 by flips and collapses of
 * edges and by moved vertices, as far as no other triangle gets worse than the worst of them.
 * Vertices of caps stay in the planes of all their caps, and those on edges of the part on these
 * edges; the surface moves by at most a tenth of a triangle per edit; every shell keeps its volume
 * and no new intersections appear. Vertices on edges of the mesh between two nodes of a seat move
 * onto it. surface->edge is the mesh edge on which a vertex was extracted.
 * n_step > 0: between edits, rims (see hx_surface_rims) are smoothed by as many steps, without
 * leaving the faces of the mesh that they cross; on faces that are not flat, along mesh edges.
 * If the mesh edges on which the surface was extracted from `field` and their nodal densities are
 * their own mirror image about up to three perpendicular planes, the surface becomes its own mirror
 * image to rounding: it is cut at the planes, and every edit is made on all sides. The planes are
 * perpendicular to an axis or to the bisector of two, through the middle of the part.
 * O(n). Results do not depend on the number of threads. */
int hx_surface_improve(hx_surface *surface, const hx_surface_field *field, int n_step,
                       int64_t n_seat, const hx_surface_seat *seat);

/* Splits triangles until edges of caps along a seat are nowhere further than `chord` (length) from
 * it; new vertices are on the seats. A triangle is split at its longest edge first, which keeps its
 * quality. Adds nothing to surfaces that are fine enough; *n_added: triangles. */
int hx_surface_limit_chords(hx_surface *surface, int64_t n_seat, const hx_surface_seat *seat,
                            double chord, int64_t *n_added);

/* Checks of a surface; coincident vertices count as one, like in a slicer. */
typedef struct hx_surface_report {
    int64_t n_vertex, n_tri;
    int64_t n_bad_edge;   /* edges without exactly two triangles, one in each direction */
    int64_t n_bad_vertex; /* vertices with more than one fan of triangles */
    int64_t n_degenerate; /* triangles with two coincident corners */
    int64_t n_crossing;   /* pairs of triangles, not neighbours, that intersect */
    int64_t n_shell;      /* connected surfaces with volume > 0: pieces of the solid */
    int64_t n_cavity;     /* connected surfaces with volume < 0: closed cavities in them */
    int64_t euler;        /* vertices - edges + triangles, all shells */
    int64_t genus;        /* holes through the solid, all shells */
    double volume, area;  /* length^3, length^2 */
    /* quality of the triangles, 4 sqrt(3) area / sum of the squared edges: the worst one, and the
     * value below which 1 % of them lie; 1: equilateral, 0: no area */
    double worst_quality, low_quality;
    double largest_share;   /* volume of the largest shell relative to all shells */
    double min[3], max[3];  /* bounding box */
    int is_closed_manifold; /* 1: no bad edges, no bad vertices, no degenerate triangles */
} hx_surface_report;

typedef enum { HX_SURFACE_F64, HX_SURFACE_F32 } hx_surface_precision;

/* Checks the surface after rounding to that precision. O(n), by sorting. */
int hx_surface_check(const hx_surface *surface, hx_surface_precision precision,
                     hx_surface_report *report);

/* Further content of a file. */
typedef struct hx_surface_about {
    const char *title; /* one line; "": none (borrowed) */
    /* the unit of length in metres; 0: unknown, written as mm if the format needs a unit */
    double metre;
} hx_surface_about;

/* Raggedness of rims, the lines at which the free part of a surface meets its caps: the smaller of
 * the angles by which a rim turns to the left and to the right within two elements. 0: a straight
 * line or an arc of any radius; a tooth with flanks of 45 degrees: 90. Rims are measured between
 * corners, at which they cross an edge of the part or a node of the mesh, at points a quarter of an
 * element apart. */
typedef struct hx_surface_rims {
    double length;      /* of all rims */
    double high, worst; /* 99 % quantile and largest value, degrees */
    int64_t n_sample;   /* 0: no rims */
} hx_surface_rims;

/* surface: as cut from `mesh`, smoothed or improved. O(n). */
int hx_surface_measure_rims(const hx_surface *surface, const hx_mesh *mesh, hx_surface_rims *rims);

typedef struct hx_surface_format {
    const char *ending; /* file name extension: ".stl" */
    const char *name;   /* "binary STL" */
    /* precision of the coordinates in the file, or that its readers use */
    hx_surface_precision precision;
    int has_unit; /* 1: the file states about.metre */
    int (*write)(const char *path, const hx_surface *surface, const hx_surface_about *about);
} hx_surface_format;

/* All formats; the last entry is empty. */
extern const hx_surface_format hx_surface_formats[];

/* Finds the format by the extension; NULL: unknown. */
const hx_surface_format *hx_surface_format_of_name(const char *path);
/* The extensions as a constant, for tables of options. */
#define HX_SURFACE_ENDINGS ".stl .ply .3mf .obj .glb"
/* Writes ".stl, .ply or .obj"; returns text. */
const char *hx_surface_endings(char *text, size_t n_text);

/* Checks the surface with the precision of the format. HX_ENUMERIC: it is not closed and manifold,
 * so `path` would not be written. */
int hx_surface_judge(const char *path, const hx_surface_format *format, const hx_surface *surface,
                     hx_surface_report *report);
/* Checks and writes. HX_EIO. */
int hx_surface_write(const char *path, const hx_surface_format *format, const hx_surface *surface,
                     const hx_surface_about *about);

/* Number of smoothing steps that suffices for most parts. */
#define HX_SURFACE_STEPS 10

/* Reads a surface of any program, .stl or .ply by its extension, text or binary, with polygons
 * split into fans; coincident vertices are merged and degenerate triangles removed. Fills only xyz
 * and tri. HX_EINPUT, HX_EIO: no such file, another format, truncated, no triangles. */
int hx_surface_read(const char *path, hx_surface *surface);

/* Merges coincident vertices and removes triangles with two coincident corners. O(n). */
int hx_surface_weld(hx_surface *surface);

/* Counts edges without exactly two triangles, one in each direction; returns the midpoint of
 * one. */
int hx_surface_find_open(const hx_surface *surface, int64_t *n_open, double point[3]);

HX_C_END

#endif
