/* Divides the mesh for several processes by solver.partition: parts of METIS become the order of
 * the elements, so that a subdomain is a range of them; along the curve they are in that order
 * already. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/dist/dist.h"
#include "core/mesh/mesh_hash.h"
#include "core/partition/partition.h"
#include "session_internal.h"

/* Sent by the root before the parts. */
typedef struct announcement {
    int32_t rc, kind;
    int64_t n_elem;
} announcement;

static int choose_partition(hx_session *s, hx_partition *p, int n_rank)
{
    static const char key[] = "solver.partition";
    const hx_partition_kind requested = s->cfg.solver.partition;
    *p = (hx_partition){.kind = HX_PARTITION_CURVE}; /* divided when the subdomains are made */
    if (requested == HX_PARTITION_CURVE || s->spline.n_patch > 0) return HX_OK;
    const int rc = hx_partition_choose(p, &s->mesh, requested, n_rank);
    return rc < 0 ? hx_session_blame(s, key, rc) : HX_OK;
}

/* Orders the elements part by part. The order that checkpoints record stays the one before. */
static int put_in_order(hx_session *s, const hx_partition *p)
{
    s->cfg.solver.partition = p->kind;
    if (p->kind == HX_PARTITION_CURVE) return HX_OK;
    s->order_hash = hx_mesh_order_hash(&s->mesh);
    s->has_order_hash = 1;
    return hx_mesh_part(&s->mesh, p->n_rank, p->rank);
}

int hx_session_cut_mesh(hx_session *s, int n_rank)
{
    hx_partition p;
    if (n_rank < 2) return HX_OK;
    HX_TRY(choose_partition(s, &p, n_rank));
    const int rc = put_in_order(s, &p);
    hx_partition_free(&p);
    return rc;
}

/* On the root: sends the partition to the others. */
static int send_parts(const hx_session *s, int rc, hx_partition *p)
{
    const hx_comm *const comm = s->comm;
    announcement a = {rc, (int32_t)p->kind, s->mesh.n_elem};
    HX_TRY(comm->ops->broadcast(comm, HX_DIST_ROOT, &a, sizeof a));
    if (rc < 0 || p->kind == HX_PARTITION_CURVE) return rc;
    return comm->ops->broadcast(comm, HX_DIST_ROOT, p->rank, (size_t)a.n_elem * sizeof *p->rank);
}

/* A process that has read another mesh receives the parts, too; the error is raised when it is
 * compared with the root (hx_session_tell_choice). */
static int hear_parts(const hx_session *s, hx_partition *p)
{
    const hx_comm *const comm = s->comm;
    announcement a;
    HX_TRY(comm->ops->broadcast(comm, HX_DIST_ROOT, &a, sizeof a));
    if (a.rc < 0) return HX_RAISE(a.rc, "process 0 found no parts of the mesh");
    *p = (hx_partition){.kind = (hx_partition_kind)a.kind, .n_rank = comm->size};
    if (p->kind == HX_PARTITION_CURVE) return HX_OK;
    HX_TRY(hx_alloc_raw(&p->rank, (size_t)a.n_elem, sizeof *p->rank, "parts of the mesh"));
    HX_TRY(comm->ops->broadcast(comm, HX_DIST_ROOT, p->rank, (size_t)a.n_elem * sizeof *p->rank));
    if (a.n_elem != s->mesh.n_elem) p->kind = HX_PARTITION_CURVE;
    return HX_OK;
}

int hx_session_distribute_mesh(hx_session *s)
{
    hx_partition p = {0};
    int rc;
    if (!s->comm) return HX_OK;
    if (s->comm->rank == HX_DIST_ROOT)
        rc = send_parts(s, choose_partition(s, &p, s->comm->size), &p);
    else
        rc = hear_parts(s, &p);
    if (rc == HX_OK) rc = put_in_order(s, &p);
    hx_partition_free(&p);
    return rc;
}
