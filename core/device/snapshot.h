/* A checkpoint: all state that persists from one design to the next, as one image. Every component
 * lists its arrays once, in a single function that both saves and loads:
 *
 *     hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE)        hx_snapshot_read(&image, path)
 *     hx_optimizer_snapshot(&optimizer, &image)          hx_optimizer_snapshot(&optimizer, &image)
 *     hx_snapshot_write(&image, path)                    hx_snapshot_check_all(&image)
 *
 * Saving and loading therefore cannot disagree. The image is in host memory, so a thread may write
 * it to disk while the device continues.
 *
 * File format: a head of 32 bytes (magic word, version, byte order, number of entries, checksum of
 * the table), the table of entries (name, bytes, position, CRC-32 of the data), then the data of
 * the entries, each at a multiple of 64 bytes. */
#ifndef HX_SNAPSHOT_H
#define HX_SNAPSHOT_H

#include "../base/reduce.h"
#include "device.h"

HX_C_BEGIN

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
    char *path;               /* file that it was read from, for messages; NULL: none (owned) */
    /* Several ranks, which call the functions below together: the first one has the entries, and
     * all of them load its values. NULL: one rank (borrowed) */
    const hx_reduce *reduce;
} hx_snapshot;

/* Starts a new image. Memory of the previous one is kept for entries of the same name and size. */
void hx_snapshot_begin(hx_snapshot *image, hx_snapshot_mode mode);

/* One entry, in host or device memory, copied into the image or from it. A name has at most
 * HX_SNAPSHOT_NAME - 1 characters and occurs only once. HX_EINPUT: the image to load from has no
 * such entry, or one of another size. An entry in device memory waits for the queue, and
 * needs one rank. */
int hx_snapshot_host(hx_snapshot *image, const char *name, void *p, size_t bytes);
int hx_snapshot_device(hx_snapshot *image, const char *name, hx_device *dev, void *d_p,
                       size_t bytes);

/* Like hx_snapshot_host, for an entry that images of earlier versions lack; *p is kept then. */
int hx_snapshot_newer(hx_snapshot *image, const char *name, void *p, size_t bytes);

/* Like hx_snapshot_host, for data of the first rank; the others do nothing. */
int hx_snapshot_first(hx_snapshot *image, const char *name, void *p, size_t bytes);

/* A host entry whose size is stored only in the image, such as text and lists. Saving copies *bytes
 * from *p; loading sets *p to the data in the image (borrowed) and *bytes to its size. */
int hx_snapshot_borrow(hx_snapshot *image, const char *name, const void **p, size_t *bytes);

/* Returns 1 if the image has an entry of that name. Other ranks than the first have none, so what all
 * of them do must not depend on it (hx_snapshot_newer). */
int hx_snapshot_has(const hx_snapshot *image, const char *name);

/* To be called after loading. HX_EINPUT: the image has an entry that no component has loaded. */
int hx_snapshot_check_all(const hx_snapshot *image);

/* Size of the file in bytes. */
size_t hx_snapshot_bytes(const hx_snapshot *image);

/* Writes the file under a temporary name, syncs it to disk, renames it and syncs the folder, so
 * that after a return the file survives a crash. HX_EIO. */
int hx_snapshot_write(const hx_snapshot *image, const char *path);

/* Reads the file and verifies all checksums; sets the mode to HX_SNAPSHOT_LOAD. HX_EIO: the file
 * cannot be read. HX_EINPUT: it does not exist, is of a later version, or is truncated or damaged;
 * the message names the entry. */
int hx_snapshot_read(hx_snapshot *image, const char *path);

/* Replaces the name of an entry by its current name if an earlier version named it differently
 * (old_names.h). Names that are read from a file pass through this function. */
void hx_snapshot_name_now(char name[HX_SNAPSHOT_NAME]);

/* Accepts a zeroed struct. */
void hx_snapshot_free(hx_snapshot *image);

HX_C_END

#endif
