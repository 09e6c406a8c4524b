/* Convection: the films on boundary faces as a sparse matrix over their points. The matrix is
 * consistent like the tractions on faces, with Gauss points for int h N N' dA, not lumped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/radix_sort.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"

static const char *const WHAT = "convection";

/* Faces of all entries, and the coefficients on each. */
typedef struct film_faces {
    int64_t n;
    int64_t *face;
    double *coefficient, *ambient; /* ambient relative to the reference */
} film_faces;

/* Entries of the films before duplicates are summed. */
typedef struct film_entries {
    int64_t n;
    uint64_t *key;          /* row * n_node + column */
    double *value, *square; /* square: NULL if it is 0 everywhere */
    int32_t *order;
} film_entries;

static int check_film(const hx_convection_spec *film)
{
    if (!(film->coefficient > 0.0) || film->coefficient > 1e300)
        return HX_RAISE(HX_EINPUT, "%s: coefficient = %g must be above 0 and finite", film->origin,
                        film->coefficient);
    if (isfinite(film->ambient)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: ambient = %g is not a finite temperature", film->origin,
                    film->ambient);
}

static int append_faces(film_faces *faces, const hx_problem *problem,
                        const hx_convection_spec *film, int64_t n, const int64_t *face)
{
    const size_t have = (size_t)faces->n, total = have + (size_t)n;
    HX_TRY(hx_resize(&faces->face, have, total, sizeof *faces->face, WHAT));
    HX_TRY(hx_resize(&faces->coefficient, have, total, sizeof(double), WHAT));
    HX_TRY(hx_resize(&faces->ambient, have, total, sizeof(double), WHAT));
    for (int64_t k = 0; k < n; k++) {
        faces->face[faces->n] = face[k];
        faces->coefficient[faces->n] = film->coefficient;
        faces->ambient[faces->n++] = film->ambient - problem->reference;
    }
    return HX_OK;
}

static int add_film_faces(film_faces *faces, const hx_problem *problem,
                          const hx_convection_spec *film)
{
    const hx_set *set;
    int64_t n = 0, *face = NULL;
    HX_TRY(check_film(film));
    HX_TRY(hx_problem_find_set(problem->mesh, film->set, film->origin, &set));
    HX_TRY(hx_problem_faces(problem->mesh, set, film->origin, &n, &face));
    const int rc = n > 0 ? append_faces(faces, problem, film, n, face)
                         : HX_RAISE(HX_EINPUT,
                                    "%s: set '%s' spans no boundary face (%lld %s), but convection "
                                    "needs a surface; name a set of faces",
                                    film->origin, film->set, (long long)set->n_node,
                                    hx_noun(set->n_node, "node", "nodes"));
    free(face);
    return rc;
}

/* Appends the entries of a face at `entries->n`, and adds source[point] += h ambient int N. */
static void add_film_face(film_entries *entries, const hx_space *space, const film_faces *faces,
                          int64_t f, double *source)
{
    hx_space_face at;
    double mass[HX_FACE_POINTS][HX_FACE_POINTS], load[HX_FACE_POINTS] = {0.0};
    hx_space_face_fine(space, faces->face[f], &at);
    memset(mass, 0, sizeof mass);
    for (int q = 0; q < at.n_gauss; q++) {
        const double *const shape = at.shape[q];
        const double h = faces->coefficient[f] * hx_norm3(at.at[q].normal);
        for (int a = 0; a < at.n; a++) {
            load[a] += h * shape[a];
            for (int b = 0; b < at.n; b++) mass[a][b] += h * (shape[a] * shape[b]);
        }
    }
    for (int a = 0; a < at.n; a++) {
        source[at.point[a]] += faces->ambient[f] * load[a];
        for (int b = 0; b < at.n; b++, entries->n++) {
            entries->key[entries->n] =
                (uint64_t)at.point[a] * (uint64_t)space->n_point + (uint64_t)at.point[b];
            entries->value[entries->n] = mass[a][b];
            if (entries->square)
                entries->square[entries->n] = mass[a][b] * (faces->ambient[f] * faces->ambient[f]);
        }
    }
}

/* Sums the entries of each pair in the order of the faces; `key` are the keys before sorting. */
static void merge(hx_films *films, const film_entries *entries, const uint64_t *key,
                  int64_t n_point)
{
    uint64_t last = UINT64_MAX;
    int64_t n = 0;
    for (int64_t k = 0; k < entries->n; k++) {
        const int32_t from = entries->order[k];
        const int32_t row = (int32_t)(key[from] / (uint64_t)n_point);
        if (films->n == 0 || films->node[films->n - 1] != row) {
            films->ptr[films->n] = n;
            films->node[films->n++] = row;
        }
        if (key[from] != last) {
            films->col[n] = (int32_t)(key[from] % (uint64_t)n_point);
            if (films->square) films->square[n] = 0.0;
            films->value[n++] = 0.0;
        }
        films->value[n - 1] += entries->value[from];
        if (films->square) films->square[n - 1] += entries->square[from];
        last = key[from];
    }
    films->ptr[films->n] = n;
}

static int has_other_ambient(const film_faces *faces)
{
    for (int64_t f = 0; f < faces->n; f++)
        if (faces->ambient[f] != 0.0) return 1;
    return 0;
}

static int make_films(hx_problem *problem, const film_faces *faces, double *source)
{
    hx_films *films = &problem->films;
    const hx_space *space = &problem->space;
    const size_t most = space->element == HX_ELEMENT_LINEAR      ? 4
                        : space->element == HX_ELEMENT_QUADRATIC ? 8
                                                                 : HX_FACE_POINTS;
    const size_t n = most * most * (size_t)faces->n;
    const int has_square = has_other_ambient(faces);
    film_entries entries = {0};
    uint64_t *key = NULL;
    int rc;
    const size_t n_point = most * (size_t)faces->n;
    if (has_square)
        HX_TRY_FAIL(hx_alloc_raw(&films->square, most * n_point, sizeof *films->square, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&films->node, n_point, sizeof *films->node, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&films->ptr, n_point + 1, sizeof *films->ptr, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&films->source, n_point, sizeof *films->source, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&films->col, most * n_point, sizeof *films->col, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&films->value, most * n_point, sizeof *films->value, WHAT));
    if (has_square) HX_TRY_FAIL(hx_alloc_raw(&entries.square, n, sizeof(double), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&entries.key, n, sizeof *entries.key, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&key, n, sizeof *key, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&entries.value, n, sizeof(double), WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&entries.order, n, sizeof *entries.order, WHAT));
    for (int64_t f = 0; f < faces->n; f++) add_film_face(&entries, space, faces, f, source);
    memcpy(key, entries.key, (size_t)entries.n * sizeof *key);
    HX_TRY_FAIL(hx_radix_sort(entries.key, entries.order, entries.n,
                              hx_bits((uint64_t)space->n_point * (uint64_t)space->n_point)));
    merge(films, &entries, key, space->n_point);
    for (int64_t k = 0; k < films->n; k++) films->source[k] = source[films->node[k]];
    rc = HX_OK;
fail:
    free(entries.key);
    free(key);
    free(entries.value);
    free(entries.square);
    free(entries.order);
    return rc;
}

int hx_problem_add_films(hx_problem *problem, const hx_problem_params *params)
{
    film_faces faces = {0};
    double *source = NULL;
    int rc;
    if (params->n_convection == 0) return HX_OK;
    if (!hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: convection requires physics = \"heat\"",
                        params->convection[0].origin);
    for (size_t i = 0; i < params->n_convection; i++)
        HX_TRY_FAIL(add_film_faces(&faces, problem, &params->convection[i]));
    HX_TRY_FAIL(hx_alloc(&source, (size_t)problem->space.n_point, sizeof *source, WHAT));
    /* Sums over the own faces of every process. */
    const hx_mesh *const mesh = problem->mesh;
    const int64_t begin = 6 * hx_mesh_own_begin(mesh), end = 6 * hx_mesh_own_end(mesh);
    problem->films.offset = 0.0;
    for (int64_t f = 0; f < faces.n; f++) {
        const double over = faces.ambient[f];
        hx_space_face at;
        if (faces.face[f] < begin || faces.face[f] >= end || over == 0.0) continue;
        /* with the integration rule of the entries */
        hx_space_face_fine(&problem->space, faces.face[f], &at);
        for (int q = 0; q < at.n_gauss; q++)
            problem->films.offset += faces.coefficient[f] * over * over * hx_norm3(at.at[q].normal);
    }
    HX_TRY_FAIL(hx_reduce_sum(hx_mesh_reduce(mesh), 1, &problem->films.offset));
    HX_TRY_FAIL(make_films(problem, &faces, source));
fail:
    free(faces.face);
    free(faces.coefficient);
    free(faces.ambient);
    free(source);
    return rc;
}
