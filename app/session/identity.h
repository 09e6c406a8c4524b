/* Hashes in summary.json and in checkpoints that identify the run of a result. */
#ifndef HX_IDENTITY_H
#define HX_IDENTITY_H

#include "core/base/hash.h"
#include "session.h"

typedef struct hx_identity {
    hx_hash mesh;     /* in the original numbering (mesh_hash.h) */
    hx_hash order;    /* hash of the current order of the mesh */
    hx_hash settings; /* of hx_config_settings */
} hx_identity;

/* Identity of an open session, whose config is resolved. O(n) once per session. HX_ENOMEM. */
int hx_identity_of(hx_session *s, hx_identity *identity);

/* Its parts: hash of the mesh; the settings that determine the result, as text (hx_config_settings;
 * the caller frees it), and the hash of that text. */
hx_hash hx_session_mesh_hash(hx_session *s);
int hx_session_settings(const hx_session *s, char **text);
hx_hash hx_identity_settings(const char *text);

/* Hash of the physical densities of the design just analysed, in the original numbering. O(n). */
int hx_identity_density(const hx_session *s, hx_hash *density);

/* End of the title of a VTK file, " | mesh=0123... settings=4567... density=89ab...": 123
 * characters. Returns text. */
enum { HX_IDENTITY_TITLE = 128 };
const char *hx_identity_title(const hx_identity *identity, const hx_hash *density,
                              char text[HX_IDENTITY_TITLE]);

/* Reads the digits back from a title. Returns 1 if it has them. */
typedef struct hx_identity_text {
    char mesh[HX_HASH_TEXT], settings[HX_HASH_TEXT], density[HX_HASH_TEXT];
} hx_identity_text;
int hx_identity_read(const char *title, hx_identity_text *text);

#endif
