/* A set of files that are opened, checked for space and renamed together. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../base/memory.h"
#include "write_internal.h"

static int is_there(const hx_write_place *place)
{
    return place->out.file.stream || place->out.file.is_finished;
}

static int open_place(hx_write_place *place, const hx_write_entry *entry)
{
    if (!entry->path) return HX_OK;
    place->bytes = entry->bytes;
    HX_TRY(hx_matrix_kind_find(entry->path, &place->kind));
    HX_TRY(hx_write_check(entry->path));
    HX_TRY(hx_atomic_file_sweep_one(entry->path));
    return hx_block_open(&place->out, entry->path);
}

/* 1 if the file is on that disk. */
static int is_on(const hx_write_place *place, dev_t disk)
{
    struct stat info;
    return is_there(place) && fstat(fileno(place->out.file.stream), &info) == 0 &&
           info.st_dev == disk;
}

static int refuse_write_set(const hx_write_place *first, int n_more, double bytes, double n_free)
{
    char more[32] = "", wanted[32], left[32];
    if (n_more > 0) snprintf(more, sizeof more, " and %d more", n_more);
    return HX_RAISE(HX_EIO, "%s%s: %s %s, but the disk has only %s left; nothing was written",
                    first->out.file.path, more, n_more > 0 ? "they need" : "it needs",
                    hx_format_bytes(bytes, wanted, sizeof wanted),
                    hx_format_bytes(n_free, left, sizeof left));
}

/* Checks the disk of file k for all files on it, unless an earlier file is on the same disk. The
 * files are open and still empty. */
static int check_disk(const hx_write_set *set, int k)
{
    const hx_write_place *const place = set->place;
    struct stat info;
    struct statvfs disk;
    double bytes = 0.0;
    int n_more = -1;
    if (!is_there(&place[k]) || fstat(fileno(place[k].out.file.stream), &info) != 0) return HX_OK;
    /* the free space is unknown */
    if (fstatvfs(fileno(place[k].out.file.stream), &disk) != 0) return HX_OK;
    const double block = (double)(disk.f_frsize > 0 ? disk.f_frsize : 1);
    for (int i = 0; i < set->n; i++) {
        if (!is_on(&place[i], info.st_dev)) continue;
        if (i < k) return HX_OK;
        bytes += ceil((double)place[i].bytes / block) * block;
        n_more++;
    }
    const double n_free = (double)disk.f_bavail * block;
    return bytes <= n_free ? HX_OK : refuse_write_set(&place[k], n_more, bytes, n_free);
}

int hx_write_set_open(hx_write_set **set, int n, const hx_write_entry *entry,
                      int (*is_cancelled)(void *context), void *context)
{
    *set = NULL;
    HX_TRY(hx_alloc(set, 1, sizeof **set, "files to write"));
    HX_TRY(hx_alloc(&(*set)->place, (size_t)n, sizeof *(*set)->place, "files to write"));
    (*set)->n = n;
    for (int i = 0; i < n; i++) {
        hx_write_place *const place = &(*set)->place[i];
        HX_TRY(open_place(place, &entry[i]));
        place->out.is_cancelled = is_cancelled;
        place->out.context = context;
    }
    for (int i = 0; i < n; i++) HX_TRY(check_disk(*set, i));
    return HX_OK;
}

int hx_write_set_commit(hx_write_set *set)
{
    for (int i = set->n - 1; i >= 0; i--)
        if (is_there(&set->place[i])) HX_TRY(hx_block_commit(&set->place[i].out));
    return HX_OK;
}

void hx_write_set_free(hx_write_set *set)
{
    if (!set) return;
    for (int i = 0; i < set->n; i++) hx_block_free(&set->place[i].out);
    free(set->place);
    free(set);
}
