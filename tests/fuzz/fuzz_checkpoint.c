/* Reads checkpoints into an open session on a small mesh. If the first byte is even, the others are
 * the file; if it is odd, they are patches of a checkpoint that this session has written: each a
 * position (2 bytes), a count (1 byte) and the bytes. Checksums are corrected, so that the code
 * after their test is reached. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output/history.h"
#include "app/run/checkpoint_parts.h"
#include "app/session/session.h"
#include "core/base/crc32.h"
#include "fuzz.h"

/* As in core/device/snapshot_file.c. */
enum { HEAD = 32, RECORD = HX_SNAPSHOT_NAME + 24, AT_COUNT = 16, AT_SUM = 28, AT_TABLE_SUM = 24 };

static struct {
    hx_session session;
    uint8_t *file; /* a checkpoint of this session */
    size_t size;
    int is_ready;
} base;

static const char config_text[] =
    "mesh = { generator = \"cantilever\"; size = 0; nx = 4; };\n"
    "supports = ( { set = \"left\"; fix = \"xyz\"; } );\n"
    "loads = ( { set = \"right\"; total_force = [0.0, 0.0, -1.0]; } );\n"
    "optimization = { volume_fraction = 0.4; iterations = 3;\n"
    "    filter = { kind = \"density\"; radius = 1.5; };\n"
    "    projection = { }; continuation = { }; };\n"
    "solver = { device = \"cpu\"; operator = \"ebe\"; preconditioner = \"jacobi\"; };\n";

static void open_parts(hx_checkpoint_parts *parts, hx_output *output, hx_stats *stats,
                       const char *history)
{
    memset(output, 0, sizeof *output);
    memset(stats, 0, sizeof *stats);
    output->session = &base.session;
    if (hx_stats_begin(stats, 3, base.session.problem.cases.n, base.session.limits.n) < 0) abort();
    *parts = (hx_checkpoint_parts){&base.session, output, stats, history};
}

static void read_base(const char *path)
{
    FILE *const f = fopen(path, "rb");
    base.file = malloc(1 << 20);
    if (!f || !base.file) abort();
    base.size = fread(base.file, 1, 1 << 20, f);
    fclose(f);
}

static void make_base(void)
{
    static const char history_text[] = "iteration,compliance\n1,2.0\n";
    char path[FUZZ_PATH], history[FUZZ_PATH];
    hx_value *tree = NULL;
    hx_output output;
    hx_stats stats;
    hx_checkpoint_parts parts;
    hx_snapshot image = {0};
    int rc = hx_value_read_text(&tree, config_text, "fuzz.cfg");
    if (rc == HX_OK) rc = hx_config_from_tree(&base.session.cfg, tree, "fuzz.cfg");
    if (rc == HX_OK) rc = hx_session_open(&base.session);
    fuzz_require(rc == HX_OK, "the session opens");
    fuzz_path("base.csv", history);
    fuzz_write(history, history_text, strlen(history_text));
    open_parts(&parts, &output, &stats, history);
    hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE);
    rc = hx_checkpoint_put(&image, &parts);
    if (rc == HX_OK) rc = hx_snapshot_write(&image, fuzz_path("base.state", path));
    fuzz_require(rc == HX_OK, "a checkpoint is written");
    read_base(path);
    hx_snapshot_free(&image);
    hx_stats_free(&stats);
    base.is_ready = 1;
}

/* --- the file --- */

static uint64_t get(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void put_sum(uint8_t *at, const void *bytes, size_t n)
{
    const uint32_t sum = hx_crc32(0, bytes, n);
    memcpy(at, &sum, sizeof sum);
}

static void repair_sums(uint8_t *file, size_t size)
{
    if (size < HEAD) return;
    const uint64_t n = get(file + AT_COUNT);
    const int has_table = n <= (size - HEAD) / RECORD;
    for (uint64_t i = 0; has_table && i < n; i++) {
        uint8_t *const record = file + HEAD + i * RECORD;
        const uint64_t bytes = get(record + HX_SNAPSHOT_NAME),
                       at = get(record + HX_SNAPSHOT_NAME + 8);
        if (at <= size && bytes <= size - at)
            put_sum(record + HX_SNAPSHOT_NAME + 16, file + at, bytes);
    }
    if (has_table) put_sum(file + AT_TABLE_SUM, file + HEAD, n * RECORD);
    put_sum(file + AT_SUM, file, AT_SUM);
}

/* The caller frees the file. */
static uint8_t *make_file(const uint8_t *data, size_t size, size_t *n)
{
    const int is_patch = data[0] % 2;
    *n = is_patch ? base.size : size - 1;
    uint8_t *const file = malloc(*n + 1);
    if (!file) abort();
    memcpy(file, is_patch ? base.file : data + 1, *n);
    for (size_t i = 1; is_patch && i + 3 <= size;) {
        const size_t at = data[i] | (size_t)data[i + 1] << 8;
        size_t count = data[i + 2];
        i += 3;
        if (count > size - i) count = size - i;
        if (at < *n) memcpy(file + at, data + i, count < *n - at ? count : *n - at);
        i += count;
    }
    if (is_patch && size % 16 == 0) *n = *n * data[size - 1] / 256; /* cut short */
    repair_sums(file, *n);
    return file;
}

/* --- reading --- */

static void load(hx_snapshot *image)
{
    char path[FUZZ_PATH], history_path[FUZZ_PATH], *history = NULL;
    size_t n = 0;
    hx_output output;
    hx_stats stats;
    hx_checkpoint_parts parts;
    hx_history resumed;
    fuzz_path("history.csv", history_path);
    open_parts(&parts, &output, &stats, history_path);
    if (fuzz_accepted(hx_checkpoint_get(image, &parts, &history, &n))) {
        fuzz_require(stats.n_iteration >= 0 && stats.n_iteration <= stats.capacity,
                     "a checkpoint has no more iterations than are asked for");
        const hx_history_columns columns = {.n_case = base.session.problem.cases.n,
                                            .limit = (const char *const *)base.session.limits.name,
                                            .n_limit = base.session.limits.n};
        (void)fuzz_accepted(
            hx_history_resume(&resumed, fuzz_path("resumed.csv", path), &columns, history, n));
        hx_history_free(&resumed);
    }
    free(history);
    hx_output_free(&output);
    hx_stats_free(&stats);
}

void fuzz_checkpoint(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    hx_snapshot image = {0};
    size_t n;
    if (size < 1) return;
    if (!base.is_ready) make_base();
    uint8_t *const file = make_file(data, size, &n);
    fuzz_path("fuzz.state", path);
    fuzz_write(path, file, n);
    free(file);
    if (fuzz_accepted(hx_snapshot_read(&image, path))) load(&image);
    hx_snapshot_free(&image);
}
