/* Shared by the files that write .inp: buffered text, numbers, names. Not installed. */
#ifndef HX_ABAQUS_WRITER_H
#define HX_ABAQUS_WRITER_H

#include <stdio.h>

#include "../problem/problem.h"
#include "set_names.h"

enum { HX_ABAQUS_PER_LINE = 12, HX_ABAQUS_BUFFER = 1 << 16 };

typedef struct hx_abaqus_writer {
    FILE *stream;
    char *text; /* [HX_ABAQUS_BUFFER] (owned) */
    size_t n_text;
    const hx_mesh *mesh;
    /* of second order, so that the middles of its edges are nodes; otherwise NULL */
    const hx_space *space;
    int32_t *node, *elem;         /* mesh indices in the file's order; NULL: identical (owned) */
    int own_node, own_elem;       /* 1: keep the numbers of the file that the mesh was read from */
    int64_t next_node, next_elem; /* the next unused numbers */
    int64_t first_middle;         /* number of the first node at the middle of an edge */
    hx_set_names names;           /* names of the sets in the file (owned) */
    int has_joined;               /* HX_ABAQUS_JOINS has been written */
} hx_abaqus_writer;

/* hx_abaqus_flush writes what is in the buffer; errors are detected by the commit. */
void hx_abaqus_flush(hx_abaqus_writer *w);
void hx_abaqus_put_text(hx_abaqus_writer *w, const char *text);

/* Writes texts (%s), numbers of items (%lld) and real numbers (%g, as hx_abaqus_put_real). */
void hx_abaqus_put(hx_abaqus_writer *w, const char *fmt, ...) HX_PRINTF(2, 3);
void hx_abaqus_put_int(hx_abaqus_writer *w, int64_t value);
void hx_abaqus_put_real(hx_abaqus_writer *w, double value);

/* Numbers in the file of a point of the space (or node) and of an element. */
int64_t hx_abaqus_point_number(const hx_abaqus_writer *w, int64_t point);
int64_t hx_abaqus_elem_number(const hx_abaqus_writer *w, int64_t elem);

/* The mesh's point and element at position i of the file. */
static inline int64_t hx_abaqus_point_at(const hx_abaqus_writer *w, int64_t i)
{
    return w->node && i < w->mesh->n_node ? w->node[i] : i;
}

static inline int64_t hx_abaqus_elem_at(const hx_abaqus_writer *w, int64_t i)
{
    return w->elem ? w->elem[i] : i;
}

/* Number of nodes, including those at the middles of edges. */
static inline int64_t hx_abaqus_points(const hx_abaqus_writer *w)
{
    return w->space ? w->space->n_point : w->mesh->n_node;
}

/* Writes the springs, rigid sets, material, supports and steps of the job (abaqus_job.c). */
int hx_abaqus_put_job(hx_abaqus_writer *w, const hx_problem *problem, double penalty);

#endif
