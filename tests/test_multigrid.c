/* What a device does for multigrid, against dense matrices built in double from the definition in
 * lattice.h.
 *
 *     test_multigrid [cpu | cuda] */
#include "box_part.h"
#include "core/lattice.h"
#include "core/multigrid.h"
#include "dense_model.h"

enum { DOF = HX_MG_DOF };

/* A problem, its lattices on the device and, of the finest lattice, P without supports. */
typedef struct grids {
    hx_mesh mesh;
    hx_problem problem;
    hx_operator op;
    hx_lattice lattice;
    hx_mg_mesh m;
    hx_mg_level level[HX_LATTICE_LEVELS];
    int32_t *place[HX_LATTICE_LEVELS];  /* [n_node][3] */
    double first[HX_LATTICE_LEVELS][3]; /* of place 0 from the origin, over the unit */
    double *modulus;
    float *d_m; /* of the mesh */
    int64_t n_dof, n_col;
    double *p; /* [n_dof][n_col] */
} grids;

static const hx_multigrid_ops *ops;
static const char *context;

static double *new_doubles(int64_t n)
{
    double *x = calloc((size_t)n, sizeof *x);
    if (!x) abort();
    return x;
}

static double *random_doubles(int64_t n, uint64_t seed)
{
    double *x = new_doubles(n);
    for (int64_t k = 0; k < n; k++) /* floats, so that no rounding comes in between */
        x[k] = (double)(float)fixture_uniform(&seed, -1.0, 1.0);
    return x;
}

static void *put(const void *from, size_t bytes)
{
    void *d_p = NULL;
    CHECK_OK(device.ops->alloc(&device, bytes, &d_p));
    if (d_p && from) CHECK_OK(device.ops->upload(&device, d_p, from, bytes));
    return d_p;
}

static void set_floats(float *d_to, int64_t n, const double *from)
{
    float *x = malloc((size_t)n * sizeof *x);
    if (!x) abort();
    for (int64_t k = 0; k < n; k++) x[k] = (float)from[k];
    CHECK_OK(device.ops->upload(&device, d_to, x, (size_t)n * sizeof *x));
    free(x);
}

static float *put_floats(int64_t n, const double *from)
{
    float *d_x = put(NULL, (size_t)n * sizeof *d_x);
    if (d_x) set_floats(d_x, n, from);
    return d_x;
}

static double *get_floats(int64_t n, const float *d_from)
{
    float *x = malloc((size_t)n * sizeof *x);
    double *to = new_doubles(n);
    if (!x) abort();
    CHECK_OK(device.ops->download(&device, x, d_from, (size_t)n * sizeof *x));
    for (int64_t k = 0; k < n; k++) to[k] = (double)x[k];
    free(x);
    return to;
}

static void release(void *d_p)
{
    device.ops->release(&device, d_p);
}

/* Largest difference over the largest entry. */
static double apart(int64_t n, const double *a, const double *b)
{
    double off = 0.0, size = 0.0;
    for (int64_t k = 0; k < n; k++) {
        const double d = fabs(a[k] - b[k]);
        off = d <= off ? off : d;
        size = fmax(size, fabs(b[k]));
    }
    return off / size;
}

#define CHECK_APART(n, a, b, tolerance)                                                            \
    do {                                                                                           \
        const double apart_ = apart(n, a, b);                                                      \
        CHECK_MSG(apart_ <= (tolerance), "%s: apart by %g", context, apart_);                      \
    } while (0)

/* ---- models ---- */

static int l_shaped(int i, int j, int k)
{
    (void)j;
    return i < 4 || k < 3;
}

static int with_slot(int i, int j, int k)
{
    (void)k;
    return j != 2 || i >= 5;
}

/* Contrast 1: solid. Else each element at either end or in between, at random. */
typedef struct sample {
    const char *name;
    box_part part;
    double coarsening, contrast, young;
} sample;

static const sample samples[] = {
    {"solid box", {.n = {9, 5, 4}}, 3.0, 1.0, 1.0},
    {"distorted box", {.n = {10, 6, 4}, .distort = 0.2}, 2.0, 1e3, 1.0},
    {"L of solid and void", {.n = {9, 4, 7}, .keep = l_shaped, .distort = 0.1}, 2.0, 1e9, 2e5},
    {"slot, tiny", {.n = {10, 5, 3}, .keep = with_slot, .scale = 1e-6}, 2.0, 1e9, 2e11},
    {"graded, far away", {.n = {8, 6, 5}, .ratio = 5.0, .offset = 1e6, .distort = 0.1}, 1.0, 10, 1},
    {"rod", {.n = {14, 1, 1}, .distort = 0.1}, 1.0, 10.0, 1.0},
};
enum { N_SAMPLE = sizeof samples / sizeof samples[0] };

static void make_problem(grids *g, const sample *s)
{
    const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"right", "test", HX_FIX_Y, {0.0, 0.0, 0.0}}};
    const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, 1.0}, 1};
    hx_problem_params params = fixture_problem();
    uint64_t seed = 5;
    params.support = support;
    params.n_support = 2;
    params.load = &load;
    params.n_load = 1;
    params.young = s->young;
    CHECK_OK(box_part_create(&g->mesh, &s->part));
    CHECK_OK(fixture_finish(&g->mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&g->problem, &g->mesh, &params));
    CHECK_OK(hx_operator_create(&g->op, &device, hx_strategy_find(device.ops->name, "otf"),
                                HX_LAYOUT_INTERLEAVED, &g->problem, 0));
    g->modulus = new_doubles(g->mesh.n_elem);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) {
        const double x = fixture_uniform(&seed, -0.5, 1.5);
        g->modulus[e] = s->young * pow(s->contrast, -fmin(fmax(x, 0.0), 1.0));
    }
    CHECK_OK(hx_operator_set_modulus(&g->op, g->modulus));
    if (g->op.strategy->prepare_single) CHECK_OK(g->op.strategy->prepare_single(g->op.state));
}

static void put_mesh(grids *g)
{
    const hx_lattice *l = &g->lattice;
    const size_t word = sizeof(int32_t), n_cell = (size_t)l->n_cell,
                 n_elem = (size_t)g->mesh.n_elem, n_node = (size_t)g->mesh.n_node;
    hx_mg_mesh *m = &g->m;
    m->model = &g->op.model;
    m->n_cell = l->n_cell;
    m->unit = l->unit;
    memcpy(m->origin, l->origin, sizeof m->origin);
    memcpy(m->size, l->size, sizeof m->size);
    memcpy(m->colour_at, l->colour_at, sizeof m->colour_at);
    m->d_cell = put(l->cell, 3 * n_cell * word);
    m->d_cell_corner = put(l->cell_corner, 8 * n_cell * word);
    m->d_cell_elem = put(l->cell_elem, n_elem * word);
    m->d_cell_elem_at = put(l->cell_elem_at, (n_cell + 1) * word);
    m->d_cell_node = put(l->cell_node, n_node * word);
    m->d_cell_node_at = put(l->cell_node_at, (n_cell + 1) * word);
    m->d_node_cell = put(l->node_cell, 8 * (size_t)l->level[0].n_node * word);
    m->d_coloured = put(l->coloured, n_cell * word);
    m->d_partial = put(NULL, n_cell * 8 * DOF * sizeof(float));
    m->d_position = put(l->position, 3 * n_node * sizeof(float));
    m->d_fixed = put(g->problem.fixed, n_node);
}

static void put_level(const hx_lattice_level *from, hx_mg_level *to)
{
    const size_t n = (size_t)from->n_node, word = sizeof(int32_t), vector = n * DOF * sizeof(float);
    const hx_mg_smoother none = {0};
    to->n_node = from->n_node;
    for (int i = 0; i < 3; i++) to->step[i] = (float)from->step[i];
    memcpy(to->mode, from->mode, sizeof to->mode);
    to->d_neighbour = put(from->neighbour, 27 * n * word);
    to->d_child = from->child ? put(from->child, 27 * n * word) : NULL;
    to->d_parent = from->parent ? put(from->parent, 8 * n * word) : NULL;
    to->d_matrix = put(NULL, 27 * DOF * vector);
    to->d_m = put(NULL, vector);
    to->d_b = put(NULL, vector);
    to->d_x = put(NULL, vector);
    to->d_y = put(NULL, vector);
    to->d_d = put(NULL, vector);
    to->d_v = put(NULL, vector);
    to->d_smoother = put(&none, sizeof none);
}

/* Places of the finest nodes from the cells' corners, of the others from their children. */
static void find_places(grids *g)
{
    const hx_lattice *l = &g->lattice;
    for (int k = 0; k < l->n_level; k++) {
        const int64_t n = l->level[k].n_node;
        int32_t *place = malloc(3 * (size_t)n * sizeof *place);
        if (!place) abort();
        g->place[k] = place;
        for (int i = 0; k > 0 && i < 3; i++) /* a single node stands in the middle of its cell */
            g->first[k][i] =
                g->first[k - 1][i] +
                (l->level[k].mode[i] == HX_LATTICE_COLLAPSE ? 0.5 * l->level[k - 1].step[i] : 0.0);
        for (int64_t c = 0; k == 0 && c < l->n_cell; c++)
            for (int i = 0; i < 24; i++)
                place[3 * l->cell_corner[8 * c + i / 3] + i % 3] =
                    l->cell[3 * c + i % 3] + (i / 3 >> i % 3 & 1);
        for (int64_t a = 0; k > 0 && a < n; a++)
            for (int o = 0; o < 27; o++) {
                const int to[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
                const int64_t b = l->level[k].child[o * n + a];
                for (int i = 0; b >= 0 && i < 3; i++) {
                    const int32_t from = g->place[k - 1][3 * b + i] - to[i];
                    place[3 * a + i] = l->level[k].mode[i] == HX_LATTICE_HALVE ? from / 2 : 0;
                }
            }
    }
}

/* row[6 j ..] += w (u_j + theta_j x d), three rows of length n_col. */
static void add_motion(double *row, int64_t n_col, int64_t j, double w, const double d[3])
{
    for (int i = 0; i < 3; i++) {
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        row[i * n_col + DOF * j + i] = w;
        row[i * n_col + DOF * j + 3 + p] = w * d[q];
        row[i * n_col + DOF * j + 3 + q] = -w * d[p];
    }
}

static void fill_p(grids *g)
{
    const hx_lattice *l = &g->lattice;
    g->n_dof = 3 * g->mesh.n_node;
    g->n_col = DOF * l->level[0].n_node;
    g->p = new_doubles(g->n_dof * g->n_col);
    for (int64_t a = 0; a < g->mesh.n_node; a++)
        for (int64_t j = 0; j < l->level[0].n_node; j++) {
            double w = 1.0, d[3];
            for (int i = 0; i < 3; i++) {
                const int32_t at = g->place[0][3 * j + i];
                w *= fmax(0.0, 1.0 - fabs((double)l->position[3 * a + i] - at));
                d[i] = (g->mesh.xyz[3 * a + i] - l->origin[i] - at * l->size[i]) / l->unit;
            }
            if (w > 0.0) add_motion(g->p + 3 * a * g->n_col, g->n_col, j, w, d);
        }
}

static void make_grids(grids *g, const sample *s)
{
    double *d_diag;
    memset(g, 0, sizeof *g);
    make_problem(g, s);
    CHECK_OK(hx_lattice_create(&g->lattice, &g->mesh, s->coarsening, 8));
    put_mesh(g);
    for (int k = 0; k < g->lattice.n_level; k++) put_level(&g->lattice.level[k], &g->level[k]);
    find_places(g);
    fill_p(g);
    g->d_m = put(NULL, (size_t)g->n_dof * sizeof(float));
    d_diag = put(NULL, (size_t)g->n_dof * sizeof(double));
    CHECK_OK(hx_operator_diagonal(&g->op, d_diag));
    CHECK_OK(ops->invert(&device, g->n_dof, d_diag, g->d_m));
    release(d_diag);
    printf("%s: %lld unknowns, %lld on the first of %d lattices\n", s->name, (long long)g->n_dof,
           (long long)g->n_col, g->lattice.n_level);
}

static void free_grids(grids *g)
{
    void *const of_mesh[] = {g->m.d_cell,         g->m.d_cell_corner, g->m.d_cell_elem,
                             g->m.d_cell_elem_at, g->m.d_cell_node,   g->m.d_cell_node_at,
                             g->m.d_node_cell,    g->m.d_coloured,    g->m.d_partial,
                             g->m.d_position,     g->m.d_fixed,       g->d_m};
    for (size_t i = 0; i < sizeof of_mesh / sizeof of_mesh[0]; i++) release(of_mesh[i]);
    for (int k = 0; k < g->lattice.n_level; k++) {
        hx_mg_level *l = &g->level[k];
        void *const owned[] = {l->d_neighbour, l->d_child, l->d_parent,  l->d_matrix,
                               l->d_m,         l->d_b,     l->d_x,       l->d_y,
                               l->d_d,         l->d_v,     l->d_smoother};
        for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) release(owned[i]);
        free(g->place[k]);
    }
    hx_lattice_free(&g->lattice);
    hx_operator_free(&g->op);
    hx_problem_free(&g->problem);
    hx_mesh_free(&g->mesh);
    free(g->modulus);
    free(g->p);
}

static int fixed_at(const grids *g, int64_t dof)
{
    return g->problem.fixed[dof / 3] >> (dof % 3) & 1;
}

/* ---- transfers between mesh and lattice ---- */

/* x + P y on free degrees of freedom, computed by the device. */
static double *prolonged(const grids *g, const double *x, const double *y)
{
    float *d_y = put_floats(g->n_col, y), *d_x = put_floats(g->n_dof, x);
    CHECK_OK(ops->mesh_prolong(&device, &g->m, d_y, g->d_m, d_x));
    double *sum = get_floats(g->n_dof, d_x);
    release(d_y);
    release(d_x);
    return sum;
}

static void check_prolong(const grids *g)
{
    double *y = random_doubles(g->n_col, 3), *x = random_doubles(g->n_dof, 4);
    double *sum = prolonged(g, x, y);
    for (int64_t k = 0; k < g->n_dof; k++) {
        if (fixed_at(g, k)) {
            CHECK(sum[k] == x[k]);
            continue;
        }
        for (int64_t c = 0; c < g->n_col; c++) x[k] += g->p[k * g->n_col + c] * y[c];
    }
    CHECK_APART(g->n_dof, sum, x, 2e-6);
    free(y);
    free(x);
    free(sum);
}

/* P'(r - t), and x'P' r = (P x)' r. */
static void check_restrict(const grids *g)
{
    double *r = random_doubles(g->n_dof, 5), *t = random_doubles(g->n_dof, 6),
           *y = random_doubles(g->n_col, 7), *zero = new_doubles(g->n_dof),
           *expected = new_doubles(g->n_col), left = 0.0, right = 0.0, size = 0.0;
    for (int64_t k = 0; k < g->n_dof; k++)
        if (fixed_at(g, k)) r[k] = t[k] = 0.0; /* as residuals are */
    float *d_t = put_floats(g->n_dof, t);
    double *d_r = fixture_put(&device, (size_t)g->n_dof, r);
    CHECK_OK(ops->mesh_restrict(&device, &g->m, d_r, d_t, &g->level[0]));
    double *b = get_floats(g->n_col, g->level[0].d_b), *u = prolonged(g, zero, y);
    for (int64_t k = 0; k < g->n_dof; k++)
        for (int64_t c = 0; c < g->n_col; c++)
            expected[c] += g->p[k * g->n_col + c] * (r[k] - t[k]);
    CHECK_APART(g->n_col, b, expected, 2e-6);
    for (int64_t k = 0; k < g->n_dof; k++) left += u[k] * (r[k] - t[k]);
    for (int64_t c = 0; c < g->n_col; c++) right += y[c] * b[c];
    for (int64_t k = 0; k < g->n_dof; k++) size += fabs(u[k] * (r[k] - t[k]));
    CHECK_MSG(fabs(left - right) <= 1e-6 * size, "%s: %g, %g", context, left, right);
    release(d_t);
    release(d_r);
    free(r);
    free(t);
    free(y);
    free(zero);
    free(expected);
    free(b);
    free(u);
}

/* Motion 0 .. 2: translation; 3 .. 5: rotation about an axis through the middle of the box. */
static void rigid_at(const grids *g, int motion, const double x[3], double u[3])
{
    const hx_lattice *l = &g->lattice;
    const int i = motion % 3, p = (i + 1) % 3, q = (i + 2) % 3;
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (x[k] - 0.5 * (g->mesh.box_min[k] + g->mesh.box_max[k])) / l->unit;
    u[0] = u[1] = u[2] = 0.0;
    if (motion < 3)
        u[i] = 1.0;
    else
        u[q] = d[p], u[p] = -d[q];
}

/* The motion on lattice k. */
static double *rigid_on_lattice(const grids *g, int k, int motion)
{
    const hx_lattice_level *level = &g->lattice.level[k];
    double *y = new_doubles(DOF * level->n_node);
    for (int64_t j = 0; j < level->n_node; j++) {
        double x[3];
        for (int i = 0; i < 3; i++)
            x[i] = g->lattice.origin[i] +
                   (g->first[k][i] + g->place[k][3 * j + i] * level->step[i]) * g->lattice.unit;
        rigid_at(g, motion, x, y + DOF * j);
        if (motion >= 3) y[DOF * j + motion] = 1.0;
    }
    return y;
}

static void check_rigid(const grids *g)
{
    for (int motion = 0; motion < 6; motion++) {
        double *y = rigid_on_lattice(g, 0, motion), *zero = new_doubles(g->n_dof),
               *u = prolonged(g, zero, y), *expected = new_doubles(g->n_dof);
        for (int64_t a = 0; a < g->mesh.n_node; a++) {
            double at[3];
            rigid_at(g, motion, g->mesh.xyz + 3 * a, at);
            for (int i = 0; i < 3; i++)
                if (!fixed_at(g, 3 * a + i)) expected[3 * a + i] = at[i];
        }
        CHECK_APART(g->n_dof, u, expected, 2e-6);
        free(y);
        free(zero);
        free(u);
        free(expected);
        for (int k = 1; k < g->lattice.n_level; k++) { /* of each lattice, on the finer one */
            const hx_mg_level *fine = &g->level[k - 1], *coarse = &g->level[k];
            const int64_t n = DOF * fine->n_node;
            double *from = rigid_on_lattice(g, k, motion), *to = rigid_on_lattice(g, k - 1, motion);
            zero = new_doubles(n);
            float *d_y = put_floats(DOF * coarse->n_node, from), *d_x = put_floats(n, zero);
            CHECK_OK(ops->prolong_from(&device, coarse, d_y, fine, d_x));
            u = get_floats(n, d_x);
            CHECK_APART(n, u, to, 2e-6);
            release(d_y);
            release(d_x);
            free(from);
            free(to);
            free(zero);
            free(u);
        }
    }
}

/* ---- Galerkin matrices ---- */

/* Columns that P has at the nodes of an element. */
static int find_columns(const grids *g, const int32_t conn[8], int64_t column[8 * DOF])
{
    int n = 0;
    for (int64_t c = 0; c < g->n_col; c++) {
        int used = 0;
        for (int k = 0; k < 24; k++)
            used |= g->p[(3 * (int64_t)conn[k / 3] + k % 3) * g->n_col + c] != 0.0;
        if (used && n < 8 * DOF) column[n++] = c;
    }
    return n;
}

/* P'K P with fixed degrees of freedom left out, element by element. */
static double *galerkin_of_mesh(const grids *g)
{
    double *a = new_doubles(g->n_col * g->n_col);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) {
        const int32_t *conn = g->mesh.conn + 8 * e;
        double x[8][3], ke[24][24], p[24][8 * DOF], kp[24][8 * DOF];
        int64_t column[8 * DOF];
        const int n = find_columns(g, conn, column);
        for (int k = 0; k < 8; k++) memcpy(x[k], g->mesh.xyz + 3 * (int64_t)conn[k], sizeof x[k]);
        element_stiffness(x, g->problem.poisson, ke);
        for (int k = 0; k < 24; k++) {
            const int64_t dof = 3 * (int64_t)conn[k / 3] + k % 3;
            for (int c = 0; c < n; c++)
                p[k][c] = fixed_at(g, dof) ? 0.0 : g->p[dof * g->n_col + column[c]];
        }
        for (int k = 0; k < 24; k++)
            for (int c = 0; c < n; c++) {
                kp[k][c] = 0.0;
                for (int l = 0; l < 24; l++) kp[k][c] += g->modulus[e] * ke[k][l] * p[l][c];
            }
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++)
                for (int k = 0; k < 24; k++)
                    a[column[r] * g->n_col + column[c]] += p[k][r] * kp[k][c];
    }
    return a;
}

/* P of lattice k in lattice k - 1, [6 n_fine][6 n_coarse]. */
static double *lattice_p(const grids *g, int k)
{
    const hx_lattice_level *fine = &g->lattice.level[k - 1], *coarse = fine + 1;
    const int64_t n_col = DOF * coarse->n_node;
    double *p = new_doubles(DOF * fine->n_node * n_col);
    for (int64_t a = 0; a < fine->n_node; a++)
        for (int64_t j = 0; j < coarse->n_node; j++) {
            double w = 1.0, d[3];
            for (int i = 0; i < 3; i++) {
                const int32_t at = g->place[k - 1][3 * a + i], up = g->place[k][3 * j + i];
                if (coarse->mode[i] == HX_LATTICE_HALVE) w *= fmax(0.0, 1.0 - fabs(at / 2.0 - up));
                d[i] =
                    g->first[k - 1][i] + at * fine->step[i] - g->first[k][i] - up * coarse->step[i];
            }
            if (w == 0.0) continue;
            add_motion(p + DOF * a * n_col, n_col, j, w, d);
            for (int i = 3; i < 6; i++) p[(DOF * a + i) * n_col + DOF * j + i] = w;
        }
    return p;
}

/* P'A P, P [n][m] sparse. */
static double *triple(int64_t n, int64_t m, const double *p, const double *a)
{
    double *ap = new_doubles(n * m), *sum = new_doubles(m * m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t c = 0; a[i * n + k] != 0.0 && c < m; c++)
                ap[i * m + c] += a[i * n + k] * p[k * m + c];
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < m; r++)
            for (int64_t c = 0; p[i * m + r] != 0.0 && c < m; c++)
                sum[r * m + c] += p[i * m + r] * ap[i * m + c];
    free(ap);
    return sum;
}

/* Entries over those of the nodes' diagonals: void next to solid counts as much as solid. */
static void check_matrix(int64_t n, const double *a, const double *expected, const char *what)
{
    double *size = new_doubles(n), off = 0.0, skew = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i / DOF * DOF;
        for (int64_t k = first; k < first + DOF; k++)
            size[i] = fmax(size[i], sqrt(fabs(expected[k * n + k])));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double scale = size[i] * size[j], d = fabs(a[i * n + j] - expected[i * n + j]),
                         s = fabs(a[i * n + j] - a[j * n + i]);
            off = d <= off * scale ? off : d / scale;
            skew = s <= skew * scale ? skew : s / scale;
        }
    CHECK_MSG(off <= 1e-5, "%s: %s off by %g", context, what, off);
    CHECK_MSG(skew <= 1e-5, "%s: %s unsymmetric by %g", context, what, skew);
    printf("    %s: off by %.1e, unsymmetric by %.1e\n", what, off, skew);
    free(size);
}

static double *dense_of(const hx_mg_level *level)
{
    const int64_t n = DOF * level->n_node;
    double *a = new_doubles(n * n);
    CHECK_OK(ops->dense(&device, level, a));
    return a;
}

static void check_galerkin(const grids *g)
{
    double *expected = galerkin_of_mesh(g);
    CHECK_OK(ops->mesh_galerkin(&device, &g->m, &g->level[0]));
    double *a = dense_of(&g->level[0]);
    check_matrix(g->n_col, a, expected, "P'KP");
    free(expected);
    for (int k = 1; k < g->lattice.n_level; k++) {
        const int64_t n = DOF * g->level[k - 1].n_node, m = DOF * g->level[k].n_node;
        double *p = lattice_p(g, k);
        expected = triple(n, m, p, a);
        CHECK_OK(ops->galerkin(&device, &g->level[k - 1], &g->level[k]));
        free(a);
        a = dense_of(&g->level[k]);
        check_matrix(m, a, expected, "P'AP");
        free(expected);
        free(p);
    }
    free(a);
}

/* ---- on a lattice ---- */

/* y = A x + c in double, A [n][n]. */
static double *dense_product(int64_t n, const double *a, const double *x)
{
    double *y = new_doubles(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
    return y;
}

/* Rows of void and of solid differ by as much as the contrast: each over its own diagonal. */
static void check_rows(const hx_mg_level *level, const double *a, const double *y,
                       const double *expected, const char *what)
{
    const int64_t n = DOF * level->n_node;
    double off = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double size = 0.0;
        for (int64_t j = 0; j < n; j++) size += fabs(a[i * n + j]);
        const double d = fabs(y[i] - expected[i]);
        off = d <= off * size ? off : d / size;
    }
    CHECK_MSG(off <= 1e-6, "%s: %s off by %g", context, what, off);
}

static void check_products(const hx_mg_level *level, const double *a)
{
    const int64_t n = DOF * level->n_node;
    double *x = random_doubles(n, 8), *b = random_doubles(n, 9), *expected = dense_product(n, a, x);
    float *d_x = put_floats(n, x), *d_y = put(NULL, (size_t)n * sizeof(float));
    for (int64_t i = 0; i < n; i++) b[i] = (double)(float)(b[i] * a[i * n + i]);
    set_floats(level->d_b, n, b);
    CHECK_OK(ops->multiply(&device, level, d_x, d_y));
    double *y = get_floats(n, d_y);
    check_rows(level, a, y, expected, "product");
    free(y);
    CHECK_OK(ops->residual(&device, level, d_x, d_y));
    y = get_floats(n, d_y);
    for (int64_t i = 0; i < n; i++) expected[i] = b[i] - expected[i];
    check_rows(level, a, y, expected, "residual");
    for (int64_t j = 0, wrong = 0; n <= 300 && j < n; j++) { /* column by column, the same bits */
        for (int64_t i = 0; i < n; i++) x[i] = i == j;
        set_floats(d_x, n, x);
        CHECK_OK(ops->multiply(&device, level, d_x, d_y));
        free(y);
        y = get_floats(n, d_y);
        for (int64_t i = 0; i < n; i++) wrong += y[i] != a[i * n + j];
        CHECK_MSG(wrong == 0, "%s: column %lld", context, (long long)j);
    }
    release(d_x);
    release(d_y);
    free(x);
    free(b);
    free(y);
    free(expected);
}

/* Chebyshev steps by hand on the dense matrix, from zero and from a vector. */
static void check_smoothing(const hx_mg_level *level, const double *a)
{
    enum { STEPS = 4 };
    const int64_t n = DOF * level->n_node;
    hx_mg_smoother s;
    double *b = get_floats(n, level->d_b), *m = get_floats(n, level->d_m);
    double *x = new_doubles(n), *d = new_doubles(n), worst = 0.0;
    float *d_old = put(NULL, (size_t)n * sizeof(float)),
          *d_new = put(NULL, (size_t)n * sizeof(float));
    CHECK_OK(ops->smoother_set(&device, level->d_smoother, 1.1, 16.0));
    CHECK_OK(device.ops->download(&device, &s, level->d_smoother, sizeof s));
    for (int64_t i = 0; i < n; i++) CHECK_REL(m[i], a[i * n + i] > 0 ? 1 / a[i * n + i] : 0, 1e-6);
    for (int step = 0; step < 2 * STEPS; step++) {
        const int i = step % STEPS;
        double *ax = dense_product(n, a, x), off;
        for (int64_t k = 0; k < n; k++) {
            d[k] = (i > 0 ? (double)s.a[i] * d[k] : 0.0) + (double)s.b[i] * m[k] * (b[k] - ax[k]);
            x[k] += d[k];
        }
        CHECK_OK(ops->smooth(&device, level, i, step == 0 ? NULL : d_old, d_new));
        float *const swap = d_old;
        d_old = d_new;
        d_new = swap;
        double *y = get_floats(n, d_old);
        off = apart(n, y, x);
        worst = fmax(worst, off);
        CHECK_MSG(off <= 1e-5, "%s: step %d of the smoother off by %g", context, step, off);
        free(y);
        free(ax);
    }
    printf("    smoothing: off by %.1e\n", worst);
    release(d_old);
    release(d_new);
    free(b);
    free(m);
    free(x);
    free(d);
}

/* 1 if a[n][n] (destroyed) is positive definite: Cholesky meets no pivot that is not. */
static int is_definite(int64_t n, double *a)
{
    for (int64_t k = 0; k < n; k++) {
        const double *row = a + k * n;
        if (!(row[k] > 0.0)) return 0;
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = row[i] / row[k];
            double *to = a + i * n;
            if (factor == 0.0) continue;
#ifdef _OPENMP
#pragma omp simd
#endif
            for (int64_t j = i; j < n; j++) to[j] -= factor * row[j];
        }
    }
    return 1;
}

/* 1 if lambda is above the largest eigenvalue of D^-1 A, rows with m = 0 left out. */
static int is_bound(int64_t n, const double *a, const double *m, double lambda)
{
    double *b = new_doubles(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double scaled = m[i] > 0.0 && m[j] > 0.0 ? a[i * n + j] * sqrt(m[i] * m[j]) : 0.0;
            b[i * n + j] = (i == j ? lambda : 0.0) - scaled;
        }
    const int definite = is_definite(n, b);
    free(b);
    return definite;
}

static void check_lambda(int64_t n, const double *a, const double *m, double lambda,
                         const char *what)
{
    static const double more[] = {1.01, 1.02, 1.05, 1.1};
    int i = 0;
    CHECK_MSG(!is_bound(n, a, m, lambda * (1.0 - 1e-5)), "%s: %s above the largest: %g", context,
              what, lambda);
    while (i < 4 && !is_bound(n, a, m, lambda * more[i])) i++;
    CHECK_MSG(i < 4, "%s: %s too low: %g", context, what, lambda);
    printf("    lambda of %s: %.4f, low by less than %g\n", what, lambda, i < 4 ? more[i] : 9.9);
}

static double lambda_of(const hx_mg_smoother *d_smoother)
{
    hx_mg_smoother s;
    CHECK_OK(device.ops->download(&device, &s, d_smoother, sizeof s));
    return s.lambda;
}

static void check_lattice(const hx_mg_level *level, int first)
{
    const int64_t n = DOF * level->n_node;
    double *a = dense_of(level);
    CHECK_OK(ops->diagonal(&device, level));
    CHECK_OK(ops->power_start(&device, n, level->d_m, level->d_v));
    for (int i = 0; i < 20; i++) { /* as many as for a first design */
        CHECK_OK(ops->multiply(&device, level, level->d_v, level->d_y));
        CHECK_OK(
            ops->power_step(&device, n, level->d_m, level->d_y, level->d_v, level->d_smoother));
    }
    double *m = get_floats(n, level->d_m);
    check_lambda(n, a, m, lambda_of(level->d_smoother), first ? "first lattice" : "lattice");
    check_products(level, a);
    check_smoothing(level, a);
    free(a);
    free(m);
}

/* Between lattices, against P in double. */
static void check_transfers(const grids *g, int k)
{
    const hx_mg_level *fine = &g->level[k - 1], *coarse = &g->level[k];
    const int64_t n = DOF * fine->n_node, m = DOF * coarse->n_node;
    double *p = lattice_p(g, k), *r = random_doubles(n, 11), *y = random_doubles(m, 12),
           *x = random_doubles(n, 13), *b = new_doubles(m);
    float *d_r = put_floats(n, r), *d_y = put_floats(m, y), *d_x = put_floats(n, x);
    CHECK_OK(ops->restrict_to(&device, fine, d_r, coarse));
    CHECK_OK(ops->prolong_from(&device, coarse, d_y, fine, d_x));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            b[j] += p[i * m + j] * r[i];
            x[i] += p[i * m + j] * y[j];
        }
    double *got_b = get_floats(m, coarse->d_b), *got_x = get_floats(n, d_x);
    CHECK_APART(m, got_b, b, 2e-6);
    CHECK_APART(n, got_x, x, 2e-6);
    release(d_r);
    release(d_y);
    release(d_x);
    free(p);
    free(r);
    free(y);
    free(x);
    free(b);
    free(got_b);
    free(got_x);
}

/* ---- on the mesh ---- */

static double *stiffness_of_mesh(const grids *g)
{
    const int64_t n = g->n_dof;
    double *k = new_doubles(n * n);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) {
        const int32_t *conn = g->mesh.conn + 8 * e;
        double x[8][3], ke[24][24];
        for (int a = 0; a < 8; a++) memcpy(x[a], g->mesh.xyz + 3 * (int64_t)conn[a], sizeof x[a]);
        element_stiffness(x, g->problem.poisson, ke);
        for (int r = 0; r < 24; r++)
            for (int c = 0; c < 24; c++) {
                const int64_t i = 3 * (int64_t)conn[r / 3] + r % 3,
                              j = 3 * (int64_t)conn[c / 3] + c % 3;
                k[i * n + j] += g->modulus[e] * ke[r][c];
            }
    }
    return k;
}

static void check_mesh_smoother(const grids *g)
{
    const int64_t n = g->n_dof;
    const size_t bytes = (size_t)n * sizeof(float);
    const hx_mg_smoother none = {0};
    hx_mg_smoother *d_smoother = put(&none, sizeof none), s;
    float *d_v = put(NULL, bytes), *d_t = put(NULL, bytes), *d_x = put(NULL, bytes),
          *d_d = put(NULL, bytes);
    double *k = stiffness_of_mesh(g), *m = get_floats(n, g->d_m), *r = random_doubles(n, 14);
    CHECK_OK(ops->power_start(&device, n, g->d_m, d_v));
    for (int i = 0; i < 20; i++) {
        CHECK_OK(hx_operator_apply_single(&g->op, d_v, d_t));
        CHECK_OK(ops->power_step(&device, n, g->d_m, d_t, d_v, d_smoother));
    }
    for (int64_t i = 0; i < n; i++)
        CHECK_REL(m[i], fixed_at(g, i) ? 0.0 : 1.0 / k[i * n + i], 1e-6);
    check_lambda(n, k, m, lambda_of(d_smoother), "mesh");
    CHECK_OK(ops->smoother_set(&device, d_smoother, 1.1, 4.0));
    CHECK_OK(device.ops->download(&device, &s, d_smoother, sizeof s));
    double *d_r = fixture_put(&device, (size_t)n, r), *d_z = fixture_put(&device, (size_t)n, r);
    double *t = random_doubles(n, 15), *x = new_doubles(n), *d = new_doubles(n), *z;
    CHECK_OK(ops->mesh_start(&device, n, d_smoother, d_r, g->d_m, d_d, d_x));
    for (int64_t i = 0; i < n; i++) x[i] = d[i] = (double)s.b[0] * m[i] * r[i];
    for (int step = 0; step < 3; step++) { /* with a direction before it, without, to z */
        const int i = step == 0;
        set_floats(d_t, n, t);
        CHECK_OK(ops->mesh_step(&device, n, d_smoother, i, d_r, d_t, g->d_m, step < 2 ? d_d : NULL,
                                d_x, step == 2 ? d_z : NULL));
        for (int64_t j = 0; j < n; j++) {
            d[j] = (i ? (double)s.a[1] * d[j] : 0.0) + (double)s.b[i] * m[j] * (r[j] - t[j]);
            x[j] += d[j];
        }
        z = step == 2 ? new_doubles(n) : get_floats(n, d_x);
        if (step == 2) fixture_get(&device, (size_t)n, z, d_z);
        CHECK_APART(n, z, x, 1e-6);
        for (int64_t j = 0; j < n; j++) CHECK(!fixed_at(g, j) || z[j] == 0.0);
        free(z);
    }
    void *const owned[] = {d_smoother, d_v, d_t, d_x, d_d, d_r, d_z};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) release(owned[i]);
    free(k);
    free(m);
    free(r);
    free(t);
    free(x);
    free(d);
}

/* ---- without a mesh ---- */

/* For one unknown with A = lambda: after k steps the error is the Chebyshev polynomial of degree k
 * that is 1 at 0, equally large between the bounds. */
static void check_chebyshev(void)
{
    static const double ratio[] = {4.0, 8.0, 16.0};
    for (int i = 0; i < 3; i++)
        for (int l = 0; l <= 50; l++) {
            hx_mg_smoother s = {.lambda = 3.0};
            const double lambda = 1.1 * 3.0 * l / 50.0, theta = 1.65 * (1.0 + 1.0 / ratio[i]),
                         delta = 1.65 * (1.0 - 1.0 / ratio[i]);
            double x = 0.0, d = 0.0, t[3] = {1.0, (theta - lambda) / delta, 0.0},
                   t0[3] = {1.0, theta / delta, 0.0};
            hx_mg_smoother_set(&s, 1.1, ratio[i]);
            for (int k = 0; k < HX_MG_MAX_DEGREE; k++) {
                d = (double)s.a[k] * d + (double)s.b[k] * (1.0 - lambda * x);
                x += d;
                CHECK_ABS(1.0 - lambda * x, t[1] / t0[1], 2e-6);
                t[2] = 2.0 * (theta - lambda) / delta * t[1] - t[0];
                t0[2] = 2.0 * theta / delta * t0[1] - t0[0];
                memmove(t, t + 1, 2 * sizeof *t);
                memmove(t0, t0 + 1, 2 * sizeof *t0);
            }
        }
    hx_mg_smoother s = {.lambda = 0.0}; /* an empty matrix: nothing happens */
    hx_mg_smoother_set(&s, 1.1, 4.0);
    for (int k = 0; k < HX_MG_MAX_DEGREE; k++) CHECK(s.b[k] == 0.0f && isfinite(s.a[k]));
}

static void check_dense_multiply(void)
{
    static const int64_t size[] = {6, 48, 237};
    context = "dense";
    for (int i = 0; i < 3; i++) {
        const int64_t n = size[i];
        double *a = random_doubles(n * n, 16), *b = random_doubles(n, 17);
        for (int64_t r = 0; r < n; r++)
            for (int64_t c = 0; c < r; c++) a[r * n + c] = a[c * n + r];
        double *expected = dense_product(n, a, b);
        float *d_a = put_floats(n * n, a), *d_b = put_floats(n, b), *d_y = put_floats(n, b);
        CHECK_OK(ops->dense_multiply(&device, n, d_a, d_b, d_y));
        double *y = get_floats(n, d_y);
        CHECK_APART(n, y, expected, 2e-6);
        release(d_a);
        release(d_b);
        release(d_y);
        free(a);
        free(b);
        free(y);
        free(expected);
    }
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    ops = device.ops->multigrid;
    CHECK(ops != NULL);
    if (!ops) TEST_END();
    check_chebyshev();
    check_dense_multiply();
    for (int i = 0; i < N_SAMPLE; i++) {
        static grids g;
        context = samples[i].name;
        make_grids(&g, &samples[i]);
        check_prolong(&g);
        check_restrict(&g);
        check_rigid(&g);
        check_galerkin(&g);
        for (int k = 0; k < g.lattice.n_level; k++) {
            check_lattice(&g.level[k], k == 0);
            if (k > 0) check_transfers(&g, k);
        }
        check_mesh_smoother(&g);
        free_grids(&g);
    }
    hx_device_close(&device);
    TEST_END();
}
