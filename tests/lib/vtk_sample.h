/* A box with fields and the files of the VTK tests. */
#ifndef HX_VTK_SAMPLE_H
#define HX_VTK_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/vtk.h"
#include "core/generate/generate.h"
#include "test.h"

static char folder[256];

/* A file in the test's folder; up to four names stay valid. */
static inline const char *in_folder(const char *name)
{
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static inline void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK_MSG(f && fwrite(bytes, 1, n, f) == n, "%s", path);
    if (f) fclose(f);
}

/* At most n_max bytes; the caller frees them. */
static inline unsigned char *read_bytes(const char *path, size_t n_max, size_t *n)
{
    unsigned char *bytes = calloc(n_max, 1);
    FILE *f = fopen(path, "rb");
    *n = f && bytes ? fread(bytes, 1, n_max, f) : 0;
    CHECK_MSG(*n > 0, "%s", path);
    if (f) fclose(f);
    return bytes;
}

static inline int make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/hextop_vtk_XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline void remove_folder(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
}

static inline void make_box(hx_mesh *mesh, int nx, int ny, int nz)
{
    CHECK_OK(hx_generate_box(mesh, nx, ny, nz, 1.0, 2.0 / 3.0, 0.1));
    const int32_t core_elem[] = {1, 3, 4};
    CHECK_OK(hx_mesh_add_elem_set(mesh, "solid core", 3, core_elem));
}

/* Fields are functions of the original number, so that a wrong order shows. */
static inline double density_of(int64_t original)
{
    return 1.0 / (3.0 + (double)original);
}

typedef struct sample {
    double *density, *move;
    float *energy;
    int32_t *part;
    uint8_t *solid;
    double *stress;
} sample;

static inline void sample_make(sample *s, const hx_mesh *mesh)
{
    const size_t n_elem = (size_t)mesh->n_elem, n_node = (size_t)mesh->n_node;
    s->density = calloc(n_elem, sizeof *s->density);
    s->energy = calloc(n_elem, sizeof *s->energy);
    s->part = calloc(n_elem, sizeof *s->part);
    s->solid = calloc(n_elem, sizeof *s->solid);
    s->stress = calloc(n_elem * 6, sizeof *s->stress);
    s->move = calloc(n_node * 3, sizeof *s->move);
    for (size_t e = 0; e < n_elem; e++) {
        const int64_t original = hx_mesh_elem_number(mesh, (int64_t)e);
        s->density[e] = density_of(original);
        s->energy[e] = (float)(1e-30 * (double)original);
        s->part[e] = (int32_t)(original % 3) - 1;
        s->solid[e] = original == 1 || original == 3 || original == 4;
        for (size_t k = 0; k < 6; k++) s->stress[6 * e + k] = (double)original + 0.1 * (double)k;
    }
    for (size_t i = 0; i < n_node * 3; i++)
        s->move[i] = (double)hx_mesh_node_number(mesh, (int64_t)(i / 3)) * 0.5;
}

static inline void sample_free(sample *s)
{
    free(s->density);
    free(s->energy);
    free(s->part);
    free(s->solid);
    free(s->stress);
    free(s->move);
}

static inline int sample_write_part(const char *path, const hx_mesh *mesh, const sample *s,
                                    const hx_vtk_options *options, int64_t *n_written)
{
    const hx_vtk_field field[] = {
        {"density", HX_VTK_CELL, HX_VTK_F64, 1, s->density},
        {"displacement", HX_VTK_POINT, HX_VTK_F64, 3, s->move},
        {"element energy", HX_VTK_CELL, HX_VTK_F32, 1, s->energy},
        {"part", HX_VTK_CELL, HX_VTK_I32, 1, s->part},
        {"stress", HX_VTK_CELL, HX_VTK_F64, 6, s->stress},
        {"set_solid core", HX_VTK_CELL, HX_VTK_U8, 1, s->solid},
    };
    return hx_vtk_write_part(path, mesh, "line one\nline two", options, field,
                             sizeof field / sizeof field[0], n_written);
}

static inline int sample_write(const char *path, const hx_mesh *mesh, const sample *s,
                               hx_vtk_format format)
{
    const hx_vtk_options options = {.format = format};
    return sample_write_part(path, mesh, s, &options, NULL);
}

/* --- files as other programs write them --- */

#define POINTS8 "POINTS 8 float\n0 0 0 1 0 0 1 1 0 0 1 0\n0 0 1 1 0 1 1 1 1 0 1 1\n"
#define HEAD "# vtk DataFile Version 3.0\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define CUBE HEAD POINTS8 "CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n12\n"
#define HEAD5 "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define CELLS5                                                                                     \
    "CELLS 2 8\nOFFSETS vtktypeint64\n0 8 \nCONNECTIVITY vtktypeint64\n0 1 2 3 4 5 6 7 \n\n"

static const char *const styled_file[] = {
    CUBE,
    /* Windows line ends, lower case, no LOOKUP_TABLE */
    "# vtk DataFile Version 2.0\r\ncube\r\nascii\r\ndataset unstructured_grid\r\n"
    "points 8 double\r\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1\r\n"
    "cells 1 9\r\n8 0 1 2 3 4 5 6 7\r\ncell_types 1\r\n12\r\ncell_data 1\r\nscalars part int\r\n5",
    /* 5.1 with METADATA, field data, names in %XX, ghost cells */
    HEAD5
    "FIELD FieldData 2\nTIME 1 1 double\n0.5\nMETADATA\nINFORMATION 0\n\nnote 1 1 "
    "string\na%20b\n" POINTS8
    "METADATA\nINFORMATION 2\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n\n" CELLS5
    "CELL_TYPES 1\n12\n\nCELL_DATA 1\nFIELD FieldData 3\npart 1 1 vtktypeint64\n5 \nMETADATA\n"
    "COMPONENT_NAMES\na\n\nset_left%20face 1 1 unsigned_char\n1\nvtkGhostType 1 1 "
    "unsigned_char\n0\n",
    /* all attributes that the reader must skip */
    CUBE
    "POINT_DATA 8\nVECTORS v double\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "CELL_DATA 1\nCOLOR_SCALARS c 3\n0.5 0.5 0.5\nSCALARS rho double 1\nLOOKUP_TABLE mine\n0.5\n"
    "LOOKUP_TABLE mine 2\n0 0 0 1 1 1 1 1\nTENSORS t float\n1 0 0 0 1 0 0 0 1\n"
    "TEXTURE_COORDINATES x 2 float\n0 0\nGLOBAL_IDS g vtkIdType\n3\nNORMALS n float\n1 0 0\n"
    "FIELD f 1\npart 1 1 short\n5\n",
};

#define N_STYLED_FILE (sizeof styled_file / sizeof styled_file[0])

#endif
