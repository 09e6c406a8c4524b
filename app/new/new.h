/* The parts of hextop new: a part, its sets, and the config written for them. */
#ifndef HX_NEW_H
#define HX_NEW_H

#include <stdio.h>

#include "../session/session.h"
#include "core/mesher/face_fit.h"

/* A set that supports or loads can name, with measurements. */
typedef struct hx_new_set {
    const hx_set *set; /* (borrowed from the mesh) */
    int64_t n_face;    /* boundary faces that it contains or spans */
    double area;       /* area of these faces; 0: none */
    double centre[3];  /* of these faces, else of its elements, else of its nodes */
    int is_inner;      /* 1: its faces lie between solids */
    int is_fitted;     /* 1: `shape` is the surface on which its faces lie */
    hx_face_shape shape;
} hx_new_set;

typedef struct hx_new_part {
    hx_session session; /* mesh and a minimal config (owned) */
    int is_file, is_cad;
    size_t n_set;
    hx_new_set *set;             /* [n_set] (owned) */
    size_t n_override;           /* KEY=VALUE arguments that replace values of the written config */
    const char *const *override; /* [n_override] (borrowed) */
    char name[128]; /* of the part: the file's name without its ending, or the generator's name */
    char *file;     /* path of the part as the config states it (owned) */
} hx_new_part;

/* named: a mesh, a CAD model or a generator. target: the file to be written; "": unknown, so a file
 * in the current folder is assumed. HX_EINPUT: `named` is none of these, or `hextop check` would
 * refuse it. */
int hx_new_part_open(hx_new_part *part, const char *named, const char *target, size_t n_override,
                     const char *const *override);

/* Units of a config for heat that correspond to "N, mm, MPa". */
#define HX_NEW_HEAT_UNITS "mW, mm, K"

/* 1 if a KEY=VALUE argument sets physics = "heat". */
int hx_new_asks_for_heat(const hx_new_part *part);

/* Escapes a character for libconfig text in quotes, into to[5]; returns the length. */
int hx_new_escape(char c, char *to);

void hx_new_part_free(hx_new_part *part);

/* 1: the config has supports and loads, of the file, a generator or arguments, so it runs as
 * written. */
int hx_new_is_complete(const hx_new_part *part);

/* Writes the text of the config. HX_EINPUT: an argument sets a key that the text does not
 * contain. */
int hx_new_write(const hx_new_part *part, FILE *stream);

#endif
