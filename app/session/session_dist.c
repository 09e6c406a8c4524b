/* A session of several processes: all open it like a single process, but each solves its subdomain
 * on dist.dev; the root chooses the solver for all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/design_dist.h"
#include "core/mesh/mesh_hash.h"
#include "core/version.h"
#include "identity.h"
#include "session_internal.h"

/* Largest number of nodes of a replicated coarse grid, from the root's config. */
static int find_whole_coarse(hx_session *s)
{
    int32_t n = s->cfg.solver.whole_coarse_grid;
    HX_TRY(s->comm->ops->broadcast(s->comm, HX_DIST_ROOT, &n, sizeof n));
    s->dist.most_whole = s->cfg.solver.whole_coarse_grid = n;
    return HX_OK;
}

/* Finds the transport between the processes by the root's config, which then names the one in
 * use. */
static int find_transport(hx_session *s)
{
    int32_t way = s->cfg.solver.transport;
    HX_TRY(s->comm->ops->broadcast(s->comm, HX_DIST_ROOT, &way, sizeof way));
    HX_TRY(hx_dist_connect(&s->dist, (hx_transport_kind)way));
    s->cfg.solver.transport = (int)hx_dist_transport_kind(&s->dist);
    return HX_OK;
}

int hx_session_create_subdomain(hx_session *s)
{
    if (!s->comm || s->dist.comm) return HX_OK;
    const int rc = hx_dist_create(&s->dist, s->comm, &s->device, &s->problem);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", s->cfg.path);
    HX_TRY(rc);
    HX_TRY(find_whole_coarse(s));
    HX_TRY(find_transport(s));
    HX_TRY(hx_session_agree_dist_mesh(s));
    HX_TRY(hx_design_distribute(&s->dist));
    hx_session_count_voxels(s);
    return HX_OK;
}

enum { WORD = 64 };

/* Data that must agree on all processes, and the selections of the root. */
typedef struct choice {
    char version[WORD], device[WORD], op[WORD], preconditioner[WORD];
    int32_t layout;
    hx_hash mesh, settings;
} choice;

static int identify(hx_session *s, choice *c)
{
    hx_identity identity;
    HX_TRY(hx_identity_of(s, &identity));
    c->mesh = s->mesh.parts.n > 0 ? hx_mesh_order_hash(&s->mesh) : identity.order;
    c->settings = identity.settings;
    return HX_OK;
}

int hx_session_tell_choice(hx_session *s)
{
    choice c;
    if (!s->comm || s->comm->rank != HX_DIST_ROOT) return HX_OK;
    memset(&c, 0, sizeof c);
    snprintf(c.version, sizeof c.version, "%s", HX_VERSION);
    snprintf(c.device, sizeof c.device, "%s", s->cfg.solver.device);
    snprintf(c.op, sizeof c.op, "%s", s->cfg.solver.op);
    snprintf(c.preconditioner, sizeof c.preconditioner, "%s", s->cfg.solver.preconditioner);
    c.layout = (int32_t)s->cfg.solver.layout;
    HX_TRY(identify(s, &c));
    HX_TRY(s->comm->ops->broadcast(s->comm, HX_DIST_ROOT, &c, sizeof c));
    return hx_comm_agree(s->comm, HX_OK);
}

static int differ(const hx_hash *a, const hx_hash *b)
{
    return a->a != b->a || a->b != b->b;
}

/* HX_EENV: this process cannot take part in the root's run. */
static int compare_choices(const hx_session *s, const choice *root, const choice *own)
{
    const int rank = s->comm->rank;
    if (strcmp(root->version, HX_VERSION) != 0)
        return HX_RAISE(
            HX_EENV,
            "process %d runs hextop %s, process 0 runs %s: start the same program on all machines",
            rank, HX_VERSION, root->version);
    if (strcmp(root->device, s->device.ops->name) != 0)
        return HX_RAISE(HX_EENV,
                        "process %d has device '%s', process 0 has '%s': name one in solver.device "
                        "that all have",
                        rank, s->device.ops->name, root->device);
    if (differ(&root->mesh, &own->mesh))
        return HX_RAISE(HX_EENV,
                        "process %d reads another mesh than process 0: the same files must "
                        "be on all machines",
                        rank);
    if (differ(&root->settings, &own->settings))
        return HX_RAISE(HX_EENV,
                        "process %d reads another config than process 0: the same files "
                        "must be on all machines",
                        rank);
    return HX_OK;
}

int hx_session_hear_choice(hx_session *s)
{
    choice root, own = {.layout = 0};
    if (!s->comm || s->comm->rank == HX_DIST_ROOT) return HX_OK;
    HX_TRY(s->comm->ops->broadcast(s->comm, HX_DIST_ROOT, &root, sizeof root));
    HX_TRY(hx_config_set_word(&s->cfg.solver.device, root.device));
    HX_TRY(hx_config_set_word(&s->cfg.solver.op, root.op));
    HX_TRY(hx_config_set_word(&s->cfg.solver.preconditioner, root.preconditioner));
    s->cfg.solver.layout = (hx_layout)root.layout;
    const int rc = identify(s, &own);
    return hx_comm_agree(s->comm, rc < 0 ? rc : compare_choices(s, &root, &own));
}

int hx_session_rank_bytes(hx_session *s, int n_rank, int rank, size_t *bytes)
{
    const hx_comm comm = {.rank = rank, .size = n_rank}; /* nothing is sent */
    *bytes = 0;
    HX_TRY(hx_session_check_objective(s, n_rank));
    HX_TRY(hx_subdomain_create(&s->dist.subdomain, &comm, &s->problem));
    s->dist.comm = &comm;
    hx_session_count_voxels(s);
    *bytes = hx_session_device_bytes(s);
    hx_subdomain_free(&s->dist.subdomain);
    memset(&s->dist, 0, sizeof s->dist);
    hx_session_count_voxels(s);
    return HX_OK;
}

void hx_session_free_lists(hx_session *s)
{
    if (!s->mesh.ownership) return;
    hx_mesh_free_lists(&s->mesh);
    hx_mesh_free_lists(&s->dist.subdomain.mesh);
}

static const char *cut_text(hx_partition_kind kind)
{
    if (kind == HX_PARTITION_CURVE) return "cut along the curve";
    return kind == HX_PARTITION_GRAPH ? "parts by METIS" : "parts by bisection";
}

const char *hx_session_comm_text(const hx_session *s, char *text, size_t n_text)
{
    const hx_subdomain *const subdomain = &s->dist.subdomain;
    int64_t most = 0;
    char a[32], b[32];
    for (int r = 0; r < s->comm->size; r++)
        if (subdomain->n_elem_of[r] > most) most = subdomain->n_elem_of[r];
    snprintf(text, n_text,
             "%d %s (%s), %d on this machine; at most %s %s each, %s; process 0 has %s interface "
             "nodes, exchanged by %s",
             s->comm->size, hx_noun(s->comm->size, "process", "processes"), s->comm->ops->name,
             s->comm->host_size, hx_format_count(most, a, sizeof a),
             hx_noun(most, "element", "elements"), cut_text(s->cfg.solver.partition),
             hx_format_count(subdomain->n_interface, b, sizeof b), hx_dist_transport(&s->dist));
    return text;
}
