/* One try: run, surface and verify, in a folder of its own. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../output/cut_members.h"
#include "../text/commands.h"
#include "../text/json_read.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "lightest.h"

/* What `hextop surface` writes beside the result of a try. */
#define SURFACE_FILE "surface.json"

/* --- words --- */

static int add_bound(hx_words *words, size_t i, const char *key, double value)
{
    char text[64];
    if (isnan(value)) return HX_OK;
    return hx_words_add(words, "optimization.constraints[%zu].%s=%s", i, key,
                        hx_format_double(value, text, sizeof text));
}

static int add_bounds(const hx_lightest *l, hx_words *words, const double *max, const double *min)
{
    for (size_t i = 0; i < l->n_constraint; i++) {
        HX_TRY(add_bound(words, i, "max", max ? max[i] : hx_lightest_constraint(l, i)->max));
        HX_TRY(add_bound(words, i, "min", min ? min[i] : hx_lightest_constraint(l, i)->min));
    }
    return HX_OK;
}

/* 1 if the objective of FILE is the amount of material, which a try at a given volume replaces. */
static int is_of_amount(const hx_lightest *l)
{
    const char *const kind = l->cfg.optimization.objective.kind;
    return strcmp(kind, "volume") == 0 || strcmp(kind, "mass") == 0;
}

static int add_change(const hx_lightest *l, hx_words *words, const hx_lightest_try *t)
{
    HX_TRY(add_bounds(l, words, t->max, t->min));
    if (l->vary == HX_LIGHTEST_LIMITS) return HX_OK;
    if (is_of_amount(l)) HX_TRY(hx_words_add(words, "optimization.objective=compliance"));
    HX_TRY(hx_words_add(words, "optimization.start=")); /* the volume of the try */
    return hx_words_add(words, "optimization.volume_fraction=%g", t->volume_fraction);
}

static int run_words(const hx_lightest *l, const hx_lightest_try *t, int number, const char *option,
                     hx_words *words)
{
    char path[PATH_MAX];
    HX_TRY(hx_words_add(words, "hextop"));
    HX_TRY(hx_words_add(words, "run"));
    HX_TRY(hx_words_add(words, "%s", l->file));
    for (size_t i = 0; i < l->n_argument; i++) HX_TRY(hx_words_add(words, "%s", l->argument[i]));
    HX_TRY(add_change(l, words, t));
    HX_TRY(hx_words_add(words, "output.directory=%s", hx_lightest_path(l, number, "", path)));
    HX_TRY(hx_words_add(words, "output.every=0"));
    return option ? hx_words_add(words, "%s", option) : HX_OK;
}

static int surface_words(const hx_lightest *l, int number, hx_words *words)
{
    char path[PATH_MAX];
    HX_TRY(hx_words_add(words, "hextop"));
    HX_TRY(hx_words_add(words, "surface"));
    HX_TRY(hx_words_add(words, "%s", hx_lightest_path(l, number, "", path)));
    return hx_words_add(words, "%s", hx_lightest_path(l, number, HX_LIGHTEST_PART, path));
}

static int is_passed(const hx_lightest *l, const char *option)
{
    for (size_t i = 0; i < l->n_pass; i += 2)
        if (strcmp(l->pass[i], option) == 0) return 1;
    return 0;
}

/* The limits are judged against the bounds of FILE. */
static int verify_words(const hx_lightest *l, int number, int with_surface, hx_words *words)
{
    char path[PATH_MAX];
    HX_TRY(hx_words_add(words, "hextop"));
    HX_TRY(hx_words_add(words, "verify"));
    HX_TRY(hx_words_add(words, "%s", hx_lightest_path(l, number, "", path)));
    HX_TRY(add_bounds(l, words, NULL, NULL));
    for (size_t i = 0; i < l->n_pass; i++) HX_TRY(hx_words_add(words, "%s", l->pass[i]));
    if (l->made == HX_LIGHTEST_QUADRATIC && !is_passed(l, "--element")) {
        HX_TRY(hx_words_add(words, "--element"));
        HX_TRY(hx_words_add(words, "quadratic"));
    }
    if (!with_surface) {
        HX_TRY(hx_words_add(words, "--made"));
        return hx_words_add(words, "no");
    }
    HX_TRY(hx_words_add(words, "--surface"));
    return hx_words_add(words, "%s", hx_lightest_path(l, number, HX_LIGHTEST_PART, path));
}

/* --- steps --- */

/* Calls a command; prints the message of a failure that is an exit status. allowed: such a status
 * that is none. */
static int call(const hx_lightest *l, int number, const hx_command *command, const hx_words *words,
                int allowed)
{
    char message[HX_MESSAGE_SIZE];
    const int rc = hx_lightest_call(l, command, words, message);
    if (rc < 0) hx_error_prefix("try %d, %s: ", number, command->name);
    if (rc <= 0 || rc == allowed) return rc < 0 ? rc : HX_OK;
    if (l->level != HX_LOG_VERBOSE && message[0])
        hx_log_usage_error("try %d, %s: %s", number, command->name, message);
    return rc;
}

static int is_done(const hx_lightest *l, int number)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    hx_lightest_path(l, number, "summary.json", path);
    const int done = access(path, F_OK) == 0 && hx_json_read(&tree, path) == HX_OK &&
                     strcmp(hx_json_text_at(tree.root, "status", ""), "done") == 0;
    hx_json_free(&tree);
    hx_error_clear(); /* a run without a summary did not end */
    return done;
}

static int has_checkpoint(const hx_lightest *l, int number)
{
    char path[PATH_MAX];
    return access(hx_lightest_path(l, number, "checkpoint.state", path), F_OK) == 0;
}

/* The option with which a run begins. A complete result is of an earlier search and is replaced;
 * its summary goes first, so that it is not mistaken for that of this run. */
static const char *begin_option(const hx_lightest *l, int number)
{
    char path[PATH_MAX];
    if (!is_done(l, number)) return NULL;
    hx_atomic_file_remove(hx_lightest_path(l, number, "summary.json", path));
    return "--force";
}

static int run_try(hx_lightest *l, const hx_lightest_try *t, int number, int is_resumed)
{
    hx_words words = {0};
    const char *option = NULL;
    if (is_resumed && is_done(l, number)) return HX_OK;
    if (!is_resumed)
        option = begin_option(l, number);
    else if (has_checkpoint(l, number))
        option = "--resume";
    l->started = number;
    HX_TRY(hx_lightest_write(l, 0));
    int rc = run_words(l, t, number, option, &words);
    if (rc == HX_OK) rc = call(l, number, &hx_command_run, &words, 0);
    hx_words_free(&words);
    hx_lightest_signals_end(); /* those of the run */
    return rc;
}

/* Cuts the surface, which must have all members of the 0/1 design. */
static int cut_out(const hx_lightest *l, int number)
{
    hx_words words = {0};
    char path[PATH_MAX];
    int rc = surface_words(l, number, &words);
    if (rc == HX_OK) rc = call(l, number, &hx_command_surface, &words, 0);
    hx_words_free(&words);
    if (rc != HX_OK) return rc;
    if (hx_lightest_is_interrupted()) return HX_LIGHTEST_INTERRUPTED;
    rc = hx_cut_members_check(hx_lightest_path(l, number, SURFACE_FILE, path));
    if (rc < 0) hx_error_prefix("try %d, surface: ", number);
    return rc;
}

static int verify(const hx_lightest *l, int number, int with_surface)
{
    hx_words words = {0};
    int rc = verify_words(l, number, with_surface, &words);
    if (rc == HX_OK) rc = call(l, number, &hx_command_verify, &words, HX_EXIT_LIMIT);
    hx_words_free(&words);
    return rc;
}

/* 1 if the design of a try is the reason. */
static int is_of_design(int rc)
{
    return rc == HX_EINPUT || rc == HX_ENUMERIC;
}

/* Without a surface that can be analysed, for example because it falls apart or cuts a member of the
 * 0/1 design, t->error is the reason, and only the other designs are verified, if they can be. */
static int make_part(const hx_lightest *l, int number, hx_lightest_try *t)
{
    char path[PATH_MAX];
    /* those of an earlier search */
    hx_atomic_file_remove(hx_lightest_path(l, number, HX_LIGHTEST_PART, path));
    hx_atomic_file_remove(hx_lightest_path(l, number, "verify.json", path));
    hx_atomic_file_remove(hx_lightest_path(l, number, SURFACE_FILE, path));
    int rc = cut_out(l, number);
    if (rc == HX_OK) rc = verify(l, number, l->made == HX_LIGHTEST_SURFACE);
    if (!is_of_design(rc)) return rc;
    HX_TRY(hx_strdup(&t->error, hx_error_message()));
    hx_log_warning("%s", t->error);
    rc = verify(l, number, 0);
    if (!is_of_design(rc)) return rc;
    hx_error_clear(); /* t->error is of the same design */
    return HX_OK;
}

int hx_lightest_check_solid(const hx_lightest *l)
{
    char message[HX_MESSAGE_SIZE];
    hx_words words = {0};
    int rc = hx_words_add(&words, "hextop");
    if (rc == HX_OK) rc = hx_words_add(&words, "check");
    if (rc == HX_OK) rc = hx_words_add(&words, "%s", l->file);
    for (size_t i = 0; rc == HX_OK && i < l->n_argument; i++)
        rc = hx_words_add(&words, "%s", l->argument[i]);
    if (rc == HX_OK) rc = hx_words_add(&words, "--solve");
    if (rc == HX_OK) rc = hx_lightest_call(l, &hx_command_check, &words, message);
    if (rc > 0 && l->level != HX_LOG_VERBOSE) hx_log_usage_error("%s", message);
    hx_words_free(&words);
    return rc;
}

static void show_step(const hx_lightest *l, int number, const char *what)
{
    char path[PATH_MAX];
    if (l->level == HX_LOG_NORMAL && hx_log_is_terminal())
        hx_log_status("try %d: %s; %s", number, what, hx_lightest_path(l, number, "run.log", path));
}

/* Appends a try; t is empty afterwards. */
static int append_try(hx_lightest *l, hx_lightest_try *t, double seconds)
{
    hx_lightest_judge(l, t);
    t->seconds = seconds;
    l->tries[l->n_try++] = *t;
    memset(t, 0, sizeof *t);
    return hx_lightest_write(l, 0);
}

/* The run of try t was refused, and the message is recorded. */
static int append_refused(hx_lightest *l, hx_lightest_try *t, double seconds)
{
    t->is_refused = 1;
    t->volume = t->mass = (double)NAN;
    HX_TRY(hx_strdup(&t->error, hx_error_message()));
    hx_log_warning("%s", t->error);
    hx_error_clear();
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) HX_TRY(hx_lightest_no_values(l, &t->value[d]));
    return append_try(l, t, seconds);
}

int hx_lightest_do(hx_lightest *l, hx_lightest_try *t, int is_resumed)
{
    const int number = l->n_try + 1;
    const double begin = hx_clock();
    show_step(l, number, "optimizing");
    int rc = run_try(l, t, number, is_resumed);
    if (rc == HX_EINPUT && number > 1) return append_refused(l, t, hx_clock() - begin);
    if (rc != HX_OK) return rc;
    HX_TRY(hx_lightest_check_mesh(l, number));
    show_step(l, number, "cutting out and analysing the part");
    hx_lightest_signals_begin();
    rc = make_part(l, number, t);
    hx_lightest_signals_end();
    if (rc != HX_OK) return rc;
    HX_TRY(hx_lightest_read_try(l, number, t));
    HX_TRY(append_try(l, t, hx_clock() - begin));
    return hx_lightest_is_interrupted() ? HX_LIGHTEST_INTERRUPTED : HX_OK;
}
