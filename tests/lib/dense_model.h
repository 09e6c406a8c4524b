/* A small model whose K is dense, and its solution by Cholesky factors, written independently of
 * the core; solves of it. */
#ifndef DENSE_MODEL_H
#define DENSE_MODEL_H

#include "wrapper.h"

static hx_device device;

enum { NX = 6, NY = 3, NZ = 3, N_NODE = (NX + 1) * (NY + 1) * (NZ + 1), N_DOF = 3 * N_NODE };

/* Ke by the textbook formula: the strain of a unit displacement of corner b along j, its stress by
 * Hooke's law, and the resulting force on corner a. */
static inline void element_stiffness(double x[8][3], double nu, double ke[24][24])
{
    static const int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    memset(ke, 0, 24 * sizeof ke[0]);
    for (int q = 0; q < 8; q++) {
        double dn[8][3], jac[3][3] = {{0.0}}, grad[8][3], det = 0.0;
        for (int a = 0; a < 8; a++)
            for (int k = 0; k < 3; k++) {
                dn[a][k] = corner[a][k] / 8.0;
                for (int m = 0; m < 3; m++)
                    if (m != k) dn[a][k] *= 1.0 + corner[a][m] * corner[q][m] / sqrt(3.0);
                for (int i = 0; i < 3; i++) jac[k][i] += dn[a][k] * x[a][i];
            }
        for (int i = 0; i < 3; i++)
            det += jac[0][i] * (jac[1][(i + 1) % 3] * jac[2][(i + 2) % 3] -
                                jac[1][(i + 2) % 3] * jac[2][(i + 1) % 3]);
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++) { /* Cramer: column i of the Jacobian replaced by dn */
                double m[3][3];
                memcpy(m, jac, sizeof m);
                for (int k = 0; k < 3; k++) m[k][i] = dn[a][k];
                grad[a][i] = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                              m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
                             det;
            }
        for (int b = 0; b < 24; b++) {
            double stress[3][3];
            const double *g = grad[b / 3], trace = g[b % 3];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double strain =
                        0.5 * ((i == b % 3 ? g[j] : 0.0) + (j == b % 3 ? g[i] : 0.0));
                    stress[i][j] =
                        (strain + (i == j ? nu / (1.0 - 2.0 * nu) * trace : 0.0)) / (1.0 + nu);
                }
            for (int i = 0; i < 3; i++) {
                const double sx = det * stress[i][0], sy = det * stress[i][1],
                             sz = det * stress[i][2];
                for (int a = 0; a < 8; a++)
                    ke[3 * a + i][b] += sx * grad[a][0] + sy * grad[a][1] + sz * grad[a][2];
            }
        }
    }
}

/* The model: a distorted, shuffled beam in which every element has its own modulus. */
typedef struct model {
    hx_mesh mesh;
    hx_problem problem;
    double *k, *modulus; /* dense [N_DOF][N_DOF]; [n_elem] */
    double f[N_DOF], exact[N_DOF], u[N_DOF];
    double *d_f, *d_u;
} model;

static inline int is_fixed(const model *m, int dof)
{
    return m->problem.supports.fixed[dof / 3] >> (dof % 3) & 1;
}

static inline void assemble(model *m)
{
    memset(m->k, 0, (size_t)N_DOF * N_DOF * sizeof *m->k);
    for (int64_t e = 0; e < m->mesh.n_elem; e++) {
        const int32_t *conn = m->mesh.conn + 8 * e;
        double x[8][3], ke[24][24];
        for (int a = 0; a < 8; a++) memcpy(x[a], m->mesh.xyz + 3 * (int64_t)conn[a], sizeof x[a]);
        element_stiffness(x, m->problem.poisson, ke);
        for (int r = 0; r < 24; r++)
            for (int c = 0; c < 24; c++)
                m->k[(3 * conn[r / 3] + r % 3) * N_DOF + 3 * conn[c / 3] + c % 3] +=
                    m->modulus[e] * ke[r][c];
    }
}

/* exact: K u = f on free, u = prescribed on fixed degrees of freedom, by Cholesky. */
static inline void solve_dense(model *m)
{
    long double *l = malloc((size_t)N_DOF * N_DOF * sizeof *l), y[N_DOF];
    CHECK(l != NULL);
    if (!l) return;
    for (int i = 0; i < N_DOF; i++) {
        const double *up = m->problem.supports.prescribed;
        y[i] = is_fixed(m, i) ? (up ? up[i] : 0.0L) : m->f[i];
        for (int j = 0; j < N_DOF; j++) {
            const int apart = is_fixed(m, i) || is_fixed(m, j);
            l[i * N_DOF + j] = apart ? (i == j) : m->k[i * N_DOF + j];
            if (up && !is_fixed(m, i) && is_fixed(m, j))
                y[i] -= (long double)m->k[i * N_DOF + j] * up[j];
        }
    }
    for (int i = 0; i < N_DOF; i++)
        for (int j = 0; j <= i; j++) {
            long double sum = l[i * N_DOF + j];
            for (int k = 0; k < j; k++) sum -= l[i * N_DOF + k] * l[j * N_DOF + k];
            l[i * N_DOF + j] = i == j ? sqrtl(sum) : sum / l[j * N_DOF + j];
        }
    for (int i = 0; i < N_DOF; i++) {
        for (int k = 0; k < i; k++) y[i] -= l[i * N_DOF + k] * y[k];
        y[i] /= l[i * N_DOF + i];
    }
    for (int i = N_DOF - 1; i >= 0; i--) {
        for (int k = i + 1; k < N_DOF; k++) y[i] -= l[k * N_DOF + i] * y[k];
        y[i] /= l[i * N_DOF + i];
        m->exact[i] = (double)y[i];
    }
    free(l);
}

/* Entry (i, j) of K with fixed rows and columns those of the identity. */
static inline double masked_entry(const model *m, int i, int j)
{
    return is_fixed(m, i) || is_fixed(m, j) ? (double)(i == j) : m->k[i * N_DOF + j];
}

/* r' B^-1 r of one node, B its 3x3 block (Cramer). */
static inline double block_square(const model *m, int node, const double r[3])
{
    double b[3][3], z[3], det = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) b[i][j] = masked_entry(m, 3 * node + i, 3 * node + j);
    for (int i = 0; i < 3; i++) { /* row i of the cofactors; B is symmetric */
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        double c[3];
        for (int j = 0; j < 3; j++)
            c[j] = b[p][(j + 1) % 3] * b[q][(j + 2) % 3] - b[p][(j + 2) % 3] * b[q][(j + 1) % 3];
        z[i] = c[0] * r[0] + c[1] * r[1] + c[2] * r[2];
        if (i == 0) det = b[0][0] * c[0] + b[0][1] * c[1] + b[0][2] * c[2];
    }
    return (r[0] * z[0] + r[1] * z[1] + r[2] * z[2]) / det;
}

/* |f - K u| and r' M^-1 r of u on free degrees of freedom; M: the 3x3 blocks, or the diagonal. */
static inline double residual_of(const model *m, int blocks, double *rz)
{
    double rr = 0.0, r[N_DOF] = {0.0};
    *rz = 0.0;
    for (int i = 0; i < N_DOF; i++) {
        if (is_fixed(m, i)) continue;
        r[i] = m->f[i];
        for (int j = 0; j < N_DOF; j++) r[i] -= m->k[i * N_DOF + j] * m->u[j];
        rr += r[i] * r[i];
        if (!blocks) *rz += r[i] * r[i] / m->k[i * N_DOF + i];
    }
    for (int node = 0; blocks && node < N_NODE; node++) *rz += block_square(m, node, r + 3 * node);
    return sqrt(rr);
}

/* |f| on free degrees of freedom, including the effect of prescribed displacements. */
static inline double load_norm(model *m)
{
    double rz, norm, u[N_DOF];
    memcpy(u, m->u, sizeof u);
    for (int i = 0; i < N_DOF; i++)
        m->u[i] = m->problem.supports.prescribed ? m->problem.supports.prescribed[i] : 0.0;
    norm = residual_of(m, 0, &rz);
    memcpy(m->u, u, sizeof u);
    return norm;
}

/* Largest difference from the dense solution, over the largest displacement. */
static inline double error_of(const model *m)
{
    double error = 0.0, largest = 0.0;
    for (int i = 0; i < N_DOF; i++) {
        test_worst(&error, fabs(m->u[i] - m->exact[i]));
        test_worst(&largest, fabs(m->exact[i]));
    }
    return error / largest;
}

static inline void set_modulus(model *m, double contrast, uint64_t seed)
{
    for (int64_t e = 0; e < m->mesh.n_elem; e++)
        m->modulus[e] = pow(contrast, -fixture_uniform(&seed, 0.0, 1.0));
    if (contrast > 1.0) m->modulus[0] = 1.0, m->modulus[1] = 1.0 / contrast;
    assemble(m);
    solve_dense(m);
}

static inline int make_model(model *m, int prescribed)
{
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.0, 1.0}, 0.15, 1};
    const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"right-lower-edge", "test", HX_FIX_X | HX_FIX_Z, {0.1, 0.0, -0.2}}};
    const hx_load_spec load[2] = {{"right", "test", HX_LOAD_TRACTION, {0.2, 0.1, -1.0}, 1},
                                  {"top", "test", HX_LOAD_PRESSURE, {0.5}, 1}};
    const size_t bytes = N_DOF * sizeof(double);
    hx_problem_params params = fixture_problem();
    memset(m, 0, sizeof *m);
    params.support = support;
    params.n_support = prescribed ? 2 : 1;
    params.load = load;
    params.n_load = 2;
    HX_TRY(fixture_box_create(&m->mesh, &box));
    HX_TRY(fixture_finish(&m->mesh, FIXTURE_SHUFFLED));
    HX_TRY(hx_problem_create(&m->problem, &m->mesh, &params));
    m->k = malloc((size_t)N_DOF * N_DOF * sizeof *m->k);
    m->modulus = malloc((size_t)m->mesh.n_elem * sizeof *m->modulus);
    if (!m->k || !m->modulus) return HX_RAISE(HX_ENOMEM, "dense K");
    memcpy(m->f, m->problem.cases.force[0], bytes);
    HX_TRY(device.ops->alloc(&device, bytes, &m->d_f));
    HX_TRY(device.ops->alloc(&device, bytes, &m->d_u));
    HX_TRY(device.ops->upload(&device, m->d_f, m->f, bytes));
    set_modulus(m, 10.0, 3);
    return HX_OK;
}

static inline void free_model(model *m)
{
    device.ops->release(&device, m->d_f);
    device.ops->release(&device, m->d_u);
    free(m->k);
    free(m->modulus);
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

/* Solves from the given u (NULL: zero, or the prescribed displacements) into m->u. */
static inline hx_pcg_result solve(model *m, const fixture_settings *settings, const double *start)
{
    const size_t bytes = N_DOF * sizeof(double);
    const double zero[N_DOF] = {0.0};
    hx_pcg_result result = {.reason = HX_PCG_RUNNING};
    fixture_solver s;
    if (!start) start = m->problem.supports.prescribed ? m->problem.supports.prescribed : zero;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    CHECK_OK(device.ops->upload(&device, m->d_u, start, bytes));
    CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, m->d_f, m->d_u, &result));
    CHECK_OK(device.ops->download(&device, m->u, m->d_u, bytes));
    fixture_solver_free(&s);
    return result;
}

#endif
