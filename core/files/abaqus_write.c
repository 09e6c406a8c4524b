#include "abaqus_write.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/atomic_file.h"
#include "../base/memory.h"
#include "solid.h"

const int hx_abaqus_side[HX_CELL_OTHER][6] = {[HX_CELL_HEXAHEDRON] = {6, 4, 3, 5, 1, 2},
                                              [HX_CELL_WEDGE] = {5, 4, 3, 0, 1, 2},
                                              [HX_CELL_PYRAMID] = {5, 3, 2, 4, 1, 0},
                                              [HX_CELL_TETRAHEDRON] = {4, 3, 2, 0, 1, 0}};
const int hx_abaqus_face[HX_CELL_OTHER][7] = {[HX_CELL_HEXAHEDRON] = {-1, 4, 5, 2, 1, 3, 0},
                                              [HX_CELL_WEDGE] = {-1, 4, 5, 2, 1, 0, -1},
                                              [HX_CELL_PYRAMID] = {-1, 4, 2, 1, 3, 0, -1},
                                              [HX_CELL_TETRAHEDRON] = {-1, 4, 2, 1, 0, -1, -1}};

enum { FIELD_SIZE = 20, NAME_SIZE = 64, MAX_MODULI = 1000, PER_LINE = 12, BUFFER = 1 << 16 };

typedef struct writer {
    FILE *stream;
    char *text; /* [BUFFER] (owned) */
    size_t n_text;
    const hx_mesh *mesh;
    int32_t *node, *elem;    /* mesh's numbers in the file's order; NULL: the same (owned) */
    int own_node, own_elem;  /* keep the numbers of the file that the mesh came from */
    char (*name)[NAME_SIZE]; /* [mesh->n_set] words of the sets in the file (owned) */
} writer;

static void flush(writer *w)
{
    fwrite(w->text, 1, w->n_text, w->stream); /* faults are seen at the commit */
    w->n_text = 0;
}

static void put_text(writer *w, const char *text)
{
    const size_t n = strlen(text);
    if (w->n_text + n > BUFFER) flush(w);
    memcpy(w->text + w->n_text, text, n);
    w->n_text += n;
}

static void put_int(writer *w, int64_t value)
{
    char digit[24];
    int n = sizeof digit;
    digit[--n] = '\0';
    do {
        digit[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    put_text(w, digit + n);
}

/* CalculiX reads 20 characters of a number and refuses what is left of an exponent. */
static void put_real(writer *w, double value)
{
    char text[40];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    for (int digits = 16; n > FIELD_SIZE; digits--)
        n = snprintf(text, sizeof text, "%.*g", digits, value);
    put_text(w, text);
    if (!strpbrk(text, ".e")) put_text(w, "."); /* Fortran takes 1e5 for a real, Abaqus wants 1. */
}

/* --- names --- */

static int name_is_taken(const writer *w, size_t n, const char *name)
{
    static const char *const own[] = {"NALL", "EALL"};
    if (strncasecmp(name, "EMAT-", 5) == 0) return 1;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcasecmp(own[i], name) == 0) return 1;
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(w->name[i], name) == 0) return 1;
    return 0;
}

/* Words of letters, digits, '-' and '_' that begin with a letter; unlike each other whatever their
 * case. */
static int name_sets(writer *w)
{
    HX_TRY(hx_alloc(&w->name, w->mesh->n_set, sizeof *w->name, "names of sets"));
    for (size_t i = 0; i < w->mesh->n_set; i++) {
        const char *const set = w->mesh->set[i].name;
        char word[NAME_SIZE - 12];
        snprintf(word, sizeof word, "%s%s", isalpha((unsigned char)set[0]) ? "" : "S_", set);
        for (char *c = word; *c; c++)
            if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') *c = '_';
        snprintf(w->name[i], NAME_SIZE, "%s", word);
        for (size_t k = 2; name_is_taken(w, i, w->name[i]); k++)
            snprintf(w->name[i], NAME_SIZE, "%s_%zu", word, k);
    }
    return HX_OK;
}

/* --- mesh and sets --- */

/* Numbers from 1, unless the mesh's file had its own. */
static int64_t node_number(const writer *w, int64_t node)
{
    const int64_t orig = w->mesh->node_orig ? w->mesh->node_orig[node] : node;
    return w->own_node ? hx_numbers_get(&w->mesh->node_number, orig) : orig + 1;
}

static int64_t elem_number(const writer *w, int64_t elem)
{
    const int64_t orig = w->mesh->elem_orig ? w->mesh->elem_orig[elem] : elem;
    return w->own_elem ? hx_numbers_get(&w->mesh->elem_number, orig) : orig + 1;
}

/* 1 if other programs take the numbers: above 0 and within 32 bits. */
static int are_usable(const hx_numbers *numbers)
{
    for (int64_t i = 0; i < numbers->n; i++)
        if (hx_numbers_get(numbers, i) < 1 || hx_numbers_get(numbers, i) > INT32_MAX) return 0;
    return numbers->n > 0;
}

/* The mesh's node and element at place i of the file. */
static int64_t node_at(const writer *w, int64_t i)
{
    return w->node ? w->node[i] : i;
}

static int64_t elem_at(const writer *w, int64_t i)
{
    return w->elem ? w->elem[i] : i;
}

/* CalculiX has no pyramid: the brick takes its place, with repeated nodes. */
static hx_solid_id solid_of(const hx_mesh *mesh, int64_t elem)
{
    const hx_solid_id id = hx_solid_of_cell(mesh->conn + 8 * elem);
    return id == HX_SOLID_PYRAMID5 ? HX_SOLID_HEX8 : id;
}

/* *last: what the element before is written as. */
static void put_element(writer *w, int64_t e, int is_job, hx_solid_id *last)
{
    static const char *const type[] = {
        [HX_SOLID_HEX8] = "C3D8", [HX_SOLID_TET4] = "C3D4", [HX_SOLID_WEDGE6] = "C3D6"};
    const hx_solid_id id = solid_of(w->mesh, e);
    const int *const corner = hx_solid_nodes(id);
    if (id != *last) {
        put_text(w, "*ELEMENT, TYPE=");
        put_text(w, type[id]);
        put_text(w, is_job ? ", ELSET=EALL\n" : "\n");
    }
    *last = id;
    put_int(w, elem_number(w, e));
    for (int k = 0; k < hx_solids[id].n_node; k++) {
        put_text(w, ", ");
        put_int(w, node_number(w, w->mesh->conn[8 * e + corner[k]]));
    }
    put_text(w, "\n");
}

/* With sets of all nodes and all elements for what a job says about them. */
static void put_mesh(writer *w, int is_job)
{
    const hx_mesh *const mesh = w->mesh;
    put_text(w, is_job ? "*NODE, NSET=NALL\n" : "*NODE\n");
    for (int64_t i = 0; i < mesh->n_node; i++) {
        const int64_t a = node_at(w, i);
        const double *const x = mesh->xyz + 3 * a;
        put_int(w, node_number(w, a));
        for (int d = 0; d < 3; d++) {
            put_text(w, ", ");
            put_real(w, x[d]);
        }
        put_text(w, "\n");
    }
    hx_solid_id last = HX_N_SOLID_ID;
    for (int64_t i = 0; i < mesh->n_elem; i++) put_element(w, elem_at(w, i), is_job, &last);
}

/* Numbers, a dozen a line; original ones of list[n]. */
static void put_list(writer *w, int64_t n, const int32_t *list,
                     int64_t (*number)(const writer *, int64_t))
{
    for (int64_t i = 0; i < n; i++) {
        put_int(w, number(w, list[i]));
        put_text(w, i + 1 == n || i % PER_LINE == PER_LINE - 1 ? "\n" : ", ");
    }
}

static int32_t derived_node(const hx_mesh *mesh, const hx_set *set, int64_t i)
{
    const int64_t j = i - 8 * set->n_elem;
    if (j < 0) return mesh->conn[8 * (int64_t)set->elem[i / 8] + i % 8];
    return mesh->conn[8 * (set->face[j / 4] / 6) + hx_hex_face[set->face[j / 4] % 6][j % 4]];
}

/* 1 if a node of the set is in none of its elements and faces; flag[n_node] is 0 on entry and exit.
 */
static int has_more_nodes(const hx_mesh *mesh, const hx_set *set, uint8_t *flag)
{
    const int64_t n = 8 * set->n_elem + 4 * set->n_face;
    int more = 0;
    for (int64_t i = 0; i < n; i++) flag[derived_node(mesh, set, i)] = 1;
    for (int64_t i = 0; i < set->n_node && !more; i++) more = !flag[set->node[i]];
    for (int64_t i = 0; i < n; i++) flag[derived_node(mesh, set, i)] = 0;
    return more;
}

/* 1 if the nodes hold a whole element, which a set of nodes then gets and one of faces does not;
 * flag as above. */
static int spans_element(const hx_mesh *mesh, const hx_set *set, uint8_t *flag)
{
    int spans = 0;
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
    for (int64_t i = 0; i < set->n_node && !spans; i++) {
        const int64_t a = set->node[i];
        for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1] && !spans; k++) {
            const int32_t *const corner = mesh->conn + 8 * (int64_t)(mesh->node_elem[k] / 8);
            int n = 0;
            while (n < 8 && flag[corner[n]]) n++;
            spans = n == 8;
        }
    }
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 0;
    return spans;
}

/* What is said of nodes (*BOUNDARY, *CLOAD) names sets of nodes only, so those of faces are listed
 * too, and others that do not follow from elements: read again it is the same set. */
static int lists_nodes(const hx_mesh *mesh, const hx_set *set, uint8_t *flag)
{
    if (has_more_nodes(mesh, set, flag)) return 1;
    return set->n_face > 0 && !spans_element(mesh, set, flag);
}

static int side_of(const hx_mesh *mesh, int64_t face)
{
    return hx_abaqus_side[hx_solids[solid_of(mesh, face / 6)].kind][face % 6];
}

static int put_sets(writer *w)
{
    const hx_mesh *const mesh = w->mesh;
    uint8_t *flag = NULL;
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_node, 1, "flags of a set"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        if (lists_nodes(mesh, set, flag)) {
            put_text(w, "*NSET, NSET=");
            put_text(w, w->name[i]);
            put_text(w, "\n");
            put_list(w, set->n_node, set->node, node_number);
        }
        if (set->n_elem > 0) {
            put_text(w, "*ELSET, ELSET=");
            put_text(w, w->name[i]);
            put_text(w, "\n");
            put_list(w, set->n_elem, set->elem, elem_number);
        }
        if (set->n_face == 0) continue;
        put_text(w, "*SURFACE, TYPE=ELEMENT, NAME=");
        put_text(w, w->name[i]);
        put_text(w, "\n");
        for (int64_t k = 0; k < set->n_face; k++) {
            put_int(w, elem_number(w, set->face[k] / 6));
            put_text(w, ", S");
            put_int(w, side_of(mesh, set->face[k]));
            put_text(w, "\n");
        }
    }
    free(flag);
    return HX_OK;
}

/* --- the job --- */

static int compare_real(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int64_t place_of(const double *list, int64_t n, double value)
{
    const double *const found = bsearch(&value, list, (size_t)n, sizeof value, compare_real);
    return found - list;
}

/* Distinct moduli, ascending. */
static int distinct_moduli(const hx_mesh *mesh, const double *modulus, int64_t *n, double *distinct)
{
    *n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (*n > 0 && bsearch(&modulus[e], distinct, (size_t)*n, sizeof *distinct, compare_real))
            continue;
        if (*n == MAX_MODULI)
            return HX_RAISE(HX_EINPUT,
                            "more than %d different moduli: a job of CalculiX is written of a part "
                            "in a few densities",
                            MAX_MODULI);
        distinct[(*n)++] = modulus[e];
        qsort(distinct, (size_t)*n, sizeof *distinct, compare_real);
    }
    return HX_OK;
}

static void put_material(writer *w, const char *name, const char *elset, double young, double nu)
{
    put_text(w, "*MATERIAL, NAME=");
    put_text(w, name);
    put_text(w, "\n*ELASTIC\n");
    put_real(w, young);
    put_text(w, ", ");
    put_real(w, nu);
    put_text(w, "\n*SOLID SECTION, ELSET=");
    put_text(w, elset);
    put_text(w, ", MATERIAL=");
    put_text(w, name);
    put_text(w, "\n");
}

static int put_materials(writer *w, const hx_problem *problem, const double *modulus)
{
    double distinct[MAX_MODULI];
    int64_t n;
    if (!modulus) {
        put_material(w, "SOLID", "EALL", problem->young, problem->poisson);
        return HX_OK;
    }
    HX_TRY(distinct_moduli(w->mesh, modulus, &n, distinct));
    for (int64_t k = 0; k < n; k++) {
        char elset[32], name[32];
        int64_t column = 0;
        snprintf(elset, sizeof elset, "EMAT-%d", (int)k + 1);
        snprintf(name, sizeof name, "MAT-%d", (int)k + 1);
        put_text(w, "*ELSET, ELSET=");
        put_text(w, elset);
        for (int64_t i = 0; i < w->mesh->n_elem; i++) {
            const int64_t e = elem_at(w, i);
            if (place_of(distinct, n, modulus[e]) != k) continue;
            put_text(w, column++ % PER_LINE == 0 ? "\n" : ", ");
            put_int(w, elem_number(w, e));
        }
        put_text(w, "\n");
        put_material(w, name, elset, distinct[k], problem->poisson);
    }
    return HX_OK;
}

/* Supports, homogeneous or not; CalculiX takes prescribed displacements in a step only. */
static void put_boundary(writer *w, const hx_problem *problem)
{
    put_text(w, "*BOUNDARY\n");
    for (int64_t i = 0; i < w->mesh->n_node; i++) {
        const int64_t a = node_at(w, i);
        for (int d = 0; d < 3; d++) {
            if (!(problem->supports.fixed[a] >> d & 1)) continue;
            put_int(w, node_number(w, a));
            put_text(w, d == 0 ? ", 1, 1, " : d == 1 ? ", 2, 2, " : ", 3, 3, ");
            put_real(w,
                     problem->supports.prescribed ? problem->supports.prescribed[3 * a + d] : 0.0);
            put_text(w, "\n");
        }
    }
}

static void put_forces(writer *w, const double *force)
{
    put_text(w, "*CLOAD, OP=NEW\n");
    for (int64_t i = 0; i < w->mesh->n_node; i++) {
        const int64_t a = node_at(w, i);
        const double *const f = force + 3 * a;
        for (int d = 0; d < 3; d++) {
            if (f[d] == 0.0) continue;
            put_int(w, node_number(w, a));
            put_text(w, d == 0 ? ", 1, " : d == 1 ? ", 2, " : ", 3, ");
            put_real(w, f[d]);
            put_text(w, "\n");
        }
    }
}

/* The densities of the job: 1, or those of passive elements. */
static void solid_densities(const hx_problem *problem, double *rho)
{
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        rho[e] = problem->passive.density && !isnan(problem->passive.density[e])
                     ? problem->passive.density[e]
                     : 1.0;
}

static int put_steps(writer *w, const hx_problem *problem, const double *rho, double *force)
{
    for (int c = 0; c < problem->cases.n; c++) {
        put_text(w, "** load case ");
        put_int(w, c + 1);
        put_text(w, "\n*STEP\n*STATIC\n");
        if (c == 0) put_boundary(w, problem);
        HX_TRY(hx_problem_nodal_force(problem, c, rho, force));
        put_forces(w, force);
        put_text(w, "*NODE PRINT, NSET=NALL\nU\n*NODE FILE\nU\n*EL FILE\nS\n*END STEP\n");
    }
    return HX_OK;
}

static int put_job(writer *w, const hx_problem *problem)
{
    int rc;
    if (problem->springs.n > 0 || problem->rigid.n > 0)
        return HX_RAISE(HX_EINPUT, "a job with %s is not written; leave them out of the config",
                        problem->springs.n > 0 ? "springs" : "rigid couplings");
    const size_t n_elem = (size_t)w->mesh->n_elem, n_node = (size_t)w->mesh->n_node;
    double *rho = NULL, *modulus = NULL, *force = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&rho, n_elem, sizeof *rho, "densities of a job"));
    HX_TRY_FAIL(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli of a job"));
    HX_TRY_FAIL(hx_alloc_raw(&force, 3 * n_node, sizeof *force, "forces of a job"));
    solid_densities(problem, rho);
    hx_problem_modulus(problem, rho, modulus);
    HX_TRY_FAIL(put_materials(w, problem, problem->passive.density ? modulus : NULL));
    HX_TRY_FAIL(put_steps(w, problem, rho, force));
fail:
    free(rho);
    free(modulus);
    free(force);
    return rc;
}

static void put_heading(writer *w, const char *title)
{
    char line[128];
    put_text(w, "*HEADING\n");
    snprintf(line, sizeof line, "%s", title && title[0] && title[0] != '*' ? title : "mesh");
    for (char *c = line; *c; c++)
        if (!isprint((unsigned char)*c)) *c = ' ';
    put_text(w, line);
    put_text(w, "\n");
}

static int write_all(writer *w, const char *title, const hx_problem *problem)
{
    HX_TRY(hx_alloc_raw(&w->text, BUFFER, 1, "a block of text"));
    HX_TRY(name_sets(w));
    HX_TRY(hx_mesh_invert(w->mesh->n_node, w->mesh->node_orig, &w->node));
    HX_TRY(hx_mesh_invert(w->mesh->n_elem, w->mesh->elem_orig, &w->elem));
    w->own_node = are_usable(&w->mesh->node_number);
    w->own_elem = are_usable(&w->mesh->elem_number);
    put_heading(w, title);
    put_mesh(w, problem != NULL);
    HX_TRY(put_sets(w));
    if (problem) HX_TRY(put_job(w, problem));
    flush(w);
    return HX_OK;
}

int hx_abaqus_write(const char *path, const hx_mesh *mesh, const char *title,
                    const hx_problem *problem)
{
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, path));
    writer w = {.stream = file.stream, .mesh = mesh};
    int rc = write_all(&w, title, problem);
    if (rc == HX_OK) rc = hx_atomic_file_commit(&file);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", path);
    free(w.text);
    free(w.node);
    free(w.elem);
    free(w.name);
    hx_atomic_file_free(&file);
    return rc;
}
