/* Does passive void cut the part? A piece of all that is not void, on which no support acts, is
 * held by the stiffness of void only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "core/design/black_white.h"
#include "doubt.h"

/* A passive density up to which an element counts as void. */
static const double most_void = 0.1;

typedef struct cut {
    const hx_session *s;
    uint8_t *is_there; /* [n_elem] not void (owned), like the rest */
    hx_pieces pieces;
    uint8_t *is_held; /* [pieces.n] */
} cut;

static void free_cut(cut *c)
{
    free(c->is_there);
    free(c->is_held);
    hx_pieces_free(&c->pieces);
    memset(c, 0, sizeof *c);
}

static int32_t piece_at(const cut *c, int64_t incidence)
{
    return c->pieces.of[c->s->mesh.node_elem[incidence] / 8];
}

/* Marks the pieces at a node; returns whether one of them is marked now that was not before. */
static int hold(const cut *c, int64_t node)
{
    const hx_mesh *const mesh = &c->s->mesh;
    int is_new = 0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const int32_t piece = piece_at(c, k);
        if (piece < 0 || c->is_held[piece]) continue;
        c->is_held[piece] = 1;
        is_new = 1;
    }
    return is_new;
}

/* 1 if a piece at the node is held; 0 too if there is none. */
static int is_held_at(const cut *c, int64_t node, int *is_void)
{
    const hx_mesh *const mesh = &c->s->mesh;
    *is_void = 1;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const int32_t piece = piece_at(c, k);
        if (piece < 0) continue;
        *is_void = 0;
        if (c->is_held[piece]) return 1;
    }
    return 0;
}

/* Pieces that a rigid set joins to a held one, or that its held point holds. */
static int hold_by_rigid_sets(const cut *c)
{
    const hx_rigid_sets *const rigid = &c->s->problem.rigid;
    int is_new = 0;
    for (int i = 0; i < rigid->n; i++) {
        const hx_rigid_set *const set = &rigid->set[i];
        int is_held = set->held != 0, is_void;
        for (int64_t k = set->first; k < set->first + set->n && !is_held; k++)
            if (rigid->node[k] < c->s->mesh.n_node)
                is_held = is_held_at(c, rigid->node[k], &is_void);
        for (int64_t k = set->first; k < set->first + set->n && is_held; k++)
            if (rigid->node[k] < c->s->mesh.n_node) is_new |= hold(c, rigid->node[k]);
    }
    return is_new;
}

static void find_held(const cut *c)
{
    const hx_problem *const p = &c->s->problem;
    const int64_t n_node = c->s->mesh.n_node;
    for (int64_t a = 0; a < n_node; a++)
        if (p->supports.fixed[a]) (void)hold(c, a);
    for (int64_t k = 0; k < p->springs.n; k++)
        if (p->springs.dof[k] / p->components < n_node)
            (void)hold(c, p->springs.dof[k] / p->components);
    for (int64_t k = 0; k < p->films.n; k++) /* convection holds a temperature, if softly */
        if (p->films.node[k] < n_node) (void)hold(c, p->films.node[k]);
    while (hold_by_rigid_sets(c)) continue;
}

/* without: an entry of `passive` that is taken for material all the same; -1: none. */
static int find_cut(cut *c, const hx_session *s, int without)
{
    const hx_problem *const p = &s->problem;
    int rc;
    memset(c, 0, sizeof *c);
    c->s = s;
    HX_TRY_FAIL(hx_alloc_raw(&c->is_there, (size_t)s->mesh.n_elem, 1, "pieces"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        c->is_there[e] = !(p->passive.density[e] <= most_void);
    if (without >= 0) {
        const hx_config_passive *const passive = s->cfg.passive.entry;
        const hx_set *const set = hx_mesh_find_set(&s->mesh, passive[without].set);
        for (int64_t k = 0; set && k < set->n_elem; k++) c->is_there[set->elem[k]] = 1;
    }
    HX_TRY_FAIL(hx_pieces_create(&c->pieces, &s->mesh, c->is_there, p->volume, HX_PIECES_BY_NODES));
    HX_TRY_FAIL(hx_alloc(&c->is_held, (size_t)c->pieces.n, 1, "pieces"));
    find_held(c);
    return HX_OK;
fail:
    free_cut(c);
    return rc;
}

/* Share of a case's force, or of the volume that its load by mass acts on, on pieces that nothing
 * holds. What lies in void only is another warning's. */
static double share_cut(const cut *c, int load_case)
{
    const hx_problem *const p = &c->s->problem;
    const double *const force = p->cases.force[load_case];
    double all = 0.0, off = 0.0;
    for (int64_t a = 0; a < c->s->mesh.n_node; a++) {
        const double size = p->components == 3 ? hx_norm3(force + 3 * a) : fabs(force[a]);
        int is_void;
        if (!(size > 0.0)) continue;
        all += size;
        if (!is_held_at(c, a, &is_void) && !is_void) off += size;
    }
    if (all > 0.0 || !hx_problem_body(p, load_case)) return all > 0.0 ? off / all : 0.0;
    for (int64_t i = 0; i < c->pieces.n; i++) {
        all += c->pieces.volume[i];
        if (!c->is_held[i]) off += c->pieces.volume[i];
    }
    return all > 0.0 ? off / all : 0.0;
}

static double worst_share(const cut *c, int *load_case)
{
    double worst = 0.0;
    *load_case = 0;
    for (int i = 0; i < c->s->problem.cases.n; i++) {
        const double share = share_cut(c, i);
        if (!(share > worst)) continue;
        worst = share;
        *load_case = i;
    }
    return worst;
}

/* The entry of `passive` without which nothing would be cut off; -1: no single one. */
static int find_cutting(const hx_session *s)
{
    const hx_config_passive *const passive = s->cfg.passive.entry;
    for (size_t i = 0; i < s->cfg.passive.n; i++) {
        int load_case;
        cut c;
        if (passive[i].density > most_void) continue;
        if (find_cut(&c, s, (int)i) < 0) return -1;
        const double share = worst_share(&c, &load_case);
        free_cut(&c);
        if (!(share > 0.0)) return (int)i;
    }
    return -1;
}

static void warn(hx_doubts *doubts, const cut *c, double share, int load_case)
{
    const int cutting = find_cutting(c->s), is_heat = hx_config_is_heat(&c->s->cfg);
    char remedy[96] = "`passive=` leaves all passive regions out";
    int64_t n_loose = 0;
    for (int64_t i = 0; i < c->pieces.n; i++) n_loose += !c->is_held[i];
    if (cutting >= 0)
        snprintf(remedy, sizeof remedy, "`passive[%d]=` leaves out the void that cuts it", cutting);
    hx_doubts_advise(doubts, HX_DOUBT_VOID_CUTS, share, remedy,
                     "passive void cuts the part: %.0f %% of the %s of load case %d acts on %lld "
                     "piece%s without a %s, so that void carries it and its %s is most of the "
                     "compliance",
                     100.0 * share, is_heat ? "heat" : "force", load_case + 1, (long long)n_loose,
                     n_loose == 1 ? "" : "s", is_heat ? "given temperature" : "support",
                     is_heat ? "temperature" : "displacement");
}

static int has_void(const hx_session *s)
{
    const hx_config_passive *const passive = s->cfg.passive.entry;
    for (size_t i = 0; i < s->cfg.passive.n; i++)
        if (passive[i].density <= most_void) return 1;
    return 0;
}

int hx_doubt_void(hx_doubts *doubts, const hx_session *s)
{
    const hx_problem *const p = &s->problem;
    int load_case;
    cut c;
    if (!p->passive.density || !has_void(s) || s->space.element == HX_ELEMENT_SPLINE)
        return HX_OK; /* functions of a spline reach over void */
    HX_TRY(find_cut(&c, s, -1));
    const double share = worst_share(&c, &load_case);
    if (share > hx_doubt_table[HX_DOUBT_VOID_CUTS].limit) warn(doubts, &c, share, load_case);
    free_cut(&c);
    return HX_OK;
}
