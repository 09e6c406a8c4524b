/* The kept mesh: a comment that identifies it, then a mesh file of Gmsh, written atomically. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/atomic_file.h"
#include "../base/input_file.h"
#include "../base/memory.h"
#include "cad.h"

/* FNV-1a: detects changes, not deliberate collisions. */
static const uint64_t hash_begin = 14695981039346656037U, hash_factor = 1099511628211U;

/* Must be changed when the meshing procedure changes; this changes all keys. */
static const char edition[] = "hextop cad 2";

static const char mirrored_word[] = "mirrored";

static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *const c = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ c[i]) * hash_factor;
    return hash;
}

/* Adds the rest of the stream. */
static uint64_t add_stream(uint64_t hash, FILE *f)
{
    char block[1 << 15];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) hash = add_bytes(hash, block, n);
    return hash;
}

int hx_cad_key(const char *path, double size, const hx_model_options *mirrored, uint64_t *key)
{
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    if (!f) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    uint64_t hash = add_bytes(hash_begin, edition, sizeof edition);
    hash = add_bytes(hash, &size, sizeof size);
    if (mirrored) {
        hash = add_bytes(hash, mirrored_word, sizeof mirrored_word);
        hash =
            add_bytes(hash, mirrored->plane, (size_t)mirrored->n_plane * sizeof *mirrored->plane);
    }
    hash = add_stream(hash, f);
    const int failed = ferror(f);
    fclose(f);
    if (failed) return HX_RAISE(HX_EINPUT, "%s: cannot read it", path);
    *key = hash ? hash : 1;
    return HX_OK;
}

static const char head_form[] =
    "$Comments\n"
    "hextop: the mesh of a CAD model; not made again as long as these agree%s%s\n"
    "key %016" PRIx64 " %016" PRIx64 " body %016" PRIx64 "\n"
    "gmsh %s\n"
    "size %.17g solids %" PRId64 " faces %" PRId64 " elements %" PRId64
    " worst %.17g median %.17g volume %.17g\n";

static const char before_model[] = "; of ";

/* Reads the text of the line after before_model. */
static void read_model(const char *line, char model[128])
{
    const char *const of = strstr(line, before_model);
    if (!of) return;
    snprintf(model, 128, "%.127s", of + strlen(before_model));
    model[strcspn(model, "\n")] = '\0';
}

/* "mirrored auto 2 x y z x y z ...": whether the planes were stated, and their points and normals;
 * 0 planes: the model was tried, and its halves agree nowhere. */
static int read_mirrors(const char *line, hx_cad_record *r)
{
    char word[8];
    int n_read = 0;
    if (sscanf(line, "mirrored %7s %d%n", word, &r->facts.n_mirror, &n_read) != 2) return 0;
    if (r->facts.n_mirror < 0 || r->facts.n_mirror > HX_MOST_MIRRORS) return 0;
    r->is_tried = 1;
    r->is_stated = strcmp(word, "stated") == 0;
    line += n_read;
    for (int p = 0; p < r->facts.n_mirror; p++) {
        double *const x = r->facts.mirror[p].point, *const n = r->facts.mirror[p].normal;
        if (sscanf(line, "%lf %lf %lf %lf %lf %lf%n", &x[0], &x[1], &x[2], &n[0], &n[1], &n[2],
                   &n_read) != 6)
            return 0;
        line += n_read;
    }
    return 1;
}

static void write_mirrors(FILE *f, const hx_cad_record *r)
{
    if (!r->is_tried) return;
    fprintf(f, "mirrored %s %d", r->is_stated ? "stated" : "auto", r->facts.n_mirror);
    for (int p = 0; p < r->facts.n_mirror; p++) {
        const double *const x = r->facts.mirror[p].point, *const n = r->facts.mirror[p].normal;
        fprintf(f, " %.17g %.17g %.17g %.17g %.17g %.17g", x[0], x[1], x[2], n[0], n[1], n[2]);
    }
    fputc('\n', f);
}

static int read_head(FILE *f, hx_cad_record *r, uint64_t *body)
{
    hx_cad_facts *const facts = &r->facts;
    char line[1024];
    int n = 0;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < 6; i++) {
        if (!fgets(line, sizeof line, f)) return 0;
        if (i == 0 && strcmp(line, "$Comments\n") != 0) return 0;
        if (i == 1) read_model(line, r->model);
        if (i == 2)
            n += sscanf(line, "key %" SCNx64 " %" SCNx64 " body %" SCNx64, &r->key, &r->key_auto,
                        body);
        if (i == 3) n += sscanf(line, "gmsh %31s", r->version);
        if (i == 4)
            n += sscanf(line,
                        "size %lf solids %" SCNd64 " faces %" SCNd64 " elements %" SCNd64
                        " worst %lf median %lf volume %lf",
                        &facts->element_size, &facts->n_solid, &facts->n_face, &facts->n_elem,
                        &facts->worst, &facts->median, &facts->volume);
        if (i == 5 && read_mirrors(line, r) && !fgets(line, sizeof line, f)) return 0;
        if (i == 5 && strcmp(line, "$EndComments\n") != 0) return 0;
    }
    return n == 11;
}

/* key = 0: any. */
static int is_whole(const char *keep, uint64_t key, hx_cad_record *record)
{
    uint64_t body = 0;
    FILE *const f = hx_input_open(keep, NULL);
    if (!f) return 0;
    const int is_right = read_head(f, record, &body) &&
                         (key == 0 || record->key == key || record->key_auto == key) &&
                         add_stream(hash_begin, f) == body;
    fclose(f);
    return is_right;
}

int hx_cad_is_kept(const char *keep, uint64_t key, hx_cad_record *record)
{
    return key != 0 && is_whole(keep, key, record);
}

/* Whether the mesh is mirrored as the options state. */
static int is_mirrored_so(const hx_cad_record *record, const hx_model_options *options)
{
    const hx_cad_facts *const facts = &record->facts;
    if (options->mirrored == HX_MIRROR_TRY) return record->is_tried;
    if (options->mirrored == HX_MIRROR_OFF) return facts->n_mirror == 0;
    if (options->n_plane == 0) return facts->n_mirror > 0 && !record->is_stated;
    if (!record->is_stated || facts->n_mirror != options->n_plane) return 0;
    for (int p = 0; p < options->n_plane; p++)
        for (int d = 0; d < 3; d++) {
            const double *const x = options->plane[p].point, *const n = options->plane[p].normal;
            const double away = x[d] - facts->mirror[p].point[d];
            const double length = hypot(hypot(n[0], n[1]), n[2]);
            if (away < 0.0 || away > 0.0 ||
                !(fabs(n[d] / length - facts->mirror[p].normal[d]) < 1e-12))
                return 0;
        }
    return 1;
}

int hx_cad_is_left(const char *keep, const char *model, const hx_model_options *options,
                   hx_cad_record *record)
{
    char name[sizeof record->model];
    const double size = options->element_size;
    snprintf(name, sizeof name, "%.127s", model);
    if (!is_whole(keep, 0, record)) return 0;
    if (record->model[0] && strcmp(record->model, name) != 0) return 0;
    if (!is_mirrored_so(record, options)) return 0;
    return !(size > 0.0) ||
           !(record->facts.element_size < size || record->facts.element_size > size);
}

/* Makes the folders on the path of the file. */
static int make_folders(const char *path)
{
    char *folder = NULL;
    HX_TRY(hx_strdup(&folder, path));
    int failed = 0;
    for (char *c = folder + 1; *folder && *c && !failed; c++) {
        if (*c != '/') continue;
        *c = '\0';
        failed = mkdir(folder, 0777) != 0 && errno != EEXIST;
        *c = '/';
    }
    const int rc =
        failed ? HX_RAISE(HX_EIO, "%s: cannot make its folder: %s", path, strerror(errno)) : HX_OK;
    free(folder);
    return rc;
}

static int copy_stream(FILE *from, FILE *to)
{
    char block[1 << 15];
    for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;)
        if (fwrite(block, 1, n, to) != n) return HX_OK; /* the commit reports the error */
    return ferror(from) ? HX_RAISE(HX_EIO, "cannot read the mesh made by gmsh") : HX_OK;
}

int hx_cad_keep(const char *keep, const char *from, const hx_cad_record *record)
{
    const hx_cad_facts *const facts = &record->facts;
    hx_atomic_file out = {0};
    FILE *const in = fopen(from, "rb");
    if (!in) return HX_RAISE(HX_EIO, "%s: cannot open it: %s", from, strerror(errno));
    int rc = make_folders(keep);
    if (rc == HX_OK) rc = hx_atomic_file_open(&out, keep);
    if (rc == HX_OK) {
        const uint64_t body = add_stream(hash_begin, in);
        rewind(in);
        fprintf(out.stream, head_form, record->model[0] ? before_model : "", record->model,
                record->key, record->key_auto, body, record->version, facts->element_size,
                facts->n_solid, facts->n_face, facts->n_elem, facts->worst, facts->median,
                facts->volume);
        write_mirrors(out.stream, record);
        fputs("$EndComments\n", out.stream);
        rc = copy_stream(in, out.stream);
    }
    if (rc == HX_OK) rc = hx_atomic_file_commit(&out);
    hx_atomic_file_free(&out);
    fclose(in);
    return rc;
}
