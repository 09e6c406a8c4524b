/* The tables of multigrid are complete on each device and for each physics, and a missing entry is
 * reported by its name, unless it is optional.
 *
 *     test_multigrid_ops [cuda] */
#include <string.h>

#include "core/multigrid/multigrid.h"
#include "core/operator/conduction_ops.h"
#include "tests/lib/fixture.h"

typedef union copy {
    hx_mg_vector_ops vector;
    hx_mg_smoother_ops smoother;
    hx_mg_transfer_ops transfer;
    hx_mg_level_ops level;
    hx_mg_direct_ops direct;
    hx_mg_fused_ops fused;
    void (*entry[16])(void);
} copy;

/* Takes away each entry of a table in turn: n_required of them must be reported. */
static void take_entries(const hx_multigrid_ops *ops, const char *name, const void *table,
                         size_t bytes, size_t at, int n_required)
{
    const size_t n = bytes / sizeof(void (*)(void));
    int n_named = 0;
    if (!table) return;
    for (size_t i = 0; i < n; i++) {
        hx_multigrid_ops changed = *ops;
        copy less;
        const void *const to = &less;
        memcpy(&less, table, bytes);
        less.entry[i] = NULL;
        memcpy((char *)&changed + at, &to, sizeof to);
        hx_error_clear();
        if (hx_multigrid_ops_check(&changed, "a device") == HX_OK) continue;
        n_named++;
        CHECK(strstr(hx_error_message(), "a device") && strstr(hx_error_message(), name));
    }
    CHECK_MSG(n_named == n_required, "%s: %d entries of %zu are required", name, n_named, n);
}

#define TAKE(member, table, n)                                                                     \
    take_entries(ops, "'" #member "'", ops->member, sizeof(hx_mg_##table##_ops),                   \
                 offsetof(hx_multigrid_ops, member), n)

/* n_prepared: number of entries that mesh_prepare makes required. */
static void check_tables(const hx_multigrid_ops *ops, const char *what, int n_prepared)
{
    CHECK_OK(hx_multigrid_ops_check(ops, what));
    TAKE(vector, vector, 12);
    TAKE(diagonal, smoother, 4);
    TAKE(blocks, smoother, 3);
    TAKE(lines, smoother, 7);
    TAKE(transfer, transfer, 7 + n_prepared);
    TAKE(level, level, 5);
    TAKE(direct, direct, 2);
    TAKE(fused, fused, 3);
    hx_multigrid_ops less = *ops;
    less.level = NULL;
    CHECK_FAILS(hx_multigrid_ops_check(&less, what), HX_EINTERNAL,
                "'level' of the multigrid table 'multigrid'");
    less = *ops;
    hx_mg_level_ops level = *ops->level;
    level.smooth = NULL;
    less.level = &level;
    CHECK_FAILS(hx_multigrid_ops_check(&less, what), HX_EINTERNAL, "entry 'smooth' of");
    less = *ops;
    less.blocks = less.lines = NULL;
    less.fused = NULL;
    CHECK_OK(hx_multigrid_ops_check(&less, what));
}

int main(int argc, char **argv)
{
    static hx_device device;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    check_tables(device.ops->multigrid, "elasticity", 2);
    check_tables(device.ops->conduction->multigrid, "heat", 0);
    hx_device_close(&device);
    TEST_END();
}
