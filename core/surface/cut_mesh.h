/* Tetrahedra of what a closed surface encloses, from the cells of a mesh around it: split into
 * tetrahedra, refined where asked, nodes near the surface moved onto it, and cut where an edge
 * passes through it, after isosurface stuffing (Labelle & Shewchuk 2007), whose lattice is regular;
 * with a mesh of the part instead, its flat and round faces stay what they are, and what is named
 * on them is found again. What is outside the mesh is not there.
 *
 * Any closed surface works, with triangles of any shape; details smaller than a cell go. */
#ifndef HX_CUT_MESH_H
#define HX_CUT_MESH_H

#include "surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_cut_report {
    int n_refine;           /* times that cells were split into eight */
    int64_t n_cut, n_moved; /* tetrahedra cut, nodes moved onto the surface */
    int64_t n_piece;        /* pieces joined by faces, largest first */
    int64_t n_tet;          /* of all pieces */
    double volume;          /* of all pieces, length^3 */
    double worst, mean;     /* quality, 1: regular */
    int64_t n_poor;         /* below 0.05 */
} hx_cut_report;

/* Tetrahedra that the cells around the surface become without refinement. */
int hx_cut_mesh_count(const hx_surface *surface, const hx_mesh *mesh, int64_t *n_tet);

/* *cut := the mesh of tetrahedra, up to hx_mesh_create; piece[n_elem]: of each its piece, 0 the
 * largest; the caller's to free. HX_EINPUT: the surface encloses nothing of the mesh. The same for
 * any number of threads. O(n log n). */
int hx_cut_mesh_create(hx_mesh *cut, const hx_surface *surface, const hx_mesh *mesh, int n_refine,
                       int32_t **piece, hx_cut_report *report);

/* The same of tetrahedra that another program made, each split into eight n_refine times. *mesh, up
 * to hx_mesh_create, *piece and pieces, number, volume and quality of *report as above. O(n log n).
 */
int hx_cut_mesh_take(hx_mesh *mesh, const hx_mesh *made, int n_refine, int32_t **piece,
                     hx_cut_report *report);

#ifdef __cplusplus
}
#endif

#endif
