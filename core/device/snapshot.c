#include "snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/old_names.h"

void hx_snapshot_begin(hx_snapshot *image, hx_snapshot_mode mode)
{
    image->mode = mode;
    for (size_t i = 0; i < image->n; i++) image->entry[i].is_used = 0;
}

static hx_snapshot_entry *find_snapshot_entry(const hx_snapshot *image, const char *name)
{
    for (size_t i = 0; i < image->n; i++)
        if (strcmp(image->entry[i].name, name) == 0) return &image->entry[i];
    return NULL;
}

int hx_snapshot_has(const hx_snapshot *image, const char *name)
{
    const hx_snapshot_entry *const e = find_snapshot_entry(image, name);
    return e && (image->mode == HX_SNAPSHOT_LOAD || e->is_used);
}

void hx_snapshot_name_now(char name[HX_SNAPSHOT_NAME])
{
    for (const hx_old_name *row = hx_old_names; row->old; row++) {
        const size_t n = strlen(row->old);
        char rest[HX_SNAPSHOT_NAME];
        if (row->kind != HX_OLD_CHECKPOINT || strncmp(name, row->old, n) != 0) continue;
        snprintf(rest, sizeof rest, "%s", name + n);
        snprintf(name, HX_SNAPSHOT_NAME, "%s%s", row->now, rest);
        return;
    }
}

/* Creates or reuses an entry of `bytes` with this name. */
static int put_entry(hx_snapshot *image, const char *name, size_t bytes, hx_snapshot_entry **entry)
{
    hx_snapshot_entry *e = find_snapshot_entry(image, name);
    if (strlen(name) >= HX_SNAPSHOT_NAME || (e && e->is_used))
        return HX_RAISE(HX_EINTERNAL, "checkpoint: the name '%s' is too long or occurs twice",
                        name);
    if (!e) {
        HX_TRY(hx_grow(&image->entry, image->n, &image->capacity, sizeof *e, "checkpoint"));
        e = &image->entry[image->n];
        memset(e, 0, sizeof *e);
        snprintf(e->name, sizeof e->name, "%s", name);
        image->n++;
    }
    if (!e->data || e->bytes != bytes) {
        free(e->data);
        e->data = NULL;
        HX_TRY(hx_alloc_raw(&e->data, bytes, 1, "checkpoint"));
    }
    e->bytes = bytes;
    e->is_used = 1;
    *entry = e;
    return HX_OK;
}

static int get(hx_snapshot *image, const char *name, hx_snapshot_entry **entry)
{
    hx_snapshot_entry *const e = find_snapshot_entry(image, name);
    if (!e)
        return HX_RAISE(HX_EINPUT,
                        "%s: the checkpoint has no '%s', which this run needs; it was written with "
                        "other settings",
                        image->path ? image->path : "checkpoint", name);
    e->is_used = 1;
    *entry = e;
    return HX_OK;
}

static int get_sized(hx_snapshot *image, const char *name, size_t bytes, hx_snapshot_entry **entry)
{
    HX_TRY(get(image, name, entry));
    if ((*entry)->bytes == bytes) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: '%s' has %zu %s in the checkpoint, but this run needs %zu; it was written "
                    "with another mesh or other settings",
                    image->path ? image->path : "checkpoint", name, (*entry)->bytes,
                    hx_noun((*entry)->bytes, "byte", "bytes"), bytes);
}

int hx_snapshot_first(hx_snapshot *image, const char *name, void *p, size_t bytes)
{
    hx_snapshot_entry *e = NULL;
    if (image->reduce && image->reduce->rank > 0) return HX_OK;
    if (image->mode == HX_SNAPSHOT_SAVE) {
        HX_TRY(put_entry(image, name, bytes, &e));
        memcpy(e->data, p, bytes);
        return HX_OK;
    }
    HX_TRY(get_sized(image, name, bytes, &e));
    memcpy(p, e->data, bytes);
    return HX_OK;
}

int hx_snapshot_host(hx_snapshot *image, const char *name, void *p, size_t bytes)
{
    HX_TRY(hx_snapshot_first(image, name, p, bytes));
    return image->mode == HX_SNAPSHOT_LOAD ? hx_reduce_first(image->reduce, p, bytes) : HX_OK;
}

int hx_snapshot_newer(hx_snapshot *image, const char *name, void *p, size_t bytes)
{
    int is_there = image->mode == HX_SNAPSHOT_SAVE || hx_snapshot_has(image, name);
    HX_TRY(hx_reduce_first(image->reduce, &is_there, sizeof is_there));
    return is_there ? hx_snapshot_host(image, name, p, bytes) : HX_OK;
}

int hx_snapshot_device(hx_snapshot *image, const char *name, hx_device *dev, void *d_p,
                       size_t bytes)
{
    hx_snapshot_entry *e = NULL;
    if (image->reduce)
        return HX_RAISE(HX_EINTERNAL, "checkpoint: '%s' is on the devices of several ranks", name);
    if (image->mode == HX_SNAPSHOT_SAVE) {
        HX_TRY(put_entry(image, name, bytes, &e));
        return dev->ops->download(dev, e->data, d_p, bytes);
    }
    HX_TRY(get_sized(image, name, bytes, &e));
    return dev->ops->upload(dev, d_p, e->data, bytes);
}

int hx_snapshot_borrow(hx_snapshot *image, const char *name, const void **p, size_t *bytes)
{
    hx_snapshot_entry *e = NULL;
    if (image->mode == HX_SNAPSHOT_SAVE) {
        HX_TRY(put_entry(image, name, *bytes, &e));
        if (*bytes > 0) memcpy(e->data, *p, *bytes);
        return HX_OK;
    }
    HX_TRY(get(image, name, &e));
    *p = e->data;
    *bytes = e->bytes;
    return HX_OK;
}

int hx_snapshot_check_all(const hx_snapshot *image)
{
    for (size_t i = 0; i < image->n; i++)
        if (!image->entry[i].is_used)
            return HX_RAISE(HX_EINPUT,
                            "%s: the checkpoint has '%s', which this run does not use; it was "
                            "written with other settings",
                            image->path ? image->path : "checkpoint", image->entry[i].name);
    return HX_OK;
}

void hx_snapshot_free(hx_snapshot *image)
{
    for (size_t i = 0; i < image->n; i++) free(image->entry[i].data);
    free(image->entry);
    free(image->path);
    memset(image, 0, sizeof *image);
}
