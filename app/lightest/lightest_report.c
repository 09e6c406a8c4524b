/* What a search prints: a line per try, and at the end the kept try or what would help. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../session/limits.h"
#include "../text/commands.h"
#include "../text/json_read.h"
#include "../text/shell_word.h"
#include "../text/table.h"
#include "core/base/fit.h"
#include "lightest.h"

/* Name of the design that is judged if it is neither grey nor 0/1, and has a column of its own; "":
 * it has none. */
static const char *third_name(const hx_lightest *l)
{
    return l->made == HX_LIGHTEST_SURFACE     ? "surface"
           : l->made == HX_LIGHTEST_QUADRATIC ? "quadratic"
                                              : "";
}

static int has_third(const hx_lightest *l)
{
    return third_name(l)[0] != '\0';
}

/* Mass of the part, or its volume without a density; "-": it has no surface. */
static const char *amount_text(const hx_lightest *l, const hx_lightest_try *t, char *text,
                               size_t n_text)
{
    const hx_units *const u = &l->cfg.units;
    const double amount = hx_lightest_amount(l, t);
    if (isnan(amount))
        hx_fit(text, n_text, "-");
    else if (hx_lightest_has_mass(l))
        return hx_units_mass_text(u, amount, text, n_text);
    else
        hx_fit(text, n_text, "%.6g%s", amount, u->volume);
    return text;
}

static const char *amount_title(const hx_lightest *l)
{
    return hx_lightest_has_mass(l) ? "mass of part" : "volume of part";
}

/* Name of the limit that is worst on the judged design, or why there is none. */
static const char *worst_text(const hx_lightest *l, const hx_lightest_try *t)
{
    if (t->is_refused) return "run refused";
    if (t->error) return isnan(t->volume) ? "no part" : "not analysed";
    return l->limit[t->worst].name;
}

static const char *usage_text(double usage, char text[32])
{
    if (isfinite(usage))
        snprintf(text, 32, usage < 100.0 ? "%.3f" : "%.3g", usage);
    else
        snprintf(text, 32, "-");
    return text;
}

/* What the run was given: its volume, or its bound of the limit that is worst on the surface. */
static const char *given_text(const hx_lightest *l, const hx_lightest_try *t, char *text,
                              size_t n_text)
{
    const int i = l->limit[t->worst].constraint;
    const char *const unit = l->limit[t->worst].unit;
    char spaced[64];
    hx_fit(spaced, sizeof spaced, "%s%s", unit[0] ? " " : "", unit);
    if (l->vary == HX_LIGHTEST_VOLUME)
        hx_fit(text, n_text, "%.4g", t->volume_fraction);
    else
        hx_bound_text(t->max[i], t->min[i], spaced, text, n_text);
    return text;
}

/* --- a line per try --- */

/* The columns have fixed widths, since the lines appear one by one. */
#define ROW "%5s  %14s  %7s  %7s  %*s  %-20s  %-24s  %s"

/* Width of the third column. */
static int third_width(const hx_lightest *l)
{
    return has_third(l) ? (int)strlen(third_name(l)) : 0;
}

void hx_lightest_print_header(const hx_lightest *l)
{
    const char *const judged = l->made == HX_LIGHTEST_SURFACE ? "surface"
                               : l->made == HX_LIGHTEST_QUADRATIC
                                   ? "0/1 design with quadratic elements"
                                   : "0/1 design";
    const char *const third = l->made == HX_LIGHTEST_SURFACE     ? ", surface"
                              : l->made == HX_LIGHTEST_QUADRATIC ? ", quadratic"
                                                                 : "";
    if (l->level == HX_LOG_VERBOSE) return; /* the commands print between the lines */
    hx_log_info("%s: inside the surface part.stl\n"
                "grey, 0/1%s: share of the bound that the worst limit of that design uses; above 1 "
                "it is missed; the search ends if the %s uses %g to %g",
                amount_title(l), third, judged, HX_LIGHTEST_LOW, HX_LIGHTEST_HIGH);
    hx_log_info(ROW, "try", amount_title(l), "grey", "0/1", third_width(l), third_name(l),
                "worst limit",
                l->vary == HX_LIGHTEST_VOLUME ? "volume fraction of run" : "bound of run", "time");
}

void hx_lightest_print_try(const hx_lightest *l, int i)
{
    const hx_lightest_try *const t = &l->tries[i];
    char number[16], amount[64], usage[HX_N_LIGHTEST_DESIGN][32], given[128], seconds[64];
    snprintf(number, sizeof number, "%d", i + 1);
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) usage_text(t->usage[d], usage[d]);
    hx_log_info(ROW, number, amount_text(l, t, amount, sizeof amount), usage[HX_LIGHTEST_GREY],
                usage[HX_LIGHTEST_BLACK_WHITE], third_width(l), has_third(l) ? usage[l->made] : "",
                worst_text(l, t), given_text(l, t, given, sizeof given),
                hx_format_seconds(t->seconds, seconds, sizeof seconds));
}

/* --- the end --- */

static void print_table(const hx_lightest *l, int marked, const char *mark)
{
    hx_table table;
    char text[128], usage[32];
    const int third = has_third(l);
    hx_table_begin(&table, third ? "rrrrrlll" : "rrrrlll");
    table.level = HX_LOG_NORMAL;
    hx_table_add(&table, "try");
    hx_table_add(&table, "%s", amount_title(l));
    hx_table_add_words(&table, "grey|0/1");
    if (third) hx_table_add(&table, "%s", third_name(l));
    hx_table_add(&table, "worst limit");
    hx_table_add(&table, "%s", l->vary == HX_LIGHTEST_VOLUME ? "volume fraction" : "bound of run");
    hx_table_add(&table, " ");
    for (int i = 0; i < l->n_try; i++) {
        const hx_lightest_try *const t = &l->tries[i];
        hx_table_add(&table, "%d", i + 1);
        hx_table_add(&table, "%s", amount_text(l, t, text, sizeof text));
        for (int d = 0; d <= HX_LIGHTEST_BLACK_WHITE; d++)
            hx_table_add(&table, "%s", usage_text(t->usage[d], usage));
        if (third) hx_table_add(&table, "%s", usage_text(t->made, usage));
        hx_table_add(&table, "%s", worst_text(l, t));
        hx_table_add(&table, "%s", given_text(l, t, text, sizeof text));
        hx_table_add(&table, "%s", i == marked ? mark : " ");
    }
    hx_table_end(&table, 2);
}

/* Each limit of a try with its value on the surface. */
static void print_limits(const hx_lightest *l, int i)
{
    const hx_lightest_try *const t = &l->tries[i];
    hx_table table;
    char bound[128], unit[64], usage[32];
    hx_table_begin(&table, "lrlr");
    table.level = HX_LOG_NORMAL;
    hx_table_add(&table, "limit");
    hx_table_add(&table, "%s", has_third(l) ? third_name(l) : "0/1");
    hx_table_add_words(&table, "allowed|share");
    for (int k = 0; k < l->n_limit; k++) {
        const hx_lightest_limit *const limit = &l->limit[k];
        const hx_config_constraint *const c = hx_lightest_constraint(l, (size_t)limit->constraint);
        const double value = t->value[l->made][k];
        hx_fit(unit, sizeof unit, "%s%s", limit->unit[0] ? " " : "", limit->unit);
        hx_table_add(&table, "%s", limit->name);
        hx_table_add(&table, "%.6g%s", value, unit);
        hx_table_add(&table, "%s", hx_bound_text(c->max, c->min, unit, bound, sizeof bound));
        hx_table_add(&table, "%s",
                     hx_lightest_is_unknown(t, k)
                         ? "unknown"
                         : usage_text(hx_lightest_usage(l, k, value), usage));
    }
    hx_table_end(&table, 2);
}

/* Prints the entries of "warnings" in a file of the kept try: texts, or objects with one. */
static void print_warnings(const hx_lightest *l, int number, const char *name)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    if (hx_json_read(&tree, hx_lightest_path(l, number, name, path)) == HX_OK) {
        const hx_json_value *const list = hx_json_at(tree.root, "warnings");
        for (const hx_json_value *v = list ? list->first : NULL; v; v = v->next) {
            const char *const text =
                v->kind == HX_JSON_STRING ? v->text : hx_json_text_at(v, "text", "");
            if (text[0]) hx_log_warning("try %d: %s", number, text);
        }
    }
    hx_json_free(&tree);
    hx_error_clear(); /* it was read before, or is not needed */
}

/* text: the command of this search with other options, in back quotes. suffix: end of the name of
 * another folder; "": the same folder. */
static const char *command_text(const hx_lightest *l, const char *suffix, hx_lightest_vary vary,
                                int n_most, int is_resumed, char text[HX_MESSAGE_SIZE])
{
    static const char directory[] = "output.directory=";
    char word[HX_SHELL_WORD], key[PATH_MAX + 64];
    size_t n = hx_fit(text, HX_MESSAGE_SIZE, "`hextop lightest %s",
                      hx_shell_word(l->file, word, sizeof word));
    for (size_t i = 0; i < l->n_argument; i++)
        if (!suffix[0] || strncmp(l->argument[i], directory, strlen(directory)) != 0)
            n += hx_fit(text + n, HX_MESSAGE_SIZE - n, " %s",
                        hx_shell_word(l->argument[i], word, sizeof word));
    hx_fit(key, sizeof key, "%s%s%s", directory, l->folder, suffix);
    if (suffix[0])
        n += hx_fit(text + n, HX_MESSAGE_SIZE - n, " %s", hx_shell_word(key, word, sizeof word));
    if (vary != HX_LIGHTEST_LIMITS)
        n += hx_fit(text + n, HX_MESSAGE_SIZE - n, " --vary %s", hx_lightest_vary_word(vary));
    for (size_t i = 0; i < l->n_pass; i++)
        n += hx_fit(text + n, HX_MESSAGE_SIZE - n, " %s", l->pass[i]);
    if (n_most > 0) n += hx_fit(text + n, HX_MESSAGE_SIZE - n, " --tries %d", n_most);
    hx_fit(text + n, HX_MESSAGE_SIZE - n, "%s`", is_resumed ? " --resume" : "");
    return text;
}

void hx_lightest_print_interrupted(const hx_lightest *l)
{
    char text[HX_MESSAGE_SIZE];
    hx_log_warning("interrupted; the tries so far are complete, and %s continues the search",
                   command_text(l, "", l->vary, l->n_most, 1, text));
}

/* Why the search ended although the window was not reached; "" if it was. */
static const char *end_text(const hx_lightest *l)
{
    static const char *const text[] = {
        [HX_LIGHTEST_GOES_ON] = "",
        [HX_LIGHTEST_FOUND] = "",
        [HX_LIGHTEST_TRIES] = "all tries are used up",
        [HX_LIGHTEST_SAME] = "the next try would repeat an earlier one",
        [HX_LIGHTEST_BRACKET] = "a try that passes and one that does not differ by less than 1 %",
        [HX_LIGHTEST_FULL] = "the limits are missed by the largest volume",
        [HX_LIGHTEST_UNKNOWN] = "more material did not help",
        [HX_LIGHTEST_REFUSED] = "runs with bounds that are stricter by 1 % are refused",
    };
    return text[l->end];
}

/* "`hextop lightest ... --resume` continues the search" with more tries; returns text. */
static const char *continue_text(const hx_lightest *l, char text[HX_MESSAGE_SIZE])
{
    char command[HX_MESSAGE_SIZE];
    const int n_most = 2 * l->n_most < HX_LIGHTEST_MOST ? 2 * l->n_most : HX_LIGHTEST_MOST;
    hx_fit(text, HX_MESSAGE_SIZE, "%s continues the search",
           command_text(l, "", l->vary, n_most, 1, command));
    return text;
}

/* "`hextop lightest ... --vary volume` searches the volume instead"; returns text. */
static const char *volume_text(const hx_lightest *l, char text[HX_MESSAGE_SIZE])
{
    char command[HX_MESSAGE_SIZE];
    hx_fit(text, HX_MESSAGE_SIZE, "%s searches the volume instead",
           command_text(l, "-volume", HX_LIGHTEST_VOLUME, 0, 0, command));
    return text;
}

/* What would help if no try passes. */
static void advise(const hx_lightest *l, const hx_lightest_try *t)
{
    char text[HX_MESSAGE_SIZE];
    if (hx_lightest_is_unknown(t, t->worst))
        hx_log_info("make the elements at the set passive solid, or take a set of the part");
    else if (l->end == HX_LIGHTEST_FULL)
        hx_log_info("more material does not help: raise the bound of the limit, or change the "
                    "part, its material or its supports");
    else if (l->end == HX_LIGHTEST_TRIES)
        hx_log_info("%s", continue_text(l, text));
    else if (l->vary == HX_LIGHTEST_LIMITS)
        hx_log_info("%s; a projection makes the design and the part more similar: "
                    "'optimization.projection={}'",
                    volume_text(l, text));
    else
        hx_log_info(
            "a finer mesh, or a projection ('optimization.projection={}'), makes the design "
            "and the part more similar");
}

static void print_kept(const hx_lightest *l, int kept)
{
    const hx_lightest_try *const t = &l->tries[kept];
    char path[PATH_MAX], amount[64], text[HX_MESSAGE_SIZE], other[HX_MESSAGE_SIZE];
    const double usage = t->made;
    hx_log_info("\nthe lightest part that meets all limits is that of try %d, %s: %s", kept + 1,
                amount_text(l, t, amount, sizeof amount),
                hx_lightest_path(l, kept + 1, HX_LIGHTEST_PART, path));
    print_limits(l, kept);
    print_warnings(l, kept + 1, "summary.json");
    print_warnings(l, kept + 1, "verify.json");
    if (!(usage < HX_LIGHTEST_LOW)) return;
    const int may_go_on = l->end == HX_LIGHTEST_TRIES, has_other = l->vary == HX_LIGHTEST_LIMITS;
    hx_log_warning("it uses only %.3g of its worst limit, so a lighter part may exist: %s%s%s%s%s",
                   usage, end_text(l), may_go_on ? "; " : "",
                   may_go_on ? continue_text(l, text) : "", has_other ? "; " : "",
                   has_other ? volume_text(l, other) : "");
}

int hx_lightest_print_end(const hx_lightest *l)
{
    const int kept = hx_lightest_kept(l), nearest = hx_lightest_nearest(l);
    char path[PATH_MAX];
    hx_log_info("%s", "");
    print_table(l, kept >= 0 ? kept : nearest, kept >= 0 ? "kept" : "nearest");
    if (kept >= 0) {
        print_kept(l, kept);
        return 0;
    }
    if (nearest < 0) return HX_EXIT_LIMIT;
    const hx_lightest_try *const t = &l->tries[nearest];
    if (!t->error) {
        hx_log_info("\nnearest: try %d, %s", nearest + 1,
                    hx_lightest_path(l, nearest + 1, HX_LIGHTEST_PART, path));
        print_limits(l, nearest);
    }
    print_warnings(l, nearest + 1, "summary.json");
    print_warnings(l, nearest + 1, "verify.json");
    advise(l, t);
    if (t->error) {
        hx_log_usage_error("no try has a part that can be analysed (%s); %s", end_text(l),
                           t->error);
        return HX_EXIT_LIMIT;
    }
    if (hx_lightest_is_unknown(t, t->worst)) {
        hx_log_usage_error("no try meets all limits (%s): limit '%s' cannot be judged, since %s",
                           end_text(l), l->limit[t->worst].name, t->unknown[t->worst]);
        return HX_EXIT_LIMIT;
    }
    hx_log_usage_error("no try meets all limits (%s); the nearest is try %d, whose limit '%s' "
                       "uses %.3g of its bound",
                       end_text(l), nearest + 1, l->limit[t->worst].name, t->made);
    return HX_EXIT_LIMIT;
}
