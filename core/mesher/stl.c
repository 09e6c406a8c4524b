#include "stl.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../base/grow.h"
#include "../base/input_file.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/union_find.h"
#include "../base/vec3.h"

enum { HEAD = 80, RECORD = 50, MOST_FACES = 2000 };

/* --- reading: corners one after the other --- */

typedef struct corners {
    size_t n, capacity;
    float (*x)[3]; /* (owned) */
} corners;

static int add_corner(corners *c, const float x[3], const char *path)
{
    for (int k = 0; k < 3; k++)
        if (!isfinite(x[k]))
            return HX_RAISE(HX_EINPUT,
                            "%s: triangle %zu has a coordinate that is not a finite number", path,
                            c->n / 3 + 1);
    HX_TRY(hx_grow(&c->x, c->n, &c->capacity, sizeof *c->x, "corners of triangles"));
    for (int k = 0; k < 3; k++) c->x[c->n][k] = x[k] + 0.0f; /* converts -0 to 0 */
    c->n++;
    return HX_OK;
}

static float decode_float(const unsigned char *b)
{
    const uint32_t bits =
        (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int read_binary(FILE *f, int64_t n, const char *path, corners *c)
{
    unsigned char record[RECORD];
    fseek(f, HEAD + 4, SEEK_SET);
    for (int64_t i = 0; i < n; i++) {
        if (fread(record, 1, RECORD, f) != RECORD)
            return HX_RAISE(HX_EINPUT, "%s: the file ends within triangle %lld of %lld", path,
                            (long long)i + 1, (long long)n);
        for (int k = 0; k < 3; k++) {
            float x[3];
            for (int d = 0; d < 3; d++) x[d] = decode_float(record + 12 * (k + 1) + 4 * d);
            HX_TRY(add_corner(c, x, path));
        }
    }
    return HX_OK;
}

static int read_text(FILE *f, const char *path, corners *c)
{
    char line[512];
    long long number = 0;
    while (fgets(line, sizeof line, f)) {
        float x[3];
        const char *const text = line + strspn(line, " \t");
        number++;
        if (strncasecmp(text, "vertex", 6) != 0) continue;
        if (sscanf(text + 6, "%f %f %f", &x[0], &x[1], &x[2]) != 3)
            return HX_RAISE(HX_EINPUT, "%s:%lld: three numbers are expected after 'vertex'", path,
                            number);
        HX_TRY(add_corner(c, x, path));
    }
    if (c->n % 3 != 0)
        return HX_RAISE(HX_EINPUT, "%s: the file ends within a triangle, after %zu corners", path,
                        c->n);
    return HX_OK;
}

static int read_corners(const char *path, corners *c)
{
    unsigned char head[HEAD + 4] = {0};
    struct stat info;
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    if (!f) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    const size_t n_head = fread(head, 1, sizeof head, f);
    const int64_t n = (int64_t)((uint32_t)head[HEAD] | (uint32_t)head[HEAD + 1] << 8 |
                                (uint32_t)head[HEAD + 2] << 16 | (uint32_t)head[HEAD + 3] << 24);
    int rc;
    const int is_text = strncasecmp((const char *)head, "solid", 5) == 0;
    const int64_t size = fstat(fileno(f), &info) == 0 ? (int64_t)info.st_size : 0;
    rewind(f);
    if (n_head == sizeof head && size == HEAD + 4 + RECORD * n && n > 0)
        rc = read_binary(f, n, path, c);
    else if (is_text)
        rc = read_text(f, path, c);
    else
        rc = HX_RAISE(HX_EINPUT,
                      "%s: not an STL file: it does not begin with 'solid', and its size is not "
                      "that of a binary file with %d bytes per triangle (truncated?)",
                      path, RECORD);
    fclose(f);
    if (rc == HX_OK && c->n == 0) rc = HX_RAISE(HX_EINPUT, "%s: the file has no triangle", path);
    return rc;
}

/* --- welding: equal corners are one node --- */

typedef struct keyed {
    float x[3];
    int64_t corner;
} keyed;

static int compare_places(const void *a, const void *b)
{
    const keyed *const p = a, *const q = b;
    for (int k = 0; k < 3; k++) {
        if (p->x[k] < q->x[k]) return -1;
        if (p->x[k] > q->x[k]) return 1;
    }
    return (p->corner > q->corner) - (p->corner < q->corner);
}

static int same_place(const keyed *p, const keyed *q)
{
    return !(p->x[0] < q->x[0]) && !(p->x[0] > q->x[0]) && !(p->x[1] < q->x[1]) &&
           !(p->x[1] > q->x[1]) && !(p->x[2] < q->x[2]) && !(p->x[2] > q->x[2]);
}

/* Sorts the nodes by position; triangles with two equal corners are left out. */
static int weld(hx_stl *stl, const corners *c)
{
    keyed *key = NULL;
    int32_t *node = NULL;
    int rc;
    if (c->n > INT32_MAX) return HX_RAISE(HX_EINPUT, "more triangles than 2^31 / 3");
    HX_TRY_FAIL(hx_alloc_raw(&key, c->n, sizeof *key, "corners of triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&node, c->n, sizeof *node, "corners of triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&stl->xyz, c->n, 3 * sizeof(double), "nodes of triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&stl->tri, c->n / 3, 3 * sizeof(int32_t), "triangles"));
    for (size_t i = 0; i < c->n; i++) {
        memcpy(key[i].x, c->x[i], sizeof key[i].x);
        key[i].corner = (int64_t)i;
    }
    qsort(key, c->n, sizeof *key, compare_places);
    for (size_t i = 0; i < c->n; i++) {
        if (i == 0 || !same_place(&key[i - 1], &key[i])) {
            for (int k = 0; k < 3; k++) stl->xyz[3 * stl->n_node + k] = (double)key[i].x[k];
            stl->n_node++;
        }
        node[key[i].corner] = (int32_t)(stl->n_node - 1);
    }
    for (size_t t = 0; t < c->n / 3; t++) {
        const int32_t *const p = node + 3 * t;
        if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) continue;
        memcpy(stl->tri + 3 * stl->n_tri++, p, 3 * sizeof *p);
    }
fail:
    free(key);
    free(node);
    return rc;
}

/* --- edges: each has two triangles, one in either direction --- */

typedef struct edge {
    int32_t low, high;
    int64_t tri;
    int is_up; /* the triangle traverses the edge from the lower to the higher node */
} edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *const p = a, *const q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->tri > q->tri) - (p->tri < q->tri);
}

static int refuse_edges(const hx_stl *stl, const char *path, const edge *e, int64_t n_open,
                        int64_t n_many, int64_t n_turned)
{
    const double *const a = stl->xyz + 3 * (size_t)e->low, *const b =
                                                               stl->xyz + 3 * (size_t)e->high;
    const double x[3] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
    if (n_open > 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: not a closed surface: %lld %s one triangle, the first near (%g, "
                        "%g, %g); close the holes in the program that made it",
                        path, (long long)n_open, hx_noun(n_open, "edge has", "edges have"), x[0],
                        x[1], x[2]);
    if (n_many > 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: at %lld %s more than two triangles meet, the first near (%g, %g, %g): "
                        "parts of the surface touch or cross there",
                        path, (long long)n_many, hx_noun(n_many, "edge", "edges"), x[0], x[1],
                        x[2]);
    return HX_RAISE(HX_EINPUT,
                    "%s: at %lld %s the neighbours have opposite orientations, the first near (%g, "
                    "%g, %g): all triangles must be counter-clockwise seen from outside",
                    path, (long long)n_turned, hx_noun(n_turned, "edge", "edges"), x[0], x[1],
                    x[2]);
}

static int check_edges(const hx_stl *stl, const char *path, const edge *e)
{
    const int64_t n = 3 * stl->n_tri;
    const edge *first[3] = {NULL, NULL, NULL};
    int64_t count[3] = {0, 0, 0};
    for (int64_t i = 0, k; i < n; i += k) {
        for (k = 1; i + k < n && e[i + k].low == e[i].low && e[i + k].high == e[i].high;) k++;
        const int fault = k == 1 ? 0 : k > 2 ? 1 : e[i].is_up == e[i + 1].is_up ? 2 : -1;
        if (fault >= 0 && count[fault]++ == 0) first[fault] = &e[i];
    }
    if (count[0] + count[1] + count[2] == 0) return HX_OK;
    return refuse_edges(stl, path,
                        first[0]   ? first[0]
                        : first[1] ? first[1]
                                   : first[2],
                        count[0], count[1], count[2]);
}

/* --- shells and faces: connected triangles --- */

static int number_groups(int32_t *parent, int64_t n, int32_t **group, int64_t *n_group)
{
    HX_TRY(hx_alloc_raw(group, (size_t)n, sizeof **group, "groups of triangles"));
    *n_group = 0;
    for (int64_t t = 0; t < n; t++) {
        const int32_t root = hx_root(parent, (int32_t)t);
        (*group)[t] = root == t ? (int32_t)(*n_group)++ : (*group)[root];
    }
    return HX_OK;
}

static void area_vector(const hx_stl *stl, int64_t t, double normal[3])
{
    double u[3], v[3];
    const int32_t *const p = stl->tri + 3 * t;
    for (int k = 0; k < 3; k++) {
        u[k] = stl->xyz[3 * (size_t)p[1] + k] - stl->xyz[3 * (size_t)p[0] + k];
        v[k] = stl->xyz[3 * (size_t)p[2] + k] - stl->xyz[3 * (size_t)p[0] + k];
    }
    hx_cross3(u, v, normal);
    for (int k = 0; k < 3; k++) normal[k] *= 0.5;
}

/* Groups connected triangles. angle: largest angle between neighbours in one group, in degrees;
 * above 180 every angle is accepted. */
static int group(const hx_stl *stl, const edge *e, double angle, int32_t **of, int64_t *n_group)
{
    const double least = angle > 180.0 ? -2.0 : cos(angle * acos(-1.0) / 180.0);
    int32_t *parent = NULL;
    HX_TRY(hx_alloc_raw(&parent, (size_t)stl->n_tri, sizeof *parent, "groups of triangles"));
    for (int64_t t = 0; t < stl->n_tri; t++) parent[t] = (int32_t)t;
    for (int64_t i = 0; i + 1 < 3 * stl->n_tri; i += 2) { /* each edge has two triangles */
        double a[3], b[3];
        area_vector(stl, e[i].tri, a);
        area_vector(stl, e[i + 1].tri, b);
        if (hx_dot3(a, b) >= least * hx_norm3(a) * hx_norm3(b))
            hx_unite(parent, (int32_t)e[i].tri, (int32_t)e[i + 1].tri);
    }
    const int rc = number_groups(parent, stl->n_tri, of, n_group);
    free(parent);
    return rc;
}

/* --- which shells bound which solid --- */

/* Counts the crossings of a ray from x with the shell; an odd number means that x is inside. The
 * ray's direction avoids the edges of typical parts. */
static int is_inside(const hx_stl *stl, int32_t shell, const double x[3])
{
    static const double ray[3] = {0.5773, 0.1931, 0.7934};
    int crossings = 0;
    for (int64_t t = 0; t < stl->n_tri; t++) {
        if (stl->shell[t] != shell) continue;
        double u[3], v[3], d[3], p[3], q[3];
        const int32_t *const n = stl->tri + 3 * t;
        for (int k = 0; k < 3; k++) {
            u[k] = stl->xyz[3 * (size_t)n[1] + k] - stl->xyz[3 * (size_t)n[0] + k];
            v[k] = stl->xyz[3 * (size_t)n[2] + k] - stl->xyz[3 * (size_t)n[0] + k];
            d[k] = x[k] - stl->xyz[3 * (size_t)n[0] + k];
        }
        hx_cross3(ray, v, p);
        const double det = hx_dot3(u, p);
        if (!(fabs(det) > 0.0)) continue;
        const double a = hx_dot3(d, p) / det;
        hx_cross3(d, u, q);
        const double b = hx_dot3(ray, q) / det, s = hx_dot3(v, q) / det;
        crossings += a >= 0.0 && b >= 0.0 && a + b <= 1.0 && s > 0.0;
    }
    return crossings % 2;
}

static double to_triangle(const hx_stl *stl, int64_t t, const double x[3]);

typedef struct box {
    double min[3], max[3];
} box;

static int meet_boxes(const box *a, const box *b)
{
    int n = 0;
    for (int k = 0; k < 3; k++) n += a->min[k] < b->max[k] && b->min[k] < a->max[k];
    return n == 3;
}

/* Returns 1 if x is so close to a shell that rounding decides between inside and outside. */
static int is_on(const hx_stl *stl, int32_t shell, const double x[3], double distance)
{
    for (int64_t t = 0; t < stl->n_tri; t++)
        if (stl->shell[t] == shell && to_triangle(stl, t, x) < distance * distance) return 1;
    return 0;
}

static int refuse_crossing(const char *path, const double x[3])
{
    return HX_RAISE(HX_EINPUT,
                    "%s: two shells cross near (%g, %g, %g): a part of one lies inside the other; "
                    "unite them or move them apart in the program that wrote the file",
                    path, x[0], x[1], x[2]);
}

enum { N_SAMPLE = 7 };

/* Sample point k of a triangle: a corner, the middle of an edge, or the centre. */
static void sample(const hx_stl *stl, int64_t t, int k, double x[3])
{
    static const double share[N_SAMPLE][3] = {{1.0, 0.0, 0.0},
                                              {0.0, 1.0, 0.0},
                                              {0.0, 0.0, 1.0},
                                              {0.5, 0.5, 0.0},
                                              {0.0, 0.5, 0.5},
                                              {0.5, 0.0, 0.5},
                                              {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}};
    for (int c = 0; c < 3; c++) {
        x[c] = 0.0;
        for (int a = 0; a < 3; a++)
            x[c] += share[k][a] * stl->xyz[3 * (size_t)stl->tri[3 * t + a] + c];
    }
}

/* lies_in := 1 if shell a lies in shell b. Tests up to about 400 sample points of a, ignoring
 * points on b. HX_EINPUT: some points lie inside and some outside. */
static int place_shell(const hx_stl *stl, int32_t a, int32_t b, double near, const char *path,
                       uint8_t *lies_in)
{
    enum { MOST_TRIED = 400 };
    int64_t n = 0, place = 0, n_in = 0, n_out = 0;
    for (int64_t t = 0; t < stl->n_tri; t++) n += stl->shell[t] == a;
    int64_t step = 1 + N_SAMPLE * n / MOST_TRIED;
    step += step % N_SAMPLE == 0; /* so that all kinds of sample points occur */
    for (int64_t i = 0; i < N_SAMPLE * stl->n_tri; i++) {
        double x[3];
        if (stl->shell[i / N_SAMPLE] != a || place++ % step != 0) continue;
        sample(stl, i / N_SAMPLE, (int)(i % N_SAMPLE), x);
        if (is_on(stl, b, x, near)) continue;
        if (is_inside(stl, b, x))
            n_in++;
        else
            n_out++;
        if (n_in > 0 && n_out > 0) return refuse_crossing(path, x);
    }
    *lies_in = n_in > 0;
    return HX_OK;
}

/* in[a * n + b] := 1 if shell a lies in b. HX_EINPUT: two shells cross. */
static int place_shells(const hx_stl *stl, const char *path, uint8_t *in)
{
    int rc = HX_OK;
    box *boxes = NULL;
    double size = 0.0;
    const int64_t n = stl->n_shell;
    if (n < 2) return HX_OK;
    HX_TRY(hx_alloc(&boxes, (size_t)n, sizeof *boxes, "shells"));
    for (int64_t k = 0; k < stl->n_shell; k++)
        boxes[k] = (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t c = 0; c < 3 * stl->n_tri; c++) {
        box *const c_box = &boxes[stl->shell[c / 3]];
        for (int k = 0; k < 3; k++) {
            c_box->min[k] = fmin(c_box->min[k], stl->xyz[3 * (size_t)stl->tri[c] + k]);
            c_box->max[k] = fmax(c_box->max[k], stl->xyz[3 * (size_t)stl->tri[c] + k]);
        }
    }
    for (int64_t a = 0; a < n; a++)
        for (int k = 0; k < 3; k++) size = fmax(size, boxes[a].max[k] - boxes[a].min[k]);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            if (a != b && meet_boxes(&boxes[a], &boxes[b]))
                HX_TRY_FAIL(
                    place_shell(stl, (int32_t)a, (int32_t)b, 1e-6 * size, path, &in[a * n + b]));
    /* Shells may cross although all sample points of one lie outside the other. */
    double x[3];
    int is_found;
    HX_TRY_FAIL(hx_stl_find_crossing(stl, 1e-6 * size, x, &is_found));
    HX_TRY_FAIL(is_found ? refuse_crossing(path, x) : HX_OK);
fail:
    free(boxes);
    return rc;
}

/* Assigns shells to solids. A shell inside an even number of others is the outer boundary of a
 * solid; one inside an odd number is a cavity of the solid whose outer boundary is the innermost
 * shell around it. */
static int sort_shells(hx_stl *stl, const char *path)
{
    const int64_t n = stl->n_shell;
    uint8_t *in = NULL; /* in[a * n + b]: a lies in b */
    int32_t *depth = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&in, (size_t)n * (size_t)n, 1, "shells"));
    HX_TRY_FAIL(hx_alloc(&depth, (size_t)n, sizeof *depth, "shells"));
    HX_TRY_FAIL(hx_alloc(&stl->solid_of, (size_t)n, sizeof *stl->solid_of, "shells"));
    HX_TRY_FAIL(place_shells(stl, path, in));
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) depth[a] += in[a * n + b];
    for (int64_t a = 0; a < n; a++)
        if (depth[a] % 2 == 0) stl->solid_of[a] = (int32_t)stl->n_solid++;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n && depth[a] % 2 == 1; b++)
            if (in[a * n + b] && depth[b] == depth[a] - 1) stl->solid_of[a] = stl->solid_of[b];
    /* Sums area and volume: shells may have either orientation, and cavities are subtracted. */
    double *volume = NULL;
    HX_TRY_FAIL(hx_alloc(&volume, (size_t)stl->n_shell, sizeof *volume, "shells"));
    for (int64_t t = 0; t < stl->n_tri; t++) {
        double normal[3];
        area_vector(stl, t, normal);
        stl->area += hx_norm3(normal);
        volume[stl->shell[t]] += hx_dot3(normal, stl->xyz + 3 * (size_t)stl->tri[3 * t]) / 3.0;
    }
    for (int64_t k = 0; k < stl->n_shell; k++)
        stl->volume += depth[k] % 2 == 0 ? fabs(volume[k]) : -fabs(volume[k]);
    free(volume);
fail:
    free(in);
    free(depth);
    return rc;
}

int hx_stl_read(hx_stl *stl, const char *path)
{
    enum { MOST_SHELLS = 1000 };
    corners c = {0};
    edge *e = NULL;
    int rc;
    memset(stl, 0, sizeof *stl);
    HX_TRY_FAIL(read_corners(path, &c));
    HX_TRY_FAIL(weld(stl, &c));
    HX_TRY_FAIL(hx_alloc_raw(&e, 3 * (size_t)stl->n_tri, sizeof *e, "edges of triangles"));
    for (int64_t t = 0; t < stl->n_tri; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = stl->tri[3 * t + k], b = stl->tri[3 * t + (k + 1) % 3];
            e[3 * t + k] = (edge){a < b ? a : b, a < b ? b : a, t, a < b};
        }
    qsort(e, 3 * (size_t)stl->n_tri, sizeof *e, compare_edges);
    HX_TRY_FAIL(check_edges(stl, path, e));
    HX_TRY_FAIL(group(stl, e, 360.0, &stl->shell, &stl->n_shell));
    if (stl->n_shell > MOST_SHELLS)
        rc = HX_RAISE(HX_EINPUT, "%s: %lld separate %s; at most %d are possible", path,
                      (long long)stl->n_shell, hx_noun(stl->n_shell, "piece", "pieces"),
                      MOST_SHELLS);
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(group(stl, e, HX_STL_ANGLE, &stl->face, &stl->n_face));
    if (stl->n_face > MOST_FACES) { /* this is no typical part: each shell becomes one face */
        memcpy(stl->face, stl->shell, (size_t)stl->n_tri * sizeof *stl->face);
        stl->n_face = stl->n_shell;
    }
    HX_TRY_FAIL(sort_shells(stl, path));
    if (!(stl->volume > 0.0)) rc = HX_RAISE(HX_EINPUT, "%s: the surface encloses no volume", path);
fail:
    free(c.x);
    free(e);
    if (rc < 0) hx_stl_free(stl);
    return rc;
}

void hx_stl_free(hx_stl *stl)
{
    free(stl->xyz);
    free(stl->tri);
    free(stl->shell);
    free(stl->face);
    free(stl->solid_of);
    memset(stl, 0, sizeof *stl);
}

/* --- the nearest face --- */

/* Squared distance from x to a segment. The distance to a triangle a + s u + t v is that to its
 * plane, or the least of those to its edges. */
static double to_segment(const double x[3], const double *a, const double *b)
{
    double ab[3], ax[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ax[k] = x[k] - a[k];
    }
    const double length = hx_dot3(ab, ab);
    const double s = length > 0.0 ? fmax(0.0, fmin(1.0, hx_dot3(ab, ax) / length)) : 0.0;
    for (int k = 0; k < 3; k++) ax[k] -= s * ab[k];
    return hx_dot3(ax, ax);
}

static double to_triangle(const hx_stl *stl, int64_t t, const double x[3])
{
    const double *p[3];
    double u[3], v[3], d[3], n[3], c[3];
    for (int k = 0; k < 3; k++) p[k] = stl->xyz + 3 * (size_t)stl->tri[3 * t + k];
    for (int k = 0; k < 3; k++) {
        u[k] = p[1][k] - p[0][k];
        v[k] = p[2][k] - p[0][k];
        d[k] = x[k] - p[0][k];
    }
    hx_cross3(u, v, n);
    const double nn = hx_dot3(n, n);
    hx_cross3(d, v, c);
    const double s = hx_dot3(c, n) / nn;
    hx_cross3(u, d, c);
    const double r = hx_dot3(c, n) / nn, height = hx_dot3(d, n);
    if (s >= 0.0 && r >= 0.0 && s + r <= 1.0) return height * height / nn;
    return fmin(to_segment(x, p[0], p[1]),
                fmin(to_segment(x, p[1], p[2]), to_segment(x, p[2], p[0])));
}

int32_t hx_stl_nearest_face(const hx_stl *stl, const double x[3])
{
    double nearest = INFINITY;
    int32_t face = 0;
    for (int64_t t = 0; t < stl->n_tri; t++) {
        const double distance = to_triangle(stl, t, x);
        if (!(distance < nearest)) continue;
        nearest = distance;
        face = stl->face[t];
    }
    return face;
}
