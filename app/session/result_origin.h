/* Whether a result is that of a config: by the hashes in the title of its VTK file (identity.h),
 * and by the config.cfg beside it, which tells the settings that differ. */
#ifndef HX_RESULT_ORIGIN_H
#define HX_RESULT_ORIGIN_H

#include "../text/json.h"
#include "core/files/result_match.h"
#include "session.h"

enum { HX_ORIGIN_KEYS = 8 }; /* that are named; the others are counted */

/* A key with another value; "" where the one or the other has none. */
typedef struct hx_origin_key {
    char key[64], then[40], now[40];
} hx_origin_key;

typedef struct hx_result_origin {
    int is_known; /* 0: no hashes: written before results had some, or by another program */
    int same_mesh, same_settings, same_density; /* the last: the densities are those written */
    int is_asked; /* all keys that differ are changed on the command line */
    int n_key;    /* keys that differ; 0 with other settings: the config of then is not there */
    hx_origin_key key[HX_ORIGIN_KEYS];
} hx_result_origin;

/* Of the file, as match found it, and the config of s, which has a mesh and a problem. O(n).
 * HX_ENOMEM. */
int hx_result_origin_find(hx_result_origin *origin, hx_session *s, const char *file,
                          const hx_result_match *match);

/* Differences by these KEY=VALUE are no news to who gave them. */
void hx_result_origin_excuse(hx_result_origin *origin, size_t n, const char *const *override);

/* "of this config"; "of this mesh and other settings: optimization.penalty = 2.0, here 3.0".
 * Returns text. */
enum { HX_ORIGIN_TEXT = 1536 };
const char *hx_result_origin_text(const hx_result_origin *origin, char text[HX_ORIGIN_TEXT]);

/* 1 if something is off. */
int hx_result_origin_is_off(const hx_result_origin *origin);

/* The object "origin". */
void hx_result_origin_write(hx_json *json, const hx_result_origin *origin);

#endif
