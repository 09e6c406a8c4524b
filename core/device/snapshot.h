/* What outlives a design, as one image: every component lists its numbers once, in one function
 * that saves and loads alike,
 *
 *     hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE)        hx_snapshot_read(&image, path)
 *     hx_optimizer_snapshot(&optimizer, &image)          hx_optimizer_snapshot(&optimizer, &image)
 *     hx_snapshot_write(&image, path)                    hx_snapshot_check_all(&image)
 *
 * so that a list cannot be saved in one way and loaded in another. The image lies in host memory:
 * a thread may write it while the device goes on.
 *
 * The file: a head of 32 bytes (magic word, version, order of bytes, entries, sum of the table),
 * the table of entries (name, bytes, place, CRC-32 of their bytes), then those, each at a multiple
 * of 64. */
#ifndef HX_SNAPSHOT_H
#define HX_SNAPSHOT_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_SNAPSHOT_VERSION = 1, HX_SNAPSHOT_NAME = 48 };

typedef enum { HX_SNAPSHOT_SAVE, HX_SNAPSHOT_LOAD } hx_snapshot_mode;

typedef struct hx_snapshot_entry {
    char name[HX_SNAPSHOT_NAME]; /* "analysis.u 3" */
    size_t bytes;
    void *data;  /* (owned) */
    int is_used; /* saved since hx_snapshot_begin, or loaded */
} hx_snapshot_entry;

typedef struct hx_snapshot {
    hx_snapshot_mode mode;
    size_t n, capacity;
    hx_snapshot_entry *entry; /* (owned) */
    char *path;               /* it was read from, for messages; NULL: none (owned) */
} hx_snapshot;

/* Begins anew; memory of the last time is kept for entries of the same name and size. */
void hx_snapshot_begin(hx_snapshot *image, hx_snapshot_mode mode);

/* One part, of the host or the device: copied into the image, or from it. No name may be longer
 * than HX_SNAPSHOT_NAME - 1 or come twice. HX_EINPUT: the image to load from has no such part, or
 * of another size. A device's part waits. */
int hx_snapshot_host(hx_snapshot *image, const char *name, void *p, size_t bytes);
int hx_snapshot_device(hx_snapshot *image, const char *name, hx_device *dev, void *d_p,
                       size_t bytes);

/* A part of the host whose size only the image knows: text, lists. Saving copies *bytes from *p;
 * loading lets *p point into the image (borrowed), of *bytes. */
int hx_snapshot_borrow(hx_snapshot *image, const char *name, const void **p, size_t *bytes);

/* 1 if the image has a part of that name. */
int hx_snapshot_has(const hx_snapshot *image, const char *name);

/* After loading. HX_EINPUT: a part that nobody has asked for. */
int hx_snapshot_check_all(const hx_snapshot *image);

/* Bytes of the file. */
size_t hx_snapshot_bytes(const hx_snapshot *image);

/* Under a temporary name, synced to the disk and renamed, with the folder: after it the file is
 * there whatever happens. HX_EIO. */
int hx_snapshot_write(const hx_snapshot *image, const char *path);

/* Reads and checks all sums; mode becomes HX_SNAPSHOT_LOAD. HX_EIO: cannot be read; HX_EINPUT: no
 * such file, of a later version, cut short or damaged, with the part. */
int hx_snapshot_read(hx_snapshot *image, const char *path);

/* Accepts a zeroed struct. */
void hx_snapshot_free(hx_snapshot *image);

#ifdef __cplusplus
}
#endif

#endif
