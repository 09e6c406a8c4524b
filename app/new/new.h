/* The parts of hextop new: a part, its sets, and the config that is written of them. */
#ifndef HX_NEW_H
#define HX_NEW_H

#include <stdio.h>

#include "../session/session.h"
#include "core/mesher/face_fit.h"

/* What can hold or be loaded: a set, measured. */
typedef struct hx_new_set {
    const hx_set *set; /* (borrowed from the mesh) */
    int64_t n_face;    /* boundary faces that it names or spans */
    double area;       /* of these; 0: none */
    double centre[3];  /* of these faces, else of its elements, else of its nodes */
    int is_inner;      /* its faces lie between solids */
    int is_fitted;     /* 1: shape says on what its faces lie */
    hx_face_shape shape;
} hx_new_set;

typedef struct hx_new_part {
    hx_session session; /* mesh and the least of a config (owned) */
    int is_file, is_cad;
    size_t n_set;
    hx_new_set *set;             /* [n_set] (owned) */
    size_t n_override;           /* KEY=VALUE that replace what would be written */
    const char *const *override; /* [n_override] (borrowed) */
    char name[128]; /* of the part: the file's without its ending, or the generator's */
    char *file;     /* as the config names it (owned) */
} hx_new_part;

/* named: a mesh, a CAD model or a generator. target: the file to be written; "": not known, a file
 * in the current folder. HX_EINPUT: neither, or what `hextop check` would refuse of it. */
int hx_new_part_open(hx_new_part *part, const char *named, const char *target, size_t n_override,
                     const char *const *override);

/* The units of a config of heat, of which "N, mm, MPa" are the others. */
#define HX_NEW_HEAT_UNITS "mW, mm, K"

/* 1 if a KEY=VALUE asks for physics = "heat". */
int hx_new_asks_for_heat(const hx_new_part *part);

/* The character as libconfig takes it in a text between quotes, into to[5]; returns its length. */
int hx_new_escape(char c, char *to);

void hx_new_part_free(hx_new_part *part);

/* 1: the config takes supports and loads from the file, and runs as it is. */
int hx_new_is_complete(const hx_new_part *part);

/* The text. HX_EINPUT: an override of a key that it does not hold. */
int hx_new_write(const hx_new_part *part, FILE *stream);

#endif
