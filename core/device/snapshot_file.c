/* File format of a checkpoint (snapshot.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/atomic_file.h"
#include "../base/crc32.h"
#include "../base/input_file.h"
#include "../base/memory.h"
#include "snapshot.h"

enum { ALIGN = 64, MOST_ENTRIES = 100000 };
#define ORDER 0x01020304u

/* Layout in the file. */
typedef struct head {
    char magic[8]; /* detects transfers in text mode and truncated files */
    uint32_t version, order;
    uint64_t n_entry;
    uint32_t table_sum, sum; /* of the table; of the preceding bytes of the head */
} head;

typedef struct record {
    char name[HX_SNAPSHOT_NAME];
    uint64_t bytes, at;
    uint32_t sum, zero;
} record;

static const char magic[8] = {'h', 'x', 's', 't', '\r', '\n', 26, '\n'};

_Static_assert(sizeof(head) == 32 && sizeof(record) == HX_SNAPSHOT_NAME + 24,
               "the structs have no padding");

static uint64_t aligned(uint64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* --- writing --- */

static size_t count_used(const hx_snapshot *image)
{
    size_t n = 0;
    for (size_t i = 0; i < image->n; i++) n += (size_t)(image->entry[i].is_used != 0);
    return n;
}

size_t hx_snapshot_bytes(const hx_snapshot *image)
{
    uint64_t at = aligned(sizeof(head) + count_used(image) * sizeof(record));
    for (size_t i = 0; i < image->n; i++)
        if (image->entry[i].is_used) at = aligned(at + image->entry[i].bytes);
    return (size_t)at;
}

static void make_table(const hx_snapshot *image, head *h, record *table)
{
    size_t k = 0;
    memset(h, 0, sizeof *h);
    memcpy(h->magic, magic, sizeof magic);
    h->version = HX_SNAPSHOT_VERSION;
    h->order = ORDER;
    h->n_entry = count_used(image);
    uint64_t at = aligned(sizeof *h + h->n_entry * sizeof *table);
    for (size_t i = 0; i < image->n; i++) {
        const hx_snapshot_entry *const e = &image->entry[i];
        if (!e->is_used) continue;
        memset(&table[k], 0, sizeof table[k]);
        memcpy(table[k].name, e->name, strlen(e->name));
        table[k].bytes = e->bytes;
        table[k].at = at;
        table[k].sum = hx_crc32(0, e->data, e->bytes);
        at = aligned(at + e->bytes);
        k++;
    }
    h->table_sum = hx_crc32(0, table, k * sizeof *table);
    h->sum = hx_crc32(0, h, offsetof(head, sum));
}

static void pad(FILE *f, uint64_t n)
{
    static const char zeros[ALIGN];
    fwrite(zeros, 1, (size_t)(aligned(n) - n), f);
}

int hx_snapshot_write(const hx_snapshot *image, const char *path)
{
    hx_atomic_file file;
    head h;
    record *table = NULL;
    int rc;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_alloc(&table, image->n + 1, sizeof *table, "checkpoint"));
    make_table(image, &h, table);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    fwrite(&h, sizeof h, 1, file.stream);
    fwrite(table, sizeof *table, (size_t)h.n_entry, file.stream);
    pad(file.stream, sizeof h + h.n_entry * sizeof *table);
    for (size_t i = 0; i < image->n && !ferror(file.stream); i++) {
        if (!image->entry[i].is_used) continue;
        fwrite(image->entry[i].data, 1, image->entry[i].bytes, file.stream);
        pad(file.stream, image->entry[i].bytes);
    }
    rc = hx_atomic_file_commit_synced(&file);
fail:
    hx_atomic_file_free(&file);
    free(table);
    return rc;
}

/* --- reading --- */

static int refuse_snapshot(const char *path, const char *what)
{
    return HX_RAISE(HX_EINPUT, "%s: %s", path, what);
}

static int check_head(const char *path, const head *h, size_t n_read)
{
    if (n_read < sizeof h->magic || memcmp(h->magic, magic, sizeof magic) != 0)
        return refuse_snapshot(path, "not a checkpoint of hextop");
    if (n_read < sizeof *h) return refuse_snapshot(path, "the checkpoint is truncated in its head");
    if (h->order != ORDER)
        return refuse_snapshot(path,
                               "the checkpoint was written on a machine with another byte order");
    if (h->version > HX_SNAPSHOT_VERSION)
        return HX_RAISE(HX_EINPUT,
                        "%s: the checkpoint was written by a later version of hextop (format %u, "
                        "this version reads %d)",
                        path, (unsigned)h->version, HX_SNAPSHOT_VERSION);
    if (h->sum != hx_crc32(0, h, offsetof(head, sum)) || h->n_entry > MOST_ENTRIES)
        return refuse_snapshot(path, "the head of the checkpoint is damaged");
    return HX_OK;
}

/* Checks that names are terminated and that all entries lie within the file. */
static int check_table(const char *path, const head *h, const record *table, uint64_t size)
{
    if (h->table_sum != hx_crc32(0, table, (size_t)h->n_entry * sizeof *table))
        return refuse_snapshot(path, "the table of the checkpoint is damaged");
    for (uint64_t i = 0; i < h->n_entry; i++) {
        const record *const r = &table[i];
        if (!memchr(r->name, '\0', sizeof r->name) || r->at > size || r->bytes > size - r->at)
            return HX_RAISE(HX_EINPUT, "%s: the checkpoint is truncated: '%.*s' is missing", path,
                            (int)sizeof r->name - 1, r->name);
    }
    return HX_OK;
}

static int read_entry(hx_snapshot *image, const char *path, const record *r, FILE *f)
{
    hx_snapshot_entry *const e = &image->entry[image->n];
    memset(e, 0, sizeof *e);
    memcpy(e->name, r->name, sizeof e->name);
    hx_snapshot_name_now(e->name);
    e->bytes = (size_t)r->bytes;
    image->n++;
    HX_TRY(hx_alloc_raw(&e->data, e->bytes, 1, "checkpoint"));
    if (fseeko(f, (off_t)r->at, SEEK_SET) != 0 || fread(e->data, 1, e->bytes, f) != e->bytes)
        return HX_RAISE(HX_EIO, "%s: cannot read '%s': %s", path, e->name, strerror(errno));
    if (hx_crc32(0, e->data, e->bytes) == r->sum) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: the checkpoint is damaged: the checksum of '%s' is wrong", path,
                    e->name);
}

static int read_entries(hx_snapshot *image, const char *path, const head *h, const record *table,
                        FILE *f)
{
    HX_TRY(hx_alloc(&image->entry, (size_t)h->n_entry + 1, sizeof *image->entry, "checkpoint"));
    image->capacity = (size_t)h->n_entry + 1;
    for (uint64_t i = 0; i < h->n_entry; i++) HX_TRY(read_entry(image, path, &table[i], f));
    return HX_OK;
}

static int read_snapshot(hx_snapshot *image, const char *path, FILE *f, uint64_t size)
{
    head h;
    record *table;
    memset(&h, 0, sizeof h);
    HX_TRY(check_head(path, &h, fread(&h, 1, sizeof h, f)));
    HX_TRY(hx_alloc(&table, (size_t)h.n_entry + 1, sizeof *table, "checkpoint"));
    int rc = fread(table, sizeof *table, (size_t)h.n_entry, f) == h.n_entry
                 ? check_table(path, &h, table, size)
                 : refuse_snapshot(path, "the checkpoint is truncated in its table");
    if (rc == HX_OK) rc = read_entries(image, path, &h, table, f);
    free(table);
    return rc;
}

int hx_snapshot_read(hx_snapshot *image, const char *path)
{
    struct stat info;
    const char *why;
    int rc;
    hx_snapshot_free(image);
    image->mode = HX_SNAPSHOT_LOAD;
    HX_TRY(hx_strdup(&image->path, path));
    FILE *const f = hx_input_open(path, &why);
    if (!f || fstat(fileno(f), &info) != 0) {
        rc = HX_RAISE(HX_EINPUT, "%s: cannot read the checkpoint: %s", path,
                      f ? strerror(errno) : why);
    } else {
        rc = read_snapshot(image, path, f, (uint64_t)info.st_size);
    }
    if (f) fclose(f);
    if (rc < 0) hx_snapshot_free(image);
    return rc;
}
