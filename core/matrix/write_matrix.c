#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/input_file.h"
#include "../base/links.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "write_internal.h"

static const hx_matrix_file_kind *const kinds[] = {&hx_matrix_mtx, &hx_matrix_petsc,
                                                   &hx_matrix_npz};
enum { N_KIND = sizeof kinds / sizeof kinds[0] };

static int has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    return n > n_ending && strcasecmp(path + n - n_ending, ending) == 0;
}

int hx_matrix_kind_find(const char *path, const hx_matrix_file_kind **kind)
{
    for (int i = 0; i < N_KIND; i++) {
        *kind = kinds[i];
        if (has_ending(path, kinds[i]->format.ending)) return HX_OK;
    }
    if (*path && path[strlen(path) - 1] == '/')
        return HX_RAISE(HX_EINPUT, "'%s' is a folder; give the name of a file", path);
    return HX_RAISE(HX_EINPUT, "'%s': the name must end in .mtx, .petsc or .npz", path);
}

int hx_matrix_format_find(const char *path, const hx_matrix_format **format)
{
    const hx_matrix_file_kind *kind = NULL;
    HX_TRY(hx_matrix_kind_find(path, &kind));
    *format = &kind->format;
    return HX_OK;
}

/* An existing file of that name may be replaced only if it is empty or has the format. */
static int check_existing(const char *path, const hx_matrix_file_kind *kind)
{
    unsigned char begin[64];
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    if (!f && errno == ENOENT) return HX_OK;
    if (!f) return HX_RAISE(HX_EINPUT, "cannot write '%s': %s", path, why);
    const size_t n = fread(begin, 1, sizeof begin, f);
    const int failed = ferror(f);
    fclose(f);
    if (!failed && (n == 0 || kind->is_one(begin, n))) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "'%s' exists and is not a %s file, so it is not replaced; remove it, or choose "
                    "another name",
                    path, kind->format.name);
}

static int check_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *const slash = strrchr(path, '/');
    const int n = slash ? (int)(slash - path) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", n ? n : 1, n ? path : ".");
    if (access(folder, W_OK | X_OK) == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "cannot write '%s': %s: %s", path, folder, strerror(errno));
}

int hx_write_check(const char *path)
{
    const hx_matrix_file_kind *kind = NULL;
    struct stat info;
    HX_TRY(hx_matrix_kind_find(path, &kind));
    HX_TRY(hx_link_check_way(path));
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return HX_RAISE(HX_EINPUT, "cannot write '%s': it is not a regular file", path);
    HX_TRY(check_existing(path, kind));
    return check_folder(path);
}

static int check_counts(const hx_matrix_shape *shape, const hx_matrix_format *format,
                        const char *path)
{
    if (shape->n_row > INT32_MAX)
        return HX_RAISE(HX_EINPUT,
                        "%s: the matrix has %lld %s; files count them in 32 bits, up to %lld", path,
                        (long long)shape->n_row, hx_noun(shape->n_row, "unknown", "unknowns"),
                        (long long)INT32_MAX);
    if (shape->half != HX_HALF_BOTH && shape->half != format->half)
        return HX_RAISE(HX_EINTERNAL, "%s: %s files contain the other half", path, format->name);
    if (shape->n_entry <= format->most_entries) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: the matrix has %lld %s, but %s files count them in 32 bits, up to %lld; "
                    "write .npz or .mtx%s",
                    path, (long long)shape->n_entry, hx_noun(shape->n_entry, "entry", "entries"),
                    format->name, (long long)format->most_entries,
                    shape->half == HX_HALF_BOTH ? ", or one half (--lower)" : "");
}

int hx_matrix_bytes_of(const char *path, const hx_matrix_shape *shape, int64_t *bytes)
{
    const hx_matrix_file_kind *kind = NULL;
    HX_TRY(hx_matrix_kind_find(path, &kind));
    HX_TRY(check_counts(shape, &kind->format, path));
    *bytes = kind->bytes(shape);
    return HX_OK;
}

static int open_writer(hx_matrix_writer *w, hx_write_place *place, const hx_matrix_shape *shape)
{
    w->kind = place->kind;
    w->out = &place->out;
    w->shape = *shape;
    HX_TRY(check_counts(shape, &w->kind->format, w->out->file.path));
    HX_TRY(hx_alloc(&w->state, 1, w->kind->n_state, "writer"));
    return w->kind->begin(w);
}

int hx_matrix_writer_open(hx_matrix_writer **writer, hx_write_set *set, int k,
                          const hx_matrix_shape *shape)
{
    *writer = NULL;
    HX_TRY(hx_alloc(writer, 1, sizeof **writer, "writer"));
    return open_writer(*writer, &set->place[k], shape);
}

int hx_matrix_writer_rows(hx_matrix_writer *w, const hx_csr_rows *rows)
{
    const int64_t n_entry = rows->ptr[rows->n];
    if (rows->first != w->n_row || rows->n > w->shape.n_row - w->n_row ||
        n_entry > w->shape.n_entry - w->n_entry)
        return HX_RAISE(HX_EINTERNAL, "%s: rows are out of order, or more than announced",
                        w->out->file.path);
    HX_TRY(w->kind->rows(w, rows));
    w->n_row += rows->n;
    w->n_entry += n_entry;
    return HX_OK;
}

int hx_matrix_writer_close(hx_matrix_writer *w)
{
    if (w->n_row != w->shape.n_row || w->n_entry != w->shape.n_entry)
        return HX_RAISE(HX_EINTERNAL, "%s: only %lld of %lld rows and %lld of %lld %s were written",
                        w->out->file.path, (long long)w->n_row, (long long)w->shape.n_row,
                        (long long)w->n_entry, (long long)w->shape.n_entry,
                        hx_noun(w->shape.n_entry, "entry", "entries"));
    if (w->kind->end) HX_TRY(w->kind->end(w));
    return hx_block_finish(w->out);
}

void hx_matrix_writer_free(hx_matrix_writer *w)
{
    if (!w) return;
    free(w->state);
    free(w);
}

int hx_columns_bytes_of(const char *path, const char *name, int64_t n, int n_column,
                        const double *const *column, int64_t *bytes)
{
    const hx_columns columns = {name, n, n_column, column};
    const hx_matrix_file_kind *kind = NULL;
    HX_TRY(hx_matrix_kind_find(path, &kind));
    *bytes = kind->columns_bytes(&columns);
    return HX_OK;
}

int hx_held_bytes_of(const char *path, int64_t n_row, int64_t n, const int32_t *index,
                     const double *value, int64_t *bytes)
{
    const hx_held_list held = {n_row, n, index, value};
    const hx_matrix_file_kind *kind = NULL;
    HX_TRY(hx_matrix_kind_find(path, &kind));
    *bytes = kind->held_bytes(&held);
    return HX_OK;
}

int hx_numbers_bytes_of(const char *path, const char *name, int64_t n, const int32_t *number,
                        int64_t *bytes)
{
    const hx_number_list list = {name, n, number};
    const hx_matrix_file_kind *kind = NULL;
    HX_TRY(hx_matrix_kind_find(path, &kind));
    *bytes = kind->numbers_bytes(&list);
    return HX_OK;
}

int hx_write_columns(hx_write_set *set, int k, const char *name, int64_t n, int n_column,
                     const double *const *column)
{
    const hx_columns columns = {name, n, n_column, column};
    hx_write_place *const place = &set->place[k];
    HX_TRY(place->kind->columns(&place->out, &columns));
    return hx_block_finish(&place->out);
}

int hx_write_held(hx_write_set *set, int k, int64_t n_row, int64_t n, const int32_t *index,
                  const double *value)
{
    const hx_held_list held = {n_row, n, index, value};
    hx_write_place *const place = &set->place[k];
    HX_TRY(place->kind->held(&place->out, &held));
    return hx_block_finish(&place->out);
}

int hx_write_numbers(hx_write_set *set, int k, const char *name, int64_t n, const int32_t *number)
{
    const hx_number_list list = {name, n, number};
    hx_write_place *const place = &set->place[k];
    HX_TRY(place->kind->numbers(&place->out, &list));
    return hx_block_finish(&place->out);
}
