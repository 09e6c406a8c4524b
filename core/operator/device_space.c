#include "device_space.h"

#include <string.h>

/* One array to upload. */
typedef struct array {
    const void *from;
    size_t bytes;
    void *to; /* address of the pointer to set */
} array;

enum { N_ARRAY = 11 };

static void list_arrays(const hx_space *s, hx_device_space *d, array list[N_ARRAY])
{
    const size_t n_point = (size_t)s->n_point, n_place = (size_t)s->n_place;
    const size_t n_elem = (size_t)s->mesh->n_elem;
    const hx_spline_rule none = {0}, *const rule = s->spline_rule ? s->spline_rule : &none;
    const array all[N_ARRAY] = {
        {s->xyz, n_point * 3 * sizeof(double), &d->d_xyz},
        {s->point, n_place * sizeof(int32_t), &d->points.point},
        {s->point_ptr, (n_point + 1) * sizeof(int64_t), &d->points.point_ptr},
        {s->point_place, n_place * sizeof(uint32_t), &d->points.point_place},
        {s->kind, n_elem, &d->points.kind},
        {s->cell_ptr, (n_elem + 1) * sizeof(int64_t), &d->points.cell_ptr},
        {s->pair_ptr, (n_elem + 1) * sizeof(int64_t), &d->points.pair_ptr},
        {s->place_cell, n_place * sizeof(int32_t), &d->points.place_cell},
        {rule->patch, (size_t)rule->n_patch * sizeof *rule->patch, &d->rule.patch},
        {rule->table, (size_t)rule->n_table * sizeof(double), &d->rule.table},
        {rule->weight, n_point * sizeof(double), &d->rule.weight},
    };
    memcpy(list, all, sizeof all);
}

size_t hx_device_space_bytes(const hx_space *space)
{
    hx_device_space d;
    array list[N_ARRAY];
    size_t bytes = 0;
    if (space->element == HX_ELEMENT_LINEAR) return 0;
    list_arrays(space, &d, list);
    for (int i = 0; i < N_ARRAY; i++)
        if (list[i].from) bytes += list[i].bytes;
    return bytes;
}

int hx_device_space_create(hx_device_space *d_space, hx_device *dev, const hx_space *space)
{
    array list[N_ARRAY];
    memset(d_space, 0, sizeof *d_space);
    if (space->element == HX_ELEMENT_LINEAR) return HX_OK;
    d_space->points = hx_incidence_of_space(space);
    if (space->spline_rule) {
        d_space->rule = *space->spline_rule;
        d_space->points.spline = &d_space->rule;
    }
    list_arrays(space, d_space, list);
    void *const none = NULL;
    for (int i = 0; i < N_ARRAY; i++) memcpy(list[i].to, &none, sizeof none);
    for (int i = 0; i < N_ARRAY; i++)
        if (list[i].from) HX_TRY(hx_device_put(dev, list[i].to, list[i].from, list[i].bytes));
    return HX_OK;
}

void hx_device_space_free(hx_device_space *d, hx_device *dev)
{
    const void *const owned[] = {
        d->d_xyz,       d->points.point,    d->points.point_ptr, d->points.point_place,
        d->points.kind, d->points.cell_ptr, d->points.pair_ptr,  d->points.place_cell,
        d->rule.patch,  d->rule.table,      d->rule.weight};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (owned[i]) dev->ops->release(dev, (void *)(uintptr_t)owned[i]);
    memset(d, 0, sizeof *d);
}
