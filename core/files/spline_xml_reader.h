/* Contents of G+Smo's XML file as they are read; not installed. */
#ifndef HX_SPLINE_XML_READER_H
#define HX_SPLINE_XML_READER_H

#include "../base/notes.h"
#include "../spline/spline.h"
#include "xml_scan.h"

/* The numbers in an element's text. */
typedef struct hx_gismo_numbers {
    double *value; /* [n] (owned) */
    size_t n, capacity;
    int64_t line; /* line of the element; 0: there was none */
} hx_gismo_numbers;

typedef struct hx_gismo_geometry {
    int64_t id, line;
    int is_volume;
    char type[32];
    hx_spline_patch patch;
} hx_gismo_geometry;

/* Numbers of <interfaces> or <boundary>, which are interpreted once all patches are known. */
typedef struct hx_gismo_block {
    char *name; /* of a boundary, or NULL (owned) */
    hx_gismo_numbers list;
} hx_gismo_block;

typedef struct hx_gismo_reader {
    hx_xml_scan xml;
    size_t n_geometry, geometry_capacity;
    hx_gismo_geometry *geometry;
    int64_t multipatch_line; /* 0: there is none */
    hx_gismo_numbers patch;  /* ids of its geometries */
    int is_range;
    size_t n_interface, interface_capacity, n_boundary, boundary_capacity;
    hx_gismo_block *interface, *boundary;
    int *place; /* [n] index of the geometry of each patch */
    int n;
} hx_gismo_reader;

/* Selects the patches among the geometries, and makes the spline with its interfaces and named
 * sides (spline_xml_patches.c). */
int hx_gismo_take(hx_gismo_reader *r, hx_spline *spline, hx_notes *notes);

#endif
