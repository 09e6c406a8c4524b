/* Configs: the text, then after a line with %% arguments KEY=VALUE, one per line. An accepted
 * config must have the same values when it is written and read back, and its JSON must be valid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "app/text/json_read.h"
#include "fuzz.h"

static void check_json(const hx_config *cfg)
{
    char *text = NULL;
    size_t n = 0;
    hx_json json;
    hx_json_tree tree = {0};
    FILE *const stream = open_memstream(&text, &n);
    if (!stream) abort();
    hx_json_begin(&json, stream);
    hx_json_open_object(&json, NULL);
    hx_config_write_json(cfg, &json, "settings");
    hx_json_close_object(&json);
    fclose(stream);
    fuzz_require(hx_json_parse(&tree, "settings", text, n) == HX_OK, "settings are valid JSON");
    hx_json_free(&tree);
    free(text);
}

/* Writes the config like `run` does beside a result, and reads it like `verify`. */
static void check_written(const hx_config *cfg)
{
    char path[FUZZ_PATH], *then = NULL, *now = NULL;
    hx_config again = {0};
    fuzz_path("written.cfg", path);
    fuzz_require(hx_config_write(cfg, path) == HX_OK, "a config can be written");
    fuzz_require(hx_config_read(&again, path, 0, NULL) == HX_OK, "a written config can be read");
    fuzz_require(hx_config_settings(cfg, &then) == HX_OK, "a config has settings");
    fuzz_require(hx_config_settings(&again, &now) == HX_OK, "a written config has settings");
    if (strcmp(then, now) != 0) fprintf(stderr, "--- then\n%s--- now\n%s", then, now);
    fuzz_require(strcmp(then, now) == 0, "a written config says the same");
    free(then);
    free(now);
    hx_config_free(&again);
}

/* Applies the lines of arguments, which are terminated in place; 0: one of them is refused. */
static int apply_arguments(hx_value *tree, char *line)
{
    while (*line) {
        char *const end = line + strcspn(line, "\n");
        const int is_last = *end == '\0';
        *end = '\0';
        if (!fuzz_accepted(hx_value_override(tree, line))) return 0;
        line = end + !is_last;
    }
    return 1;
}

void fuzz_config(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n%%\n";
    char path[FUZZ_PATH], *const text = fuzz_text(data, size);
    char *const arguments = strstr(text, mark);
    hx_value *tree = NULL;
    hx_config cfg = {0};
    if (arguments) *arguments = '\0';
    const size_t n_text = arguments ? strlen(text) : size;
    fuzz_path("fuzz.cfg", path);
    fuzz_write(path, text, n_text);
    const int rc =
        size % 2 ? hx_value_read_file(&tree, path) : hx_value_read_text(&tree, text, path);
    if (fuzz_accepted(rc) && (!arguments || apply_arguments(tree, arguments + strlen(mark)))) {
        if (fuzz_accepted(hx_config_from_tree(&cfg, tree, path))) {
            check_json(&cfg);
            check_written(&cfg);
        }
        hx_config_free(&cfg);
    } else {
        hx_value_free(tree);
    }
    free(text);
}
