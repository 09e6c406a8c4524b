/* What a session holds in memory, on the device part by part. */
#include "session_internal.h"

size_t hx_session_mesh_bytes(const hx_session *s)
{
    return hx_mesh_bytes(&s->mesh) + hx_conditions_bytes(&s->conditions);
}

size_t hx_session_filter_bytes(const hx_session *s)
{
    const hx_filter_params params = hx_session_filter_params(s);
    return hx_filter_bytes(hx_filter_find(s->cfg.optimization.filter.kind), &s->problem, &params);
}

enum { DESIGN_ITEMS = 4 };

static void design_items(const hx_session *s, hx_memory_item item[DESIGN_ITEMS])
{
    const size_t vector = 3 * (size_t)s->mesh.n_node * sizeof(double);
    const size_t n_case = (size_t)s->problem.cases.n;
    const size_t n_load = (size_t)hx_analysis_vectors(&s->problem) - n_case +
                          (size_t)hx_objective_vectors(hx_session_objective(s), &s->problem);
    const size_t densities =
        hx_optimizer_bytes(&s->problem, hx_session_update(s)) + hx_ties_bytes(&s->ties);
    item[0] = (hx_memory_item){"displacements", n_case * vector};
    item[1] = (hx_memory_item){"loads", n_load * vector};
    item[2] = (hx_memory_item){"densities", densities};
    item[3] = (hx_memory_item){"filter", hx_session_filter_bytes(s)};
}

int hx_session_other_items(const hx_session *s, hx_memory_item item[HX_SESSION_ITEMS])
{
    const size_t vector = 3 * (size_t)s->mesh.n_node * sizeof(double);
    const size_t n_pcg = (size_t)hx_pcg_vectors(s->precond_kind, s->problem.rigid.n > 0);
    const size_t precond =
        hx_precond_bytes(s->precond_kind, &s->problem, s->device.ops, s->strategy);
    int n = HX_OPERATOR_ITEMS;
    item[n++] = (hx_memory_item){"preconditioner", precond};
    item[n++] = (hx_memory_item){"pcg", n_pcg * vector};
    design_items(s, item + n);
    return n + DESIGN_ITEMS;
}

static size_t sum_items(const hx_memory_item *item, int first, int n)
{
    size_t sum = 0;
    for (int i = first; i < n; i++) sum += item[i].bytes;
    return sum;
}

size_t hx_session_other_bytes(const hx_session *s)
{
    hx_memory_item item[HX_SESSION_ITEMS];
    const int n = hx_session_other_items(s, item);
    return sum_items(item, HX_OPERATOR_ITEMS, n);
}

size_t hx_session_design_bytes(const hx_session *s)
{
    hx_memory_item item[DESIGN_ITEMS];
    design_items(s, item);
    return sum_items(item, 0, DESIGN_ITEMS);
}

int hx_session_device_items(const hx_session *s, hx_memory_item item[HX_SESSION_ITEMS])
{
    (void)hx_operator_items(&s->problem, s->strategy, s->layout, item);
    return hx_session_other_items(s, item);
}

size_t hx_session_device_bytes(const hx_session *s)
{
    hx_memory_item item[HX_OPERATOR_ITEMS];
    return hx_operator_items(&s->problem, s->strategy, s->layout, item) + hx_session_other_bytes(s);
}
