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
    /* centre of its elements; of its faces if it has no elements; otherwise of its nodes */
    double centre[3];
    int is_inner;  /* 1: its faces lie between solids */
    int is_fitted; /* 1: `shape` is the surface on which its faces lie */
    hx_face_shape shape;
} hx_new_set;

typedef struct hx_new_part {
    hx_session session; /* mesh and a minimal config (owned) */
    int is_file, is_cad;
    size_t n_set;
    hx_new_set *set;             /* [n_set] (owned) */
    size_t n_override;           /* KEY=VALUE arguments that replace values of the written config */
    const char *const *override; /* [n_override] (borrowed) */
    /* name of the part: the file's name without its ending, or the generator's name */
    char name[128];
    /* units of the config; NULL: the file states units that have no such name */
    const char *units;
    char *file;           /* path of the part as the config states it (owned) */
    char heat_fault[800]; /* why a config cannot state the file's heat loads; "": it can */
} hx_new_part;

/* named: a mesh, a CAD model or a generator. target: the file to be written; "": unknown, and a
 * file in the current folder is assumed. HX_EINPUT: `named` is none of these, or `hextop check`
 * would refuse it. */
int hx_new_part_open(hx_new_part *part, const char *named, const char *target, size_t n_override,
                     const char *const *override);

/* 1: the config is for heat, since the file is a heat-transfer job or an argument sets physics. */
int hx_new_is_heat(const hx_new_part *part);

/* 1 if a KEY=VALUE argument sets physics = "heat". */
int hx_new_is_heat_requested(const hx_new_part *part);

/* Escapes a character for libconfig text in quotes, into to[5]; returns the length. */
int hx_new_escape(char c, char *to);

void hx_new_part_free(hx_new_part *part);

/* 1: the config has supports and loads, from the file, a generator or arguments, so it can be run
 * as written. */
int hx_new_is_complete(const hx_new_part *part);

/* Writes the text of the config. HX_EINPUT: an argument sets a key that the text does not
 * contain. */
int hx_new_write(const hx_new_part *part, FILE *stream);

#endif
