/* The group solver.multigrid: the example of each key arrives in the member of hx_mg_params that
 * the key names, and changes nothing else; every member has a key; settings contain a key only if
 * it is given. */
#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "app/config/config_schema.h"
#include "tests/lib/test.h"

static const char text[] =
    "mesh = { generator = \"cantilever\"; nx = 4; ny = 2; nz = 2; };\n"
    "supports = ( { set = \"left\"; fix = \"xyz\"; } );\n"
    "loads = ( { set = \"right\"; total_force = [0.0, 0.0, -1.0]; } );\n"
    "optimization = { volume_fraction = 0.3; filter = { radius = 2.0; }; };\n";

static void read_with(hx_config *cfg, const char *key, const char *value)
{
    hx_value *tree = NULL;
    char argument[512];
    snprintf(argument, sizeof argument, "%s=%s", key, value);
    CHECK_OK(hx_value_read_text(&tree, text, "part.cfg"));
    CHECK_OK(hx_value_override(tree, argument));
    CHECK_OK(hx_config_from_tree(cfg, tree, "part.cfg"));
}

static size_t size_of(const hx_key *key)
{
    return key->type == HX_KEY_INT      ? sizeof(int)
           : key->type == HX_KEY_VECTOR ? 3 * sizeof(double)
                                        : sizeof(double);
}

/* Returns 1 if the member has the value of the text, and this is not the default. */
static int has_value(const hx_key *key, const void *at, const char *value)
{
    double number[3];
    if (key->type == HX_KEY_INT) return *(const int *)at == atoi(value);
    if (key->type == HX_KEY_FLOAT) return *(const double *)at == atof(value);
    CHECK(sscanf(value, "[%lf, %lf, %lf]", &number[0], &number[1], &number[2]) == 3);
    return memcmp(number, at, sizeof number) == 0;
}

static int mentions(const hx_config *cfg, const char *what)
{
    char *settings;
    CHECK_OK(hx_config_settings(cfg, &settings));
    const int found = strstr(settings, what) != NULL;
    free(settings);
    return found;
}

/* covered[]: bytes of hx_mg_params that have a key. */
static void check_key(const hx_key *key, uint8_t *covered)
{
    hx_config cfg;
    const hx_mg_params *const params = &cfg.solver.multigrid;
    const char *const usual = hx_key_in_multigrid(key, &hx_mg_defaults);
    if (!usual) return;
    CHECK_MSG(hx_key_own_example(key) != NULL, "%s has no example", key->path);
    read_with(&cfg, key->path, hx_key_own_example(key));
    const size_t size = size_of(key), offset = (size_t)(usual - (const char *)&hx_mg_defaults);
    CHECK_MSG(has_value(key, (const char *)params + offset, hx_key_own_example(key)),
              "%s = %s does not arrive", key->path, hx_key_own_example(key));
    CHECK_MSG(!has_value(key, usual, hx_key_own_example(key)), "%s: example is the default",
              key->path);
    CHECK(memcmp(params, &hx_mg_defaults, offset) == 0);
    CHECK_MSG(memcmp((const char *)params + offset + size, usual + size,
                     sizeof hx_mg_defaults - offset - size) == 0,
              "%s changes another member", key->path);
    CHECK_MSG(mentions(&cfg, key->path), "%s is not among the settings", key->path);
    for (size_t i = 0; i < size; i++) CHECK(covered[offset + i]++ == 0);
    hx_config_free(&cfg);
}

static void cover(uint8_t *covered, const void *member, size_t size)
{
    memset(covered + ((const char *)member - (const char *)&hx_mg_defaults), 1, size);
}

/* Rules, which are a list, have no key. */
static void cover_rest(uint8_t *covered)
{
    cover(covered, &hx_mg_defaults.coarsening.n_thin, sizeof hx_mg_defaults.coarsening.n_thin);
    cover(covered, hx_mg_defaults.coarsening.thin, sizeof hx_mg_defaults.coarsening.thin);
}

static void test_keys(void)
{
    uint8_t covered[sizeof(hx_mg_params)] = {0};
    int n = 0, n_left = 0;
    for (size_t i = 0; i < hx_n_key; i++) {
        check_key(&hx_keys[i], covered);
        n += hx_key_in_multigrid(&hx_keys[i], &hx_mg_defaults) != NULL;
    }
    cover_rest(covered);
    /* no default is 0, whereas padding is 0 */
    for (size_t i = 0; i < sizeof covered; i++)
        n_left += !covered[i] && ((const char *)&hx_mg_defaults)[i] != 0;
    CHECK_MSG(n == 71 && n_left == 0, "%d keys; %d bytes of defaults have none", n, n_left);
    printf("%d keys\n", n);
}

static int is_same(const hx_mg_thin *a, const hx_mg_thin *b)
{
    return a->cells_from == b->cells_from && a->cells_to == b->cells_to &&
           a->longest == b->longest && a->nodes_most == b->nodes_most;
}

static void test_rules(void)
{
    hx_config cfg;
    read_with(&cfg, "solver.multigrid.coarsening.thin",
              "({cells_from=3;cells_to=6;longest=1.5;nodes_most=7;},{cells_from=2;cells_to=2;})");
    const hx_mg_coarsening_params *const c = &cfg.solver.multigrid.coarsening;
    const hx_mg_thin first = {3, 6, 1.5, 7}, second = {2, 2, 0.0, 0};
    CHECK(c->n_thin == 2);
    CHECK(is_same(&c->thin[0], &first));
    CHECK(is_same(&c->thin[1], &second));
    CHECK(mentions(&cfg, "solver.multigrid.coarsening.thin[].cells_from = 3\n"));
    hx_config_free(&cfg);
}

static void test_defaults(void)
{
    hx_config cfg;
    read_with(&cfg, "title", "plain");
    CHECK(memcmp(&cfg.solver.multigrid, &hx_mg_defaults, sizeof hx_mg_defaults) == 0);
    CHECK(!mentions(&cfg, "multigrid."));
    hx_config_free(&cfg);
}

int main(void)
{
    test_defaults();
    test_keys();
    test_rules();
    TEST_END();
}
