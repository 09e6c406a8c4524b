/* Whether a result belongs to a config. The hashes in the title of its VTK file decide
 * (identity.h); if they differ, the differing settings are listed from the config.cfg in its
 * folder. */
#ifndef HX_RESULT_ORIGIN_H
#define HX_RESULT_ORIGIN_H

#include "../session/session.h"
#include "../text/json.h"
#include "core/files/result_match.h"

/* maximum number of keys that are listed; further ones are only counted */
enum { HX_ORIGIN_KEYS = 8 };

/* A key with differing values; a value is "" if that config does not have the key. */
typedef struct hx_origin_key {
    char key[64], then[40], now[40];
} hx_origin_key;

typedef struct hx_result_origin {
    int is_known; /* 0: the file has no hashes, since another program or an old version wrote it */
    /* same_density: the densities are those that the run wrote */
    int same_mesh, same_settings, same_density;
    int is_requested; /* 1: the user changed all differing keys on the command line */
    /* number of differing keys; 0 although settings differ: the run's config is not available */
    int n_key;
    hx_origin_key key[HX_ORIGIN_KEYS];
} hx_result_origin;

/* Compares the file, as `match` found it, with the config of s, which has mesh and problem. O(n).
 * HX_ENOMEM. */
int hx_result_origin_find(hx_result_origin *origin, hx_session *s, const char *file,
                          const hx_result_match *match);

/* Accepts differences made by these KEY=VALUE arguments, since the user gave them. */
void hx_result_origin_excuse(hx_result_origin *origin, size_t n, const char *const *override);

/* Writes "of this config", or "of this mesh, with other settings: optimization.penalty = 2.0, here
 * 3.0". Returns text. */
enum { HX_ORIGIN_TEXT = 1536 };
const char *hx_result_origin_text(const hx_result_origin *origin, char text[HX_ORIGIN_TEXT]);

/* 1 if the result does not belong to the config. */
int hx_result_origin_is_off(const hx_result_origin *origin);

/* Writes the object "origin". */
void hx_result_origin_write(hx_json *json, const hx_result_origin *origin);

#endif
