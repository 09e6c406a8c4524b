/* VTK's XML files of unstructured grids (.vtu): the arrays that a file declares, and their values
 * in any encoding. Shared by vtu_file.c (elements), vtu_data.c (values), vtu_join.c (pieces and
 * ghosts) and vtu_read.c (conversion to the mesh). Not installed. */
#ifndef HX_VTU_FILE_H
#define HX_VTU_FILE_H

#include "vtk_reader.h"
#include "xml_scan.h"

enum { HX_VTU_PIECES = 1 << 16 };

typedef enum { HX_VTU_POINTS, HX_VTU_CELLS, HX_VTU_POINT_DATA, HX_VTU_CELL_DATA } hx_vtu_section;

typedef enum { HX_VTU_ASCII, HX_VTU_BINARY, HX_VTU_APPENDED } hx_vtu_format;

typedef struct hx_vtu_array {
    hx_vtu_section section;
    int piece;           /* index in the file, from 0 */
    char *name;          /* (owned) */
    hx_file_number type; /* kind i, u or f; s: not a number, can only be skipped */
    int64_t n_comp;
    int is_id; /* the file declares them as global or pedigree ids */
    hx_vtu_format format;
    int64_t offset;   /* of appended data */
    const char *text; /* data within the element, in the file's memory; NULL: none */
    size_t n_text;
    int64_t line, text_line;
} hx_vtu_array;

typedef struct hx_vtu_piece {
    int64_t n_point, n_cell, line;
} hx_vtu_piece;

typedef struct hx_vtu_file {
    hx_xml_scan xml;
    int is_big;        /* byte order of binary data */
    int header_bytes;  /* 4 or 8: bytes of the sizes before binary data */
    int is_compressed; /* by zlib */
    const char *appended;
    size_t n_appended;
    int appended_is_base64;
    size_t n_piece, piece_capacity, n_array, array_capacity;
    hx_vtu_piece *piece; /* (owned) */
    hx_vtu_array *array; /* (owned) */
} hx_vtu_file;

/* Finds the pieces and arrays of a .vtu file. Keeps the file in memory until hx_vtu_close. */
int hx_vtu_open(hx_vtu_file *file, const char *path);
void hx_vtu_close(hx_vtu_file *file);

/* Opens a VTK XML file. *is_parallel = 1: the file lists pieces (PUnstructuredGrid). HX_EINPUT: it
 * is neither kind of grid. */
int hx_vtu_open_root(hx_xml_scan *xml, const char *path, int *is_parallel);

/* Returns the array of that name in a section, or NULL; name NULL: the first array. */
const hx_vtu_array *hx_vtu_find(const hx_vtu_file *file, int piece, hx_vtu_section section,
                                const char *name);

/* Values of an array, in the file's memory or in memory of their own. */
typedef struct hx_vtu_values {
    int64_t n;
    int n_byte;
    char kind;  /* i, u or f */
    int is_big; /* byte order */
    const unsigned char *at;
    unsigned char *own; /* (owned), or NULL */
    int most_digits;    /* most digits of a number in text */
} hx_vtu_values;

/* Decodes an array; n: number of values it must have, -1: any number. HX_EINPUT: it is truncated,
 * damaged, of another size, or has a compression that is not read. Never allocates more than the
 * file's bytes can represent. */
int hx_vtu_decode(const hx_vtu_file *file, const hx_vtu_array *array, int64_t n,
                  hx_vtu_values *values);
void hx_vtu_values_free(hx_vtu_values *values);

static inline uint64_t hx_vtu_bits(const hx_vtu_values *v, int64_t i)
{
    const unsigned char *const at = v->at + i * v->n_byte;
    uint64_t bits = 0;
    for (int k = 0; k < v->n_byte; k++) bits = bits << 8 | at[v->is_big ? k : v->n_byte - 1 - k];
    return bits;
}

/* Entry i of integers. */
static inline int64_t hx_vtu_int(const hx_vtu_values *v, int64_t i)
{
    const uint64_t bits = hx_vtu_bits(v, i);
    if (v->kind == 'u' && v->n_byte < 8) return (int64_t)bits;
    switch (v->n_byte) {
    case 1:
        return (int8_t)(uint8_t)bits;
    case 2:
        return (int16_t)(uint16_t)bits;
    case 4:
        return (int32_t)(uint32_t)bits;
    default:
        return (int64_t)bits;
    }
}

static inline double hx_vtu_real(const hx_vtu_values *v, int64_t i)
{
    if (v->kind != 'f') return (double)hx_vtu_int(v, i);
    const uint64_t bits = hx_vtu_bits(v, i);
    double value;
    float single;
    const uint32_t bits32 = (uint32_t)bits;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &bits32, sizeof single);
    return v->n_byte == 8 ? value : (double)single;
}

/* One of the pieces of all files, with the values that define its cells. */
typedef struct hx_vtu_part {
    const hx_vtu_file *file; /* (borrowed) */
    int piece;
    int64_t n_point, n_cell;
    int64_t first_point, first_cell; /* index of its first point, and cell, in the whole grid */
    hx_vtu_values points, connectivity, offsets, types;
} hx_vtu_part;

/* All pieces as one grid. */
typedef struct hx_vtu_grid {
    size_t n_file, n_part, file_capacity, part_capacity;
    hx_vtu_file *file;       /* (owned) */
    hx_vtu_part *part;       /* (owned) */
    int64_t n_point, n_cell; /* in all pieces */
    int64_t n_kept, n_kept_cell;
    /* [n_point] number among the kept points, -1: left out; NULL: all are kept (owned) */
    int32_t *point_new;
    int32_t *cell_new; /* [n_cell] the same for cells; NULL: all are kept (owned) */
    double *xyz;       /* [n_kept][3] (owned) */
    int64_t *begin;    /* [n_kept_cell + 1] in conn (owned) */
    int32_t *conn;     /* nodes of the cells (owned) */
    uint8_t *type;     /* [n_kept_cell] (owned) */
    int is_single;     /* coordinates have 32 bits */
    int most_digits;   /* most digits of a coordinate in text; 0: binary */
} hx_vtu_grid;

/* Joins the pieces of the open files. Leaves out ghost cells and the points that only they use, and
 * merges points that pieces share: points with equal GlobalNodeId or, without these ids, points in
 * the same place. O(n log n) for several pieces, otherwise O(n). */
int hx_vtu_join(hx_vtu_grid *grid, hx_notes *notes);

/* Accepts a zeroed struct. */
void hx_vtu_grid_free(hx_vtu_grid *grid);

/* Reads a .vtu or .pvtu file into r, as vtk_read.c does for a legacy file. */
int hx_vtu_read(hx_vtk_reader *r, const char *path);

#endif
