/* Tetrahedral mesh of the volume that a closed surface encloses, made from the cells of a mesh
 * around it: cells are split into tetrahedra and refined on request, nodes near the surface are
 * moved onto the surface, and tetrahedra are cut where an edge crosses it. The method follows
 * isosurface stuffing (Labelle and Shewchuk 2007), which uses a regular lattice; with the mesh of
 * the part instead, the part's flat and round faces keep their shape, and sets on them are
 * transferred. The result never extends beyond the mesh.
 *
 * Works for any closed surface with triangles of any shape; details smaller than a cell are
 * lost. */
#ifndef HX_CUT_MESH_H
#define HX_CUT_MESH_H

#include "surface.h"

HX_C_BEGIN

typedef struct hx_cut_report {
    int n_refine;           /* number of refinements, each of which splits a cell into eight */
    int64_t n_cut, n_moved; /* tetrahedra cut; nodes moved onto the surface */
    int64_t n_piece;        /* pieces connected by faces, largest first */
    int64_t n_tet;          /* in all pieces */
    double volume;          /* total, length^3 */
    double worst, mean;     /* quality; 1: regular */
    int64_t n_poor;         /* tetrahedra with quality below 0.05 */
} hx_cut_report;

/* Number of tetrahedra from the cells around the surface without refinement. */
int hx_cut_mesh_count(const hx_surface *surface, const hx_mesh *mesh, int64_t *n_tet);

/* *cut := the tetrahedral mesh, ready for hx_mesh_finish; piece[n_elem]: piece of each tetrahedron,
 * 0 is the largest; the caller frees it. HX_EINPUT: the surface encloses nothing of the mesh.
 * Results do not depend on the number of threads. O(n log n). */
int hx_cut_mesh_create(hx_mesh *cut, const hx_surface *surface, const hx_mesh *mesh, int n_refine,
                       int32_t **piece, hx_cut_report *report);

/* Postprocesses tetrahedra of another program, each of them split into eight n_refine times. Sets
 * *mesh, *piece, and in *report the pieces, numbers, volume and quality, as above. O(n log n). */
int hx_cut_mesh_take(hx_mesh *mesh, const hx_mesh *made, int n_refine, int32_t **piece,
                     hx_cut_report *report);

HX_C_END

#endif
