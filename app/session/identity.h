/* Which run a result is of: hashes that stand in summary.json and in checkpoints. */
#ifndef HX_IDENTITY_H
#define HX_IDENTITY_H

#include "core/base/hash.h"
#include "session.h"

typedef struct hx_identity {
    hx_hash mesh;     /* in the original numbering: mesh_hash.h */
    hx_hash order;    /* of the order that the mesh is in here */
    hx_hash settings; /* of hx_config_settings */
} hx_identity;

/* Of an open session, whose config is resolved. O(n) once a session. HX_ENOMEM. */
int hx_identity_of(hx_session *s, hx_identity *identity);

/* Its parts: of the mesh; what decides on the result, as text (hx_config_settings, the caller's to
 * free), and that text's hash. */
hx_hash hx_session_mesh_hash(hx_session *s);
int hx_session_settings(const hx_session *s, char **text);
hx_hash hx_identity_settings(const char *text);

/* Of the physical density of the design just analysed, in the original numbering. O(n). */
int hx_identity_density(const hx_session *s, hx_hash *density);

/* The end of a VTK file's title, " | mesh=0123... settings=4567... density=89ab...": 123
 * characters. Returns text. */
enum { HX_IDENTITY_TITLE = 128 };
const char *hx_identity_title(const hx_identity *identity, const hx_hash *density,
                              char text[HX_IDENTITY_TITLE]);

/* Back from a title, as digits. 1 if it has them. */
typedef struct hx_identity_text {
    char mesh[HX_HASH_TEXT], settings[HX_HASH_TEXT], density[HX_HASH_TEXT];
} hx_identity_text;
int hx_identity_read(const char *title, hx_identity_text *text);

#endif
