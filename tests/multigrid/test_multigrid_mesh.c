/* Device operations of multigrid on the mesh, against dense matrices in double precision: transfers
 * to and from the first coarse grid, rigid motions through all transfers, the Galerkin matrix of
 * the mesh, smoother and power iteration.
 *
 *     test_multigrid_mesh [cpu | cuda] */
#include "core/multigrid/coarse_springs.h"
#include "tests/lib/multigrid_model.h"

/* ---- transfers between mesh and coarse grid ---- */

/* x + P y on free degrees of freedom, computed by the device. */
static double *prolonged(const grids *g, const double *x, const double *y)
{
    float *d_y = put_floats(g->n_col, y), *d_x = put_floats(g->n_dof, x);
    CHECK_OK(ops->transfer->mesh_prolong(&device, &g->m, d_y, g->d_m, d_x));
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

/* P'(r - t), and y'P'r = (P y)'r. */
static void check_restrict(const grids *g)
{
    double *r = random_doubles(g->n_dof, 5), *t = random_doubles(g->n_dof, 6),
           *y = random_doubles(g->n_col, 7), *zero = new_doubles(g->n_dof),
           *expected = new_doubles(g->n_col), left = 0.0, right = 0.0, size = 0.0;
    for (int64_t k = 0; k < g->n_dof; k++)
        if (fixed_at(g, k)) r[k] = t[k] = 0.0; /* like residuals */
    float *d_t = put_floats(g->n_dof, t);
    double *d_r = fixture_put(&device, (size_t)g->n_dof, r);
    CHECK_OK(ops->transfer->mesh_restrict(&device, &g->m, d_r, d_t, &g->level[0]));
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

/* Motions 0 .. 2 are translations, 3 .. 5 rotations about axes through the centre of the box. */
static void rigid_at(const grids *g, int motion, const double x[3], double u[3])
{
    const hx_coarse *l = &g->coarse;
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

/* The motion on coarse grid k. */
static double *rigid_on_coarse(const grids *g, int k, int motion)
{
    const hx_coarse_level *level = &g->coarse.level[k];
    double *y = new_doubles(DOF * level->n_node);
    for (int64_t j = 0; j < level->n_node; j++) {
        double x[3];
        for (int i = 0; i < 3; i++)
            x[i] = g->coarse.origin[i] +
                   (g->first[k][i] + g->place[k][3 * j + i] * level->step[i]) * g->coarse.unit;
        rigid_at(g, motion, x, y + DOF * j);
        if (motion >= 3) y[DOF * j + motion] = 1.0;
    }
    return y;
}

static void check_rigid(const grids *g)
{
    for (int motion = 0; motion < 6; motion++) {
        double *y = rigid_on_coarse(g, 0, motion), *zero = new_doubles(g->n_dof),
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
        for (int k = 1; k < g->coarse.n_level; k++) { /* from each coarse grid to the finer one */
            const hx_mg_level *fine = &g->level[k - 1], *coarse = &g->level[k];
            const int64_t n = DOF * fine->n_node;
            double *from = rigid_on_coarse(g, k, motion), *to = rigid_on_coarse(g, k - 1, motion);
            zero = new_doubles(n);
            float *d_y = put_floats(DOF * coarse->n_node, from), *d_x = put_floats(n, zero);
            CHECK_OK(ops->transfer->prolong_from(&device, coarse, d_y, fine, d_x));
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

/* ---- the Galerkin matrix ---- */

/* Columns in which P is nonzero at the nodes of an element. */
static int find_columns(const grids *g, const int32_t conn[8], int64_t column[8 * DOF])
{
    const double *row[24];
    int n = 0;
    for (int k = 0; k < 24; k++) row[k] = g->p + (3 * (int64_t)conn[k / 3] + k % 3) * g->n_col;
    for (int64_t c = 0; c < g->n_col; c++) {
        int k = 0;
        while (k < 24 && row[k][c] == 0.0) k++;
        if (k < 24 && n < 8 * DOF) column[n++] = c;
    }
    return n;
}

/* to += factor * from, of n entries. */
static void add_row(int n, double *to, double factor, const double *from)
{
    for (int c = 0; c < n; c++) to[c] += factor * from[c];
}

/* Adds the contribution of one element to P'K P, without fixed degrees of freedom. */
static void add_element(const grids *g, int64_t e, double ke[24][24], double modulus, double *a)
{
    const int32_t *conn = g->mesh.conn + 8 * e;
    double p[24][8 * DOF], kp[24][8 * DOF] = {{0.0}}, sum[8 * DOF][8 * DOF] = {{0.0}};
    int64_t column[8 * DOF];
    const int n = find_columns(g, conn, column);
    for (int k = 0; k < 24; k++) {
        const int64_t dof = 3 * (int64_t)conn[k / 3] + k % 3;
        for (int c = 0; c < n; c++)
            p[k][c] = fixed_at(g, dof) ? 0.0 : g->p[dof * g->n_col + column[c]];
    }
    for (int k = 0; k < 24; k++)
        for (int l = 0; l < 24; l++) add_row(n, kp[k], modulus * ke[k][l], p[l]);
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 24; k++) /* half of P is zero */
            if (p[k][r] != 0.0) add_row(n, sum[r], p[k][r], kp[k]);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) a[column[r] * g->n_col + column[c]] += sum[r][c];
}

static void stiffness_of(const grids *g, int64_t e, double x[8][3], double ke[24][24])
{
    for (int k = 0; k < 8; k++)
        memcpy(x[k], g->mesh.xyz + 3 * (int64_t)g->mesh.conn[8 * e + k], sizeof x[k]);
    element_stiffness(x, g->problem.poisson, ke);
}

/* P'K P element by element, by definition. */
static double *exact_galerkin(const grids *g)
{
    double *a = new_doubles(g->n_col * g->n_col);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) {
        double x[8][3], ke[24][24];
        stiffness_of(g, e, x, ke);
        add_element(g, e, ke, g->modulus[e], a);
    }
    return a;
}

/* b := a^-1 b by elimination, for a positive definite a. */
static void solve_six(double a[6][6], double b[6][24])
{
    for (int k = 0; k < 6; k++)
        for (int r = 0; r < 6; r++) {
            const double factor = r == k ? 1.0 - 1.0 / a[k][k] : a[r][k] / a[k][k];
            for (int c = 0; c < 6; c++) a[r][c] -= factor * a[k][c] * (c >= k);
            for (int c = 0; c < 24; c++) b[r][c] -= factor * b[k][c];
        }
}

/* Ke if only mean strains contribute. Uniform strains U cause the forces F = Ke U = V B'D, where B
 * gives the mean strains, and U'F = V D; so V B'D B = F (U'F)^-1 F'. */
static void mean_stiffness(double x[8][3], double ke[24][24], double mean[24][24])
{
    double u[6][24] = {{0.0}}, f[6][24] = {{0.0}}, uf[6][6] = {{0.0}}, solved[6][24];
    for (int s = 0; s < 6; s++)
        for (int a = 0; a < 8; a++) {
            const int i = s % 3, j = s < 3 ? i : (i + 1) % 3;
            u[s][3 * a + i] += 0.5 * (x[a][j] - x[0][j]);
            u[s][3 * a + j] += 0.5 * (x[a][i] - x[0][i]);
        }
    for (int s = 0; s < 6; s++)
        for (int r = 0; r < 24; r++)
            for (int c = 0; c < 24; c++) f[s][r] += ke[r][c] * u[s][c];
    for (int s = 0; s < 6; s++)
        for (int t = 0; t < 6; t++)
            for (int r = 0; r < 24; r++) uf[s][t] += u[s][r] * f[t][r];
    memcpy(solved, f, sizeof f);
    solve_six(uf, solved);
    memset(mean, 0, 24 * sizeof mean[0]);
    for (int r = 0; r < 24; r++)
        for (int c = 0; c < 24; c++)
            for (int s = 0; s < 6; s++) mean[r][c] += f[s][r] * solved[s][c];
}

/* 1 if a cell has enough elements, no support, and no motion of a corner loses a tenth of its
 * energy when only mean strains contribute; computed by definition, with equal moduli. */
static int may_be_mean(const grids *g, int64_t cell)
{
    const hx_coarse *const l = &g->coarse;
    const int32_t begin = l->cell_elem_at[cell], end = l->cell_elem_at[cell + 1];
    double *const exact = new_doubles(g->n_col * g->n_col),
                  *const mean = new_doubles(g->n_col * g->n_col), least = 1.0;
    int may = end - begin >= HX_MG_MEAN_ELEMS;
    for (int32_t k = begin; k < end && may; k++) {
        const int64_t e = l->cell_elem[k];
        double x[8][3], ke[24][24], less[24][24];
        for (int i = 0; i < 24; i++)
            if (fixed_at(g, 3 * (int64_t)g->mesh.conn[8 * e + i / 3] + i % 3)) may = 0;
        stiffness_of(g, e, x, ke);
        mean_stiffness(x, ke, less);
        add_element(g, e, ke, 1.0, exact);
        add_element(g, e, less, 1.0, mean);
    }
    for (int64_t i = 0; i < g->n_col && may; i++) {
        const double e = exact[i * g->n_col + i];
        if (e > 0.0) least = fmin(least, mean[i * g->n_col + i] / e);
    }
    CHECK_MSG(!may || fabs(least - 0.9) > 1e-4, "%s: cell %lld is too close to the limit", context,
              (long long)cell);
    free(exact);
    free(mean);
    return may && least > 0.9;
}

/* [n_cell], and [n_elem] for the moduli of an update; or NULL */
static uint8_t *may_mean, *is_mean;

/* Finds the cells whose contributions may use mean strains, and returns how many; checks that the
 * device marks no others, and none that belong to a class. */
static int64_t find_means(const grids *g)
{
    const size_t n_cell = (size_t)g->coarse.n_cell;
    int64_t n = 0;
    may_mean = calloc(n_cell, 1);
    is_mean = calloc((size_t)g->mesh.n_elem, 1);
    if (!may_mean || !is_mean) abort();
    if (!g->m.d_mean) return 0;
    CHECK_OK(device.ops->download(&device, may_mean, g->m.d_mean, n_cell));
    for (size_t cell = 0; cell < n_cell; cell++) {
        const int may = may_be_mean(g, (int64_t)cell);
        CHECK_MSG(may_mean[cell] == may || (may && g->m.own), "%s: cell %zu: %d for %d", context,
                  cell, may_mean[cell], may);
        n += may_mean[cell];
    }
    return n;
}

/* number of cells with low contrast; with high contrast, graded and not graded */
static int64_t n_by_rule[3];

/* Finds the cells that do use mean strains: no modulus is 1e4 times another one, or a quarter of
 * the elements differ by at least a factor of ten from both the smallest and the largest. Returns
 * how many. */
static int64_t choose_means(const grids *g, const hx_mg_mesh *m)
{
    const hx_coarse *const l = &g->coarse;
    uint8_t *const of = calloc((size_t)l->n_cell, 1);
    int64_t n = 0;
    if (!of) abort();
    if (m->d_mean) CHECK_OK(device.ops->download(&device, of, m->d_mean, (size_t)l->n_cell));
    for (int64_t cell = 0; cell < l->n_cell && may_mean; cell++) {
        const int32_t begin = l->cell_elem_at[cell], end = l->cell_elem_at[cell + 1];
        float least = INFINITY, most = 0.0f;
        int32_t n_between = 0;
        for (int32_t k = begin; k < end; k++) {
            least = fminf(least, (float)g->modulus[l->cell_elem[k]]);
            most = fmaxf(most, (float)g->modulus[l->cell_elem[k]]);
        }
        for (int32_t k = begin; k < end; k++) {
            const float modulus = (float)g->modulus[l->cell_elem[k]];
            n_between += modulus > 10.0f * least && 10.0f * modulus < most;
        }
        const int is_even = most <= 1e4f * least, is_graded = 4 * n_between >= end - begin;
        const int is = may_mean[cell] && m->takes_means && (is_even || is_graded);
        if (may_mean[cell] && m->takes_means) n_by_rule[is_even ? 0 : is_graded ? 1 : 2]++;
        CHECK_MSG(of[cell] == may_mean[cell] + 2 * is, "%s: cell %lld: %d", context,
                  (long long)cell, of[cell]);
        for (int32_t k = begin; k < end; k++) is_mean[l->cell_elem[k]] = (uint8_t)is;
        n += is;
    }
    free(of);
    return n;
}

/* P'K P with K as the device uses it. */
static double *galerkin_of_mesh(const grids *g)
{
    if (!is_mean) return exact_galerkin(g);
    double *a = new_doubles(g->n_col * g->n_col);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) {
        double x[8][3], ke[24][24], mean[24][24];
        stiffness_of(g, e, x, ke);
        if (is_mean[e]) mean_stiffness(x, ke, mean);
        add_element(g, e, is_mean[e] ? mean : ke, g->modulus[e], a);
    }
    return a;
}

static void check_mesh_galerkin(const grids *g)
{
    double *expected = galerkin_of_mesh(g);
    CHECK_OK(ops->transfer->mesh_galerkin(&device, &g->m, &g->level[0]));
    double *a = dense_of(&g->level[0]);
    check_matrix(g->n_col, a, expected, "P'KP");
    free(expected);
    free(a);
}

/* The matrix from the contributions of cells; `how` states what the last update left. */
static double *updated(const grids *g, hx_mg_mesh *m, hx_mg_update how)
{
    const size_t n = 27 * DOF * DOF * (size_t)g->level[0].n_node * sizeof(float);
    float *junk = malloc(n);
    if (!junk) abort();
    memset(junk, 0x5a, n); /* makes unwritten entries visible */
    CHECK_OK(device.ops->upload(&device, g->level[0].d_matrix, junk, n));
    CHECK_OK(ops->transfer->mesh_update(&device, m, &g->level[0], how));
    free(junk);
    return dense_of(&g->level[0]);
}

/* kept[e]: the moduli that an update with `now` uses; returns the number of cells that changed. */
static int64_t keep(const grids *g, const double *now, int all, double *kept)
{
    const hx_coarse *l = &g->coarse;
    int64_t n = 0;
    for (int64_t cell = 0; cell < l->n_cell; cell++) {
        int changed = all;
        for (int32_t k = l->cell_elem_at[cell]; k < l->cell_elem_at[cell + 1]; k++) {
            const double is = now[l->cell_elem[k]], was = kept[l->cell_elem[k]];
            changed |= is > 1.25 * was || was > 1.25 * is;
        }
        for (int32_t k = l->cell_elem_at[cell]; k < l->cell_elem_at[cell + 1] && changed; k++)
            kept[l->cell_elem[k]] = now[l->cell_elem[k]];
        n += changed;
    }
    return n;
}

static void check_same(const grids *g, const double *a, const double *b, const char *what)
{
    CHECK_MSG(memcmp(a, b, (size_t)(g->n_col * g->n_col) * sizeof *a) == 0, "%s: %s: not the bits",
              context, what);
}

/* Designs that change a little everywhere and a lot in some elements, that spread over six decades,
 * and that are solid and void: each matrix is that of the kept moduli and depends on nothing
 * else. */
static void check_update(grids *g)
{
    const size_t n_cell = (size_t)g->m.n_cell, n_elem = (size_t)g->mesh.n_elem,
                 share = n_cell * HX_MG_SHARE * sizeof(float);
    double *const modulus = g->modulus, *now = new_doubles((int64_t)n_elem),
                  *kept = new_doubles((int64_t)n_elem);
    float *junk = malloc(share);
    hx_mg_mesh m = g->m;
    uint64_t seed = 31;
    int64_t n_changed = 0, n_mean = 0;
    if (!ops->transfer->mesh_update || !junk) abort();
    memset(junk, 0x5a, share);
    m.d_kept = put(NULL, n_elem * sizeof *m.d_kept);
    m.d_changed = put(NULL, (n_cell + 2) * sizeof *m.d_changed);
    m.d_share = put(junk, share);
    for (int design = 0; design < 4; design++) {
        for (size_t e = 0; e < n_elem; e++) {
            const double by = fixture_uniform(&seed, 0.95, 1.05),
                         at = fixture_uniform(&seed, 0.0, 1.0),
                         far = design == 2 ? pow(10.0, -6.0 * at)
                               : at < 0.02 ? 1e-4
                                           : 1.0;
            now[e] = (double)(float)(modulus[e] * (design > 0 ? by * far : 1.0));
            if (design == 3) /* 15 % between solid and void */
                now[e] = (double)(float)(by * (at < 0.4 ? 1e-6 : at < 0.55 ? 1e-3 : 1.0));
        }
        const int64_t n = keep(g, now, design == 0, kept);
        if (design > 0) n_changed += n;
        CHECK_OK(hx_operator_set_modulus(&g->op, now));
        g->modulus = kept;
        double *a = updated(g, &m, design == 0 ? HX_MG_NEW : HX_MG_CHANGED);
        n_mean += choose_means(g, &m);
        double *expected = galerkin_of_mesh(g);
        check_matrix(g->n_col, a, expected, "P'KP kept");
        CHECK_OK(device.ops->upload(&device, m.d_share, junk, share));
        double *again = updated(g, &m, HX_MG_RESTORED);
        check_same(g, a, again, "restored");
        free(again);
        float *const d_share = m.d_share;
        m.d_share = NULL;
        again = updated(g, &m, HX_MG_CHANGED);
        check_matrix(g->n_col, again, expected, "P'KP kept, no parts");
        m.d_share = d_share;
        free(again);
        free(a);
        free(expected);
    }
    CHECK_MSG(n_changed > 0, "%s: no cell changed", context);
    printf("    %lld cells with mean strains\n", (long long)n_mean);
    CHECK_MSG((n_mean > 0) == (m.takes_means && g->m.own == NULL), "%s: %lld", context,
              (long long)n_mean);
    g->modulus = modulus;
    CHECK_OK(hx_operator_set_modulus(&g->op, modulus));
    release(m.d_kept);
    release(m.d_changed);
    release(m.d_share);
    free(junk);
    free(now);
    free(kept);
}

/* P'(K + S)P, with springs S at some degrees of freedom, including supports. */
static void check_springs(const grids *g)
{
    hx_problem problem = g->problem;
    hx_coarse_springs springs;
    double *expected = galerkin_of_mesh(g), stiff = 0.0;
    uint64_t seed = 21;
    int64_t *dof = malloc((size_t)g->n_dof * sizeof *dof);
    double *k = new_doubles(g->n_dof);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) test_worst(&stiff, g->modulus[e]);
    problem.springs.n = 0;
    problem.springs.dof = dof;
    problem.springs.stiffness = k;
    for (int64_t i = 0; i < g->n_dof; i++) {
        if (fixture_uniform(&seed, 0.0, 1.0) > 0.2) continue;
        const double size = stiff * g->coarse.unit * fixture_uniform(&seed, 0.1, 1.0);
        dof[problem.springs.n] = i;
        k[problem.springs.n++] = size;
        for (int64_t r = 0; r < g->n_col && !fixed_at(g, i); r++)
            for (int64_t c = 0; c < g->n_col; c++)
                expected[r * g->n_col + c] +=
                    size * g->p[i * g->n_col + r] * g->p[i * g->n_col + c];
    }
    CHECK_OK(hx_coarse_springs_create(&springs, &g->coarse, &problem, problem.supports.fixed));
    CHECK(springs.n > 0);
    int64_t *d_at = put(springs.at, (size_t)springs.n * sizeof *springs.at);
    float *d_block = put(springs.block, (size_t)springs.n * 36 * sizeof *springs.block);
    CHECK_OK(ops->transfer->mesh_galerkin(&device, &g->m, &g->level[0]));
    CHECK_OK(ops->level->add_blocks(&device, &g->level[0], springs.n, d_at, d_block));
    double *a = dense_of(&g->level[0]);
    check_matrix(g->n_col, a, expected, "P'(K + S)P");
    hx_coarse_springs_free(&springs);
    release(d_at);
    release(d_block);
    free(dof);
    free(k);
    free(expected);
    free(a);
}

/* ---- smoother ---- */

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
    CHECK_OK(ops->vector->power_start(&device, n, g->d_m, d_v));
    for (int i = 0; i < 20; i++) {
        CHECK_OK(hx_operator_apply_single(&g->op, d_v, d_t));
        CHECK_OK(ops->diagonal->power(&device, n, g->d_m, d_t, NULL, d_v, d_smoother));
    }
    for (int64_t i = 0; i < n; i++)
        CHECK_REL(m[i], fixed_at(g, i) ? 0.0 : 1.0 / k[i * n + i], 1e-6);
    check_lambda(n, k, m, lambda_of(d_smoother), "mesh");
    s = set_smoother(d_smoother, 1.1, 4.0);
    double *d_r = fixture_put(&device, (size_t)n, r), *d_z = fixture_put(&device, (size_t)n, r);
    double *t = random_doubles(n, 15), *x = new_doubles(n), *d = new_doubles(n), *z;
    CHECK_OK(ops->vector->mesh_start(&device, n, d_smoother, d_r, g->d_m, d_d, d_x));
    for (int64_t i = 0; i < n; i++) x[i] = d[i] = (double)s.b[0] * m[i] * r[i];
    /* with a previous direction, without one, and with the result in z */
    for (int step = 0; step < 3; step++) {
        const int i = step == 0;
        set_floats(d_t, n, t);
        CHECK_OK(ops->vector->mesh_step(&device, n, d_smoother, i, d_r, d_t, g->d_m,
                                        step < 2 ? d_d : NULL, d_x, step == 2 ? d_z : NULL));
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

static void check_mesh(const grids *of)
{
    grids own = *of, *const g = &own; /* one test changes the design and restores it */
    check_prolong(g);
    check_restrict(g);
    check_rigid(g);
    check_mesh_galerkin(g);
    check_update(g);
    check_springs(g);
    check_mesh_smoother(g);
}

static const sample regular = {"equal cells", {.n = {20, 12, 8}}, 4.0, 1e3, 1.0},
                    uneven = {"unequal cells", {.n = {20, 12, 8}, .distort = 0.1}, 4.0, 1e3, 1.0};

/* Cells that contain the same elements in the same places, except those at a support; and a
 * distorted mesh, in which no two cells are equal. There a GPU uses mean strains of whole cells,
 * which reduces K, but not for rigid motions and uniform strains. */
static void check_alike(void)
{
    const int has_means = strcmp(device.ops->name, "cpu") != 0;
    for (int k = 0; k < 2; k++) {
        grids g;
        context = k == 0 ? regular.name : uneven.name;
        make_grids(&g, k == 0 ? &regular : &uneven);
        CHECK_OK(ops->transfer->mesh_prepare(&device, &g.m));
        CHECK_MSG((g.m.own != NULL) == (k == 0), "%s: %s", context, g.m.own ? "are" : "are not");
        CHECK((g.m.d_mean != NULL) == has_means);
        const int64_t n = find_means(&g);
        CHECK_MSG((n > 0) == (has_means && k == 1), "%s: %lld cells with mean strains", context,
                  (long long)n);
        check_mesh_galerkin(&g);
        for (int takes = 0; takes <= has_means; takes++) {
            g.m.takes_means = takes;
            check_update(&g);
        }
        ops->transfer->mesh_release(&device, &g.m);
        CHECK(!g.m.own && !g.m.d_mean);
        for (int i = 0; i < 3 && has_means && k == 1; i++)
            CHECK_MSG(n_by_rule[i] > 0, "no cell of kind %d", i);
        free(may_mean);
        free(is_mean);
        may_mean = is_mean = NULL;
        free_grids(&g);
    }
}

/* Cells without elements, which a rank may have on a distributed mesh, belong to no class. */
static void check_empty(void)
{
    enum { MORE = 20 };
    grids g;
    context = "empty cells";
    make_grids(&g, &uneven);
    const size_t n = (size_t)g.m.n_cell, word = sizeof(int32_t);
    int32_t *const d_cell = g.m.d_cell, *const d_at = g.m.d_cell_elem_at;
    int32_t *const cell = calloc(3 * (n + MORE), word), *const at = calloc(n + MORE + 1, word);
    if (!cell || !at) abort();
    memcpy(cell + 3 * MORE, g.coarse.cell, 3 * n * word);
    memcpy(at + MORE, g.coarse.cell_elem_at, (n + 1) * word); /* the empty cells come first */
    g.m.n_cell += MORE;
    g.m.d_cell = put(cell, 3 * (n + MORE) * word);
    g.m.d_cell_elem_at = put(at, (n + MORE + 1) * word);
    CHECK_OK(ops->transfer->mesh_prepare(&device, &g.m));
    CHECK(!g.m.own);
    ops->transfer->mesh_release(&device, &g.m);
    device.ops->release(&device, g.m.d_cell);
    device.ops->release(&device, g.m.d_cell_elem_at);
    g.m.n_cell -= MORE;
    g.m.d_cell = d_cell;
    g.m.d_cell_elem_at = d_at;
    free(cell);
    free(at);
    free_grids(&g);
}

int main(int argc, char **argv)
{
    const int status = open_multigrid(argc, argv);
    if (status != 0) return status;
    for_each_sample(check_mesh);
    check_alike();
    check_empty();
    hx_device_close(&device);
    TEST_END();
}
