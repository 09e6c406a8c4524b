#include "device_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/mesh_internal.h"

const hx_device_mesh *hx_device_mesh_find(const hx_device *dev, const hx_mesh *mesh)
{
    const hx_device_mesh *m = dev->mesh;
    while (m && m->mesh != mesh) m = m->next;
    return m;
}

static void release_mesh(hx_device *dev, hx_device_mesh *m)
{
    dev->ops->release(dev, m->d_xyz);
    dev->ops->release(dev, m->d_conn);
    dev->ops->release(dev, m->d_node_elem_ptr);
    dev->ops->release(dev, m->d_node_elem);
    free(m);
}

static int upload(hx_device_mesh *m, hx_device *dev, const hx_mesh *mesh)
{
    const size_t n_node = (size_t)mesh->n_node, n_elem = (size_t)mesh->n_elem;
    m->n_node = mesh->n_node;
    m->n_elem = mesh->n_elem;
    m->mesh = mesh;
    m->has_collapsed = hx_mesh_is_collapsed(mesh);
    HX_TRY(hx_device_put(dev, &m->d_xyz, mesh->xyz, n_node * 3 * sizeof(double)));
    return hx_device_put(dev, &m->d_conn, mesh->conn, n_elem * 8 * sizeof(int32_t));
}

static hx_device_mesh **place_of_mesh(hx_device *dev, const hx_device_mesh *m)
{
    hx_device_mesh **place = &dev->mesh;
    while (*place && *place != m) place = &(*place)->next;
    return place;
}

int hx_device_mesh_take(const hx_device_mesh **d_mesh, hx_device *dev, const hx_mesh *mesh)
{
    const hx_device_mesh *found = hx_device_mesh_find(dev, mesh);
    hx_device_mesh *m = *place_of_mesh(dev, found);
    *d_mesh = NULL;
    if (!found) {
        HX_TRY(hx_alloc(&m, 1, sizeof *m, "mesh on the device"));
        const int rc = upload(m, dev, mesh);
        if (rc < 0) {
            release_mesh(dev, m);
            return rc;
        }
        m->next = dev->mesh;
        dev->mesh = m;
    }
    m->n_holder++;
    *d_mesh = m;
    return HX_OK;
}

static int upload_lists(hx_device_mesh *m, hx_device *dev, const int64_t *ptr, const uint32_t *list)
{
    if (!m->d_node_elem_ptr)
        HX_TRY(hx_device_put(dev, &m->d_node_elem_ptr, ptr,
                             ((size_t)m->n_node + 1) * sizeof(int64_t)));
    if (m->d_node_elem) return HX_OK;
    return hx_device_put(dev, &m->d_node_elem, list, (size_t)m->n_elem * 8 * sizeof(uint32_t));
}

int hx_device_mesh_need_lists(hx_device *dev, const hx_device_mesh *d_mesh)
{
    hx_device_mesh *m = *place_of_mesh(dev, d_mesh);
    const hx_mesh *mesh = m->mesh;
    if (m->d_node_elem) return HX_OK;
    if (mesh->node_elem_ptr) return upload_lists(m, dev, mesh->node_elem_ptr, mesh->node_elem);

    int64_t *ptr = NULL;
    uint32_t *list = NULL;
    int rc = hx_mesh_build_incidence(mesh, &ptr, &list);
    if (rc == HX_OK) rc = upload_lists(m, dev, ptr, list);
    free(ptr);
    free(list);
    return rc;
}

void hx_device_mesh_account(hx_account *account, const hx_mesh *mesh, int has_lists)
{
    hx_account whole = {0};
    hx_mesh_account(&whole, mesh->n_node, mesh->n_elem);
    for (int i = 0; i < whole.n; i++)
        if (has_lists || strncmp(whole.item[i].name, "node_", 5) != 0)
            hx_account_add(account, whole.item[i].name, whole.item[i].bytes);
}

size_t hx_device_mesh_list_bytes(const hx_mesh *mesh)
{
    return ((size_t)mesh->n_node + 1) * sizeof(int64_t) +
           (size_t)mesh->n_elem * 8 * sizeof(uint32_t);
}

void hx_device_mesh_drop(hx_device *dev, const hx_device_mesh *d_mesh)
{
    if (!d_mesh) return;
    hx_device_mesh **place = place_of_mesh(dev, d_mesh), *m = *place;
    /* NOLINTNEXTLINE(clang-analyzer-core*): the list has every mesh that is held */
    if (--m->n_holder > 0) return;
    *place = m->next;
    release_mesh(dev, m);
}
