/* Nodes of universal files, and the coordinate systems in which they are given. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/grow.h"
#include "unv_reader.h"

static int use_system(unv_reader *r, int is_place, int64_t label, int64_t node, int64_t line)
{
    if (label == 0) return HX_OK;
    for (size_t i = 0; i < r->n_use; i++) {
        const size_t k = (r->last_use + i) % r->n_use;
        if (r->use[k].label != label || r->use[k].is_place != is_place) continue;
        r->use[k].n++;
        r->last_use = k;
        return HX_OK;
    }
    HX_TRY(hx_grow(&r->use, r->n_use, &r->use_capacity, sizeof *r->use, "coordinate systems"));
    r->use[r->n_use++] = (unv_system_use){label, 1, node, line, is_place};
    return HX_OK;
}

int hx_unv_read_nodes(unv_reader *r, int64_t data_set)
{
    const int is_short = data_set == 15;
    int more, n;
    int64_t head[4];
    double x[3];
    for (;;) {
        HX_TRY(hx_unv_next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(hx_unv_take_integers(r, is_short ? 4 : 1, 4, head, &n));
        const int64_t line = r->scan.word_line;
        for (int k = 1; k < 3 && k < n; k++) HX_TRY(use_system(r, k == 1, head[k], head[0], line));
        const char *at = r->line;
        for (int k = 0; k < 4 && is_short; k++) {
            at += strspn(at, " \t");
            at += strcspn(at, " \t");
        }
        if (!is_short) HX_TRY(hx_unv_need_line(r));
        HX_TRY(hx_unv_take_reals(r, at, x));
        HX_TRY(hx_import_add_nodes(&r->import, 1, head, x, line));
    }
}

/* --- coordinate systems --- */

int hx_unv_read_systems(unv_reader *r, int64_t data_set)
{
    (void)data_set;
    int more, n;
    int64_t head[3];
    HX_TRY(hx_unv_next_line(r, &more));
    if (!more) return HX_OK;
    HX_TRY(hx_unv_need_line(r));
    for (;;) {
        HX_TRY(hx_unv_next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(hx_unv_take_integers(r, 2, 3, head, &n));
        unv_system system = {head[0], head[1] == 0};
        HX_TRY(hx_unv_need_line(r));
        for (int row = 0; row < 4; row++) {
            double x[3];
            HX_TRY(hx_unv_need_line(r));
            HX_TRY(hx_unv_take_reals(r, r->line, x));
            for (int d = 0; d < 3; d++) system.is_global &= fabs(x[d] - (row == d)) <= 1e-12;
        }
        HX_TRY(hx_grow(&r->system, r->n_system, &r->system_capacity, sizeof *r->system,
                       "coordinate systems"));
        r->system[r->n_system++] = system;
    }
}

/* System 1 is the global one unless the file defines it otherwise. */
static int is_global(const unv_reader *r, int64_t label, int *is_known)
{
    *is_known = 1;
    for (size_t i = 0; i < r->n_system; i++)
        if (r->system[i].label == label) return r->system[i].is_global;
    *is_known = 0;
    return label == 1;
}

int hx_unv_check_systems(unv_reader *r)
{
    for (size_t i = 0; i < r->n_use; i++) {
        const unv_system_use *const u = &r->use[i];
        char word[60];
        int is_known;
        if (is_global(r, u->label, &is_known)) continue;
        if (u->is_place)
            return HX_IMPORT_RAISE(&r->import, u->line,
                                   "node %lld is given in coordinate system %lld, which %s; only "
                                   "the global one, 0 or 1, is read: export the mesh in it",
                                   (long long)u->node, (long long)u->label,
                                   is_known
                                       ? "data set 2420 rotates, translates or makes curvilinear"
                                       : "no data set 2420 defines");
        snprintf(word, sizeof word, "displacement system %lld", (long long)u->label);
        HX_TRY(hx_import_unread(&r->import, 0, word, "nodes; displacements are not read", u->n,
                                u->line));
    }
    return HX_OK;
}
