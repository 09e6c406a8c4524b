/* Readers of mesh files on damaged files. Each correct file gets the same hundreds of mutations in
 * every run. None of them may cause a crash, a hang (limited by the time limit of the test) or a
 * leak (the build with sanitizers also runs this test). Of each file's mutations, some must be
 * readable and some refused: otherwise the mutations miss what the reader checks, or the reader
 * checks nothing. A file that can be read in pieces must give the same mesh.
 *
 *     test_mutations FILE... */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/base/random.h"
#include "tests/fuzz/fuzz_pieces.h"
#include "tests/lib/test.h"

enum { ROUNDS = 1000, LEAST = 20, MOST_BYTES = 1 << 16, MOST_GROWTH = 256 };

static size_t below(uint64_t *state, size_t n)
{
    return n > 0 ? (size_t)(hx_random_next(state) % n) : 0;
}

static size_t delete_bytes(uint8_t *data, size_t size, uint64_t *state)
{
    const size_t at = below(state, size), n = 1 + below(state, 64);
    if (at + n >= size) return at;
    memmove(data + at, data + at + n, size - at - n);
    return size - n;
}

static size_t repeat_bytes(uint8_t *data, size_t size, uint64_t *state)
{
    const size_t from = below(state, size), to = below(state, size);
    size_t n = 1 + below(state, 48);
    uint8_t copy[48];
    if (from + n > size) n = size - from;
    memcpy(copy, data + from, n);
    memmove(data + to + n, data + to, size - to);
    memcpy(data + to, copy, n);
    return size + n;
}

/* A word or a binary number that often causes errors. */
static size_t put_word(uint8_t *data, size_t size, uint64_t *state)
{
    static const char *const word[] = {"-1 ",  "0 ",         "2147483648 ", "9223372036854775807 ",
                                       "nan ", "1e9 ",       "5 17",        "\xff\xff\xff\xff",
                                       "\n\n", "$EndNodes\n"};
    const char *const chosen = word[below(state, sizeof word / sizeof word[0])];
    const size_t n = strlen(chosen), at = below(state, size);
    if (at + n > size) return size;
    memcpy(data + at, chosen, n);
    return size;
}

/* One to four changes; returns the new size. */
static size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
    for (size_t k = 1 + below(state, 4); k > 0 && size > 0; k--) {
        const size_t at = below(state, size);
        switch (below(state, 6)) {
        case 0:
            data[at] ^= (uint8_t)(1u << below(state, 8));
            break;
        case 1:
            data[at] = (uint8_t)below(state, 256);
            break;
        case 2:
            size = delete_bytes(data, size, state);
            break;
        case 3:
            size = repeat_bytes(data, size, state);
            break;
        case 4:
            size = put_word(data, size, state);
            break;
        default:
            size = below(state, 8) == 0 ? at : size;
            break; /* cut off */
        }
    }
    return size;
}

static size_t read_file(const char *path, uint8_t *data)
{
    FILE *const f = fopen(path, "rb");
    if (!f) return 0;
    const size_t n = fread(data, 1, MOST_BYTES, f);
    fclose(f);
    return n;
}

static void run_file(const char *seed, const char *folder)
{
    static uint8_t data[MOST_BYTES], changed[MOST_BYTES + MOST_GROWTH];
    char path[512];
    const char *const dot = strrchr(seed, '.');
    const size_t size = read_file(seed, data);
    uint64_t state = size;
    int n_good = 0, n_refused = 0, n_in_pieces = 0;
    CHECK_MSG(size > 0 && size < MOST_BYTES, "%s: %zu bytes", seed, size);
    if (size == 0) return;
    snprintf(path, sizeof path, "%s/mutated%s", folder, dot ? dot : "");
    CHECK_MSG(fuzz_mesh(path, data, size) == HX_OK, "%s: %s", seed, hx_error_message());
    for (int n = 0; n < ROUNDS; n++) {
        memcpy(changed, data, size);
        hx_error_clear();
        const int rc = fuzz_mesh(path, changed, mutate(changed, size, &state));
        CHECK_MSG(rc == HX_OK || rc == HX_EINPUT, "%s, mutation %d: %d: %s", seed, n, rc,
                  hx_error_message());
        CHECK_MSG(rc == HX_OK || strlen(hx_error_message()) > 0,
                  "%s, mutation %d: refused without a word", seed, n);
        n_good += rc == HX_OK;
        n_refused += rc == HX_EINPUT;
        if (n % (rc == HX_OK ? 5 : 50) == 0) n_in_pieces += fuzz_pieces(path);
    }
    remove(path);
    printf("%s: %d mutations, %d could still be read, %d in pieces, %d refused\n", seed, ROUNDS,
           n_good, n_in_pieces, n_refused);
    CHECK_MSG(n_good >= LEAST && n_refused >= LEAST, "%s: %d read, %d refused", seed, n_good,
              n_refused);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hextop_mutations_XXXXXX";
    if (!mkdtemp(folder)) return 1;
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    for (int i = 1; i < argc; i++) run_file(argv[i], folder);
    CHECK_MSG(rmdir(folder) == 0, "%s is not empty", folder);
    CHECK(argc > 1);
    TEST_END();
}
