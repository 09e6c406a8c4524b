/* Contents of MFEM's NURBS file as they are read; not installed. */
#ifndef HX_SPLINE_MFEM_READER_H
#define HX_SPLINE_MFEM_READER_H

#include "../spline/spline.h"
#include "file_scan.h"

/* A side given by its vertices. */
typedef struct hx_mfem_face {
    int32_t vertex[4]; /* sorted */
    int patch, side;
} hx_mfem_face;

typedef struct hx_mfem_reader {
    hx_file_scan scan;
    int64_t n_element, n_boundary, n_vertex;
    int64_t element_line, boundary_line;
    int64_t *vertex;    /* [n_element][8] (owned, like all below) */
    int64_t *boundary;  /* [n_boundary][5] attribute, vertices */
    hx_mfem_face *face; /* [6 n_element] sorted by vertices */
    hx_spline_patch *patch;
    int n_patch;
    int has_dimension, has_patches;
} hx_mfem_reader;

/* Makes the spline: interfaces and boundaries follow from the vertices that sides share
 * (spline_mfem_sides.c). Takes ownership of the patches. */
int hx_mfem_take(hx_mfem_reader *r, hx_spline *spline);

#endif
