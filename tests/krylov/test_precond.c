/* Preconditioners against the dense K of a distorted mesh: their stored data, their application,
 * and that block Jacobi needs no more iterations than point Jacobi.
 *
 *     test_precond [cpu | cuda] [quick] */
#include "core/linalg/block3.h"
#include "tests/lib/dense_model.h"

/* The blocks of the operator are those of the dense K. */
static void check_block_diagonal(const model *m, fixture_solver *s, double *d_block)
{
    double block[N_NODE][6], error = 0.0;
    int n_mixed = 0; /* blocks of which some directions are fixed */
    CHECK_OK(hx_operator_block_diagonal(&s->op, d_block));
    CHECK_OK(device.ops->download(&device, block, d_block, sizeof block));
    for (int node = 0; node < N_NODE; node++) {
        double size = 0.0;
        int n_fixed = 0;
        for (int i = 0; i < 3; i++) {
            test_worst(&size, masked_entry(m, 3 * node + i, 3 * node + i));
            n_fixed += is_fixed(m, 3 * node + i);
        }
        n_mixed += n_fixed > 0 && n_fixed < 3;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                test_worst(&error, fabs(block[node][hx_block3_at(i, j)] -
                                        masked_entry(m, 3 * node + i, 3 * node + j)) /
                                       size);
    }
    CHECK_MSG(error <= 1e-12, "blocks off by %g", error);
    CHECK((n_mixed > 0) == (m->problem.supports.prescribed != NULL));
    printf("blocks: off by %.1e at most, %d partly fixed\n", error, n_mixed);
}

/* block * (M^-1 r) = r at every node; r is returned unchanged at fixed entries. */
static void check_apply(const model *m, fixture_solver *s)
{
    double r[N_DOF], z[N_DOF], error = 0.0;
    uint64_t seed = 11;
    double *d_r, *d_z;
    for (int k = 0; k < N_DOF; k++) r[k] = fixture_uniform(&seed, -1.0, 1.0);
    CHECK_OK(device.ops->alloc(&device, sizeof r, &d_r));
    CHECK_OK(device.ops->alloc(&device, sizeof z, &d_z));
    CHECK_OK(device.ops->upload(&device, d_r, r, sizeof r));
    CHECK_OK(hx_precond_setup(&s->pc));
    CHECK_OK(s->pc.kind->apply(&s->pc, d_r, d_z));
    CHECK_OK(device.ops->download(&device, z, d_z, sizeof z));
    for (int k = 0; k < N_DOF; k++) {
        double back = 0.0;
        for (int j = k / 3 * 3; j < k / 3 * 3 + 3; j++) back += masked_entry(m, k, j) * z[j];
        if (is_fixed(m, k)) CHECK(z[k] == r[k]);
        test_worst(&error, fabs(back - r[k]));
    }
    CHECK_MSG(error <= 1e-12, "block M^-1 r off from r by %g", error);
    device.ops->release(&device, d_r);
    device.ops->release(&device, d_z);
}

/* Blocks that are not positive definite become the identity; the others are inverted, including
 * values at the limits of double precision. */
static void check_invert(void)
{
    static const double bad[][6] = {{0.0},
                                    {-1.0, 0.0, 0.0, 1.0, 0.0, 1.0},
                                    {1.0, 2.0, 0.0, 1.0, 0.0, 1.0},
                                    {1.0, 0.0, 0.0, 1.0, 2.0, 1.0},
                                    {1.0, 0.0, NAN, 1.0, 0.0, 1.0}};
    static const double scale[] = {1.0, 1e-300, 1e300};
    static const double good[6] = {4.0, 1.0, -2.0, 3.0, 0.5, 5.0};
    static const double inverse[6] = {59.0 / 160, -24.0 / 160, 26.0 / 160,
                                      64.0 / 160, -16.0 / 160, 44.0 / 160};
    enum { N_BAD = sizeof bad / sizeof bad[0], N_GOOD = 3, N = N_BAD + N_GOOD };
    double block[N][6];
    void *d_block;
    memcpy(block, bad, sizeof bad);
    for (int k = 0; k < N_GOOD; k++)
        for (int i = 0; i < 6; i++) block[N_BAD + k][i] = scale[k] * good[i];
    CHECK_OK(device.ops->alloc(&device, sizeof block, &d_block));
    CHECK_OK(device.ops->upload(&device, d_block, block, sizeof block));
    CHECK_OK(device.ops->element->block_invert(&device, N, d_block));
    CHECK_OK(device.ops->download(&device, block, d_block, sizeof block));
    for (int k = 0; k < N_BAD; k++)
        for (int i = 0; i < 6; i++)
            CHECK_MSG(block[k][i] == (i == 0 || i == 3 || i == 5), "bad block %d, entry %d: %g", k,
                      i, block[k][i]);
    for (int k = 0; k < N_GOOD; k++)
        for (int i = 0; i < 6; i++) CHECK_ABS(block[N_BAD + k][i] * scale[k], inverse[i], 1e-14);
    device.ops->release(&device, d_block);
}

/* On this model, with this tolerance, block Jacobi needs no more iterations than point Jacobi, over
 * the contrasts of an optimization. (This is not a theorem: |r| need not decrease
 * monotonically.) */
static void check_iterations(model *m)
{
    static const double contrast[] = {1.0, 10.0, 1e6};
    fixture_settings settings = fixture_defaults();
    settings.pcg.tolerance = 1e-8;
    for (int i = 0; i < 3; i++) {
        set_modulus(m, contrast[i], 5);
        settings.precond = "jacobi";
        const hx_pcg_result diagonal = solve(m, &settings, NULL);
        settings.precond = "block-jacobi";
        const hx_pcg_result block = solve(m, &settings, NULL);
        CHECK(block.reason == HX_PCG_CONVERGED);
        CHECK_MSG(block.iterations <= diagonal.iterations, "contrast %g: %d, diagonal %d",
                  contrast[i], block.iterations, diagonal.iterations);
        printf("contrast %g: %d iterations with blocks, %d with the diagonal\n", contrast[i],
               block.iterations, diagonal.iterations);
    }
    set_modulus(m, 10.0, 3);
}

int main(int argc, char **argv)
{
    static model m;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    check_invert();
    for (int prescribed = 0; prescribed < 2; prescribed++) {
        fixture_settings settings = fixture_defaults();
        fixture_solver s;
        double *d_block;
        settings.precond = "block-jacobi";
        CHECK_OK(make_model(&m, prescribed));
        set_modulus(&m, 1e6, 9);
        CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
        CHECK_OK(hx_operator_set_modulus(&s.op, m.modulus));
        CHECK_OK(device.ops->alloc(&device, 6 * N_NODE * sizeof(double), &d_block));
        check_block_diagonal(&m, &s, d_block);
        check_apply(&m, &s);
        check_iterations(&m);
        device.ops->release(&device, d_block);
        fixture_solver_free(&s);
        free_model(&m);
    }
    hx_device_close(&device);
    TEST_END();
}
