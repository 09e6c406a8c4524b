#include "identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/mesh/mesh_hash.h"

hx_hash hx_session_mesh_hash(hx_session *s)
{
    if (!s->has_mesh_hash) s->mesh_hash = hx_mesh_hash(&s->mesh);
    s->has_mesh_hash = 1;
    return s->mesh_hash;
}

int hx_session_settings(const hx_session *s, char **text)
{
    hx_config cfg = s->cfg; /* (borrows) */
    if (s->own_element) cfg.solver.element = (hx_element)(s->own_element - 1);
    return hx_config_settings(&cfg, text);
}

hx_hash hx_identity_settings(const char *text)
{
    hx_hash h = {0, 0};
    hx_hash_text(&h, text, strlen(text));
    return h;
}

int hx_identity_of(hx_session *s, hx_identity *identity)
{
    char *settings;
    memset(identity, 0, sizeof *identity);
    HX_TRY(hx_session_settings(s, &settings));
    identity->settings = hx_identity_settings(settings);
    free(settings);
    identity->mesh = hx_session_mesh_hash(s);
    if (!s->has_order_hash) s->order_hash = hx_mesh_order_hash(&s->mesh);
    s->has_order_hash = 1;
    identity->order = s->order_hash;
    return HX_OK;
}

int hx_identity_density(const hx_session *s, hx_hash *density)
{
    const int64_t n = hx_mesh_n_elem_all(&s->mesh);
    double *rho;
    HX_TRY(hx_session_alloc_whole(s, &rho, n, sizeof *rho, "densities"));
    const int rc = hx_optimizer_density(&s->opt, rho);
    if (rc == HX_OK && rho)
        *density = s->mesh.ownership ? hx_mesh_piece_hash(0, n, rho, (double)NAN)
                                     : hx_mesh_field_hash(&s->mesh, rho);
    free(rho);
    return rc;
}

const char *hx_identity_title(const hx_identity *identity, const hx_hash *density,
                              char text[HX_IDENTITY_TITLE])
{
    char mesh[HX_HASH_TEXT], settings[HX_HASH_TEXT], digits[HX_HASH_TEXT];
    snprintf(text, HX_IDENTITY_TITLE, " | mesh=%s settings=%s density=%s",
             hx_hash_print(&identity->mesh, mesh), hx_hash_print(&identity->settings, settings),
             hx_hash_print(density, digits));
    return text;
}

int hx_identity_read(const char *title, hx_identity_text *text)
{
    const char *const last = strrchr(title, '|');
    int n = 0;
    return last &&
           sscanf(last, "| mesh=%32[0-9a-f] settings=%32[0-9a-f] density=%32[0-9a-f]%n", text->mesh,
                  text->settings, text->density, &n) == 3 &&
           strlen(text->density) == HX_HASH_TEXT - 1;
}
