#include "file_unread.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/memory.h"

enum { TEXT = 900, WORDS = 8192 };

void hx_warn_of_unread(const hx_unread *list)
{
    char text[TEXT];
    if (hx_unread_text(list, 0, 0, "not read: ", text, sizeof text) > 0) hx_log_warning("%s", text);
    if (hx_unread_text(list, 0, 1, "left out on purpose: ", text, sizeof text) > 0)
        hx_log_warning("%s", text);
}

/* 1 if both factors are known and differ by more than the digits in which files state them. */
static int is_other(double file, double own)
{
    return file > 0.0 && own > 0.0 && fabs(file - own) > 1e-4 * own;
}

int hx_warn_of_units(const hx_config *cfg, const hx_file_units *stated)
{
    const int is_heat = hx_config_is_heat(cfg);
    const char *const text = is_heat && stated->heat ? stated->heat : stated->text;
    const hx_units *const own = &cfg->units;
    if (!own->system[0]) return HX_OK;
    const double newton = own->pascal * own->metre * own->metre;
    if (!is_other(stated->metre, own->metre) &&
        !(is_heat ? is_other(stated->watt, own->watt) : is_other(stated->newton, newton)))
        return HX_OK;
    hx_log_warning("%s states its units, '%s': %s; the config has units = \"%s\", and no number is "
                   "converted",
                   cfg->mesh.file, stated->stated, text, own->system);
    return HX_OK;
}

static int take_ignored(const hx_config *cfg, hx_unread *list)
{
    char met[WORDS];
    const hx_config_words *const ignore = &cfg->mesh.ignore;
    hx_unread_words(list, 0, met, sizeof met); /* all words: none has been marked yet */
    for (size_t i = 0; i < ignore->n; i++) {
        if (hx_unread_ignore(list, ignore->word[i])) continue;
        return hx_config_blame(
            cfg, "mesh.ignore",
            list->n > 0
                ? HX_RAISE(HX_EINPUT,
                           "\"%s\" is not among the items of %s that hextop does not read: %s",
                           ignore->word[i], cfg->mesh.file, met)
                : HX_RAISE(HX_EINPUT, "\"%s\": hextop reads everything in %s; leave the key out",
                           ignore->word[i], cfg->mesh.file));
    }
    return HX_OK;
}

int hx_has_mass_load(const hx_config *cfg, const hx_conditions *conditions)
{
    const hx_config_load *const load = cfg->loads.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->loads.n; i++)
        any |= load[i].centrifugal.given || !isnan(load[i].gravity[0]);
    for (int64_t i = 0; i < conditions->n_load; i++)
        any |= conditions->load[i].kind == HX_FILE_GRAVITY ||
               conditions->load[i].kind == HX_FILE_CENTRIFUGAL;
    return any;
}

/* Makes these kinds the reason for refusing the file's data, unless there is already one. */
static int set_fault(hx_unread *list, hx_unread_use use, unsigned roles, const char *instead,
                     char **fault)
{
    char text[TEXT], words[WORDS], whole[TEXT + WORDS + 200];
    if (roles == 0 || *fault) return HX_OK;
    hx_unread_text(list, roles, 0, "not read: ", text, sizeof text);
    hx_unread_words(list, roles, words, sizeof words);
    list->refused |= 1u << use;
    snprintf(whole, sizeof whole,
             "%s; state %s in the config, or leave it out on purpose with mesh.ignore = %s", text,
             instead, words);
    return hx_strdup(fault, whole);
}

/* Without a static step the file has no loads, even if mesh.ignore leaves items out. */
static int refuse_no_case(const hx_unread *list, int n_case, char **fault)
{
    char text[TEXT], whole[TEXT + 200];
    size_t n = 0;
    if (n_case > 0 || *fault) return HX_OK;
    for (int is_ignored = 0; is_ignored < 2 && n == 0; is_ignored++)
        n = hx_unread_text(list, HX_UNREAD_STEP, is_ignored, "", text, sizeof text);
    if (n == 0) return HX_OK;
    snprintf(whole, sizeof whole,
             "%s; the file has no static load case, and mesh.ignore cannot make one: state the "
             "loads in the config",
             text);
    return hx_strdup(fault, whole);
}

/* Returns 1 if a load of the config couples that set rigidly. */
static int is_coupled(const hx_config *cfg, const char *set)
{
    const hx_config_load *const load = cfg->loads.entry;
    for (size_t i = 0; i < cfg->loads.n; i++)
        if (load[i].coupling == HX_COUPLING_RIGID && load[i].set && strcmp(load[i].set, set) == 0)
            return 1;
    return 0;
}

int hx_handle_unread(const hx_config *cfg, int is_heat, hx_conditions *conditions)
{
    static const char *const instead[] = {"the supports", "the loads", "the material"};
    hx_unread *const list = &conditions->unread;
    char **const fault[] = {&conditions->support_fault, &conditions->load_fault,
                            &conditions->material.fault};
    const int by_mass = hx_has_mass_load(cfg, conditions), n_case = conditions->n_case;
    const int n_use = cfg->material.from ? 3 : 2;
    list->is_heat = is_heat;
    /* Lists the rigid sets of the file, which take effect only with supports or loads of the
     * file, if the config states its own. */
    const hx_config_support *const support = cfg->supports.entry;
    const hx_config_load *const load = cfg->loads.entry;
    int is_by_file = cfg->loads.n == 0 || is_heat; /* or nothing to solve yet */
    for (size_t i = 0; i < cfg->supports.n; i++) is_by_file |= support[i].from != NULL;
    for (size_t i = 0; i < cfg->loads.n; i++) is_by_file |= load[i].from != NULL;
    for (int64_t i = 0; !is_by_file && i < conditions->n_rigid; i++) {
        const hx_file_rigid *const rigid = &conditions->rigid[i];
        if (is_coupled(cfg, rigid->set)) continue;
        HX_TRY(hx_unread_add(&conditions->unread, HX_UNREAD_CARRIES, rigid->word,
                             "read only with supports or loads from = \"file\"", 1, rigid->path,
                             rigid->line));
    }
    HX_TRY(take_ignored(cfg, list));
    hx_warn_of_unread(list);
    HX_TRY(refuse_no_case(list, n_case, &conditions->load_fault));
    for (int i = 0; i < n_use; i++) {
        const hx_unread_use use = (hx_unread_use)i;
        const unsigned roles = hx_unread_refuses(list, use, by_mass, n_case);
        HX_TRY(set_fault(list, use, roles, instead[i], fault[i]));
    }
    return HX_OK;
}
