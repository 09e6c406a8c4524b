/* Cards of Nastran that are counted but not read. Some of them affect the part. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "nastran_reader.h"
#include "word_rows.h"

/* Up to MOST_SETS sets are distinguished; further cards are counted by name only. */
enum { MOST_LOST = 2000, MOST_SETS = 500 };

/* --- classification of cards --- */

/* The case-control command that selects the card's set. */
typedef enum {
    ALWAYS,
    BY_LOAD,
    BY_MPC,
    BY_TEMPERATURE,
    BY_MATERIAL, /* selected by a material or property of solids instead of a subcase */
    BY_PROPERTY
} chosen_by;

struct hx_nastran_kind {
    const char *words; /* names; those that end with "*" are prefixes */
    unsigned roles;    /* HX_UNREAD_...; 0: only reported */
    chosen_by by;
    const char *what; /* in words; NULL: the name is sufficient */
};

#define CARRIES HX_UNREAD_CARRIES
#define LOAD HX_UNREAD_LOAD
#define HOLDS HX_UNREAD_SUPPORT
#define MASS HX_UNREAD_MASS

static const hx_nastran_kind kinds[] = {
    {"CONROD", CARRIES | MASS, ALWAYS, "rods"},
    {"CBUSH, CBUSH1D, CBUSH2D, CELAS1, CELAS2, CELAS3, CELAS4", CARRIES, ALWAYS, "springs"},
    {"CGAP", CARRIES, ALWAYS, "gaps"},
    {"CFAST", CARRIES, ALWAYS, "fasteners"},
    {"CWELD", CARRIES, ALWAYS, "welds"},
    {"CSEAM", CARRIES, ALWAYS, "seams"},
    {"GENEL", CARRIES, ALWAYS, "general elements"},
    {"DMIG", CARRIES, ALWAYS, "matrices"},
    {"RBE1, RBE2, RBAR, RBAR1, RROD, RJOINT, RTRPLT, RTRPLT1, RSPLINE, RSSCON", CARRIES, ALWAYS,
     "rigid elements"},
    {"RBE3", CARRIES, ALWAYS, "interpolation elements"},
    {"MPC", CARRIES, BY_MPC, "multipoint constraints"},
    {"MPCADD", 0, ALWAYS, "sets of multipoint constraints"},
    {"BCTABLE, BCONP, BCTSET, CONTACT", CARRIES, ALWAYS, "contact"},
    {"BGSET", CARRIES, ALWAYS, "glue"},
    {"TIE", CARRIES, ALWAYS, "ties"},
    {"CONM1, CONM2, CMASS1, CMASS2, CMASS3, CMASS4", MASS, ALWAYS, "point masses"},
    {"NSM, NSM1, NSML, NSML1", MASS, ALWAYS, "masses of properties"},
    {"FORCE of a coordinate system, PLOAD4 that varies over a face, PLOAD4 with a direction, "
     "PLOAD4 of shells",
     LOAD, BY_LOAD, NULL},
    {"FORCE1", LOAD, BY_LOAD, "forces by two nodes"},
    {"FORCE2", LOAD, BY_LOAD, "forces by four nodes"},
    {"MOMENT, MOMENT1, MOMENT2", LOAD, BY_LOAD, "moments"},
    {"PLOAD1", LOAD, BY_LOAD, "loads of bars"},
    {"PLOAD2", LOAD, BY_LOAD, "pressures of shells"},
    {"PLOADX1", LOAD, BY_LOAD, "pressures"},
    {"GRAV", LOAD, BY_LOAD, "gravity"},
    {"ACCEL, ACCEL1", LOAD, BY_LOAD, "accelerations"},
    {"RFORCE", LOAD, BY_LOAD, "centrifugal loads"},
    {"SLOAD", LOAD, BY_LOAD, "loads on scalar points"},
    {"SPCD", LOAD | HOLDS, BY_LOAD, "prescribed displacements of a load"},
    {"TEMP, TEMPD, TEMPP1, TEMPP3, TEMPRB", LOAD, BY_TEMPERATURE, "temperatures"},
    {"DEFORM", LOAD, ALWAYS, "initial deformations"},
    {"BOLT, BOLTFOR", LOAD, ALWAYS, "pretension"},
    {"QBDY1, QBDY2, QBDY3, QHBDY, QVECT", LOAD, BY_LOAD, "heat fluxes"},
    {"QVOL", LOAD, BY_LOAD, "heat sources"},
    {"CONV", LOAD, ALWAYS, "convection"},
    {"RADBC", LOAD, ALWAYS, "radiation"},
    {"SUPORT, SUPORT1", HOLDS, ALWAYS, "supports of free bodies"},
    {"SPCAX", HOLDS, ALWAYS, "supports of rings"},
    {"SPCOFF, SPCOFF1, SPCR", HOLDS, ALWAYS, "supports"},
    {"TEMPBC", HOLDS, ALWAYS, "prescribed temperatures"},
    {"SUBCOM, SUBSEQ", HX_UNREAD_STEP, ALWAYS, "combinations of subcases"},
    {"SUBSTEP", LOAD, ALWAYS, "coupled analyses"},
    {"SYM", LOAD | HOLDS, ALWAYS, "subcases of symmetry"},
    {"SYMCOM, SYMSEQ", LOAD, ALWAYS, "combinations of subcases"},
    {"PLSOLID", HX_UNREAD_MATERIAL, BY_PROPERTY, "hyperelastic solids"},
    {"PCOMPLS, PCOMPS", HX_UNREAD_MATERIAL, BY_PROPERTY, "layered solids"},
    {"PSLDN1", 0, BY_PROPERTY, "nonlinear solids; the analysis is linear"},
    {"MAT5", 0, BY_MATERIAL, "anisotropic conductivity"},
    {"MATT5", 0, BY_MATERIAL, "conductivity by temperature"},
    {"MATHP, MATHE", HX_UNREAD_MATERIAL, BY_MATERIAL, "hyperelastic materials"},
    {"MATS1", HX_UNREAD_MATERIAL, BY_MATERIAL, "nonlinear materials"},
    {"MAT*", HX_UNREAD_MATERIAL, BY_MATERIAL, "materials that are not linear and isotropic"},
    {"PLOTEL, PLOTEL3, PLOTEL4", 0, ALWAYS, "plot elements"},
};

/* Cards that describe materials, solution control or output. */
static const char plain[] =
    "PARAM, MDLPRM, P*, CORD*, EIG*, DESC, SET*, TABLE*, TABD*, TABR*, TSTEP*, ECHO*, ASET*, "
    "BSET*, CSET*, OMIT*, QSET*, USET*, SE*, BEGIN, DTI, DV*, DESVAR*, DRESP*, DCON*, DOPT*, "
    "DTPL*, DLINK*, DEQATN, DTABLE*, DSCREEN, OPTI*, FREQ*, AERO*, AE*, CAERO*, SPLINE*, TRIM*, "
    "FLFACT, FLUTTER, MKAERO*, GUST, CSSCHD, DIVERG, DIVERG, TF, DPHASE, DELAY, RAND*, DMI, "
    "DMIJ*, DMIK, NLP*, BCPARA, BCTPARA*, BCTPARM, BCBODY*, BSURF*, BCRPARA, VIEW*, RAD*, CHBDY*, "
    "BDYOR, SPOINT, EPOINT, CDAMP*, CVISC, SNORM, MONPNT*, MONDSP*, ACMODL, TLOAD*, RLOAD*, "
    "DAREA, LSEQ, DLOAD, TIC, SWLDPRM, CYAX, CYJOIN, BNDGRID, MODTRAK, TOPVAR, GRDSET, CBARAO, "
    "BAROR, BEAMOR, USERSET, INCLUDE, FLUX*, CNVCT, NSMADD, DEFORMC, ENDT, OUTPUT*, EDGE*, "
    "NLSTEP, NLCNTL*, NLOUT, GROUP, ROTOR*, ADAPT, OUTRCV, ACSRCE, DMN*, DMR*, MICPNT, AMLREG, "
    "BCTADD, BGADD, BCADD, BCTPAR*, BOUTPUT, RCROSS, ACPLNW, FEFACE, FEEDGE, GM*, POINT, CONTRLT, "
    "RELEASE, EXTRN";

/* Returns 1 if the name is in the list, or begins with a word of it that ends with "*". */
static int is_listed(const char *list, const char *name)
{
    char word[HX_LISTED_WORD];
    while (hx_next_word(&list, word)) {
        const size_t n = strlen(word);
        if (word[n - 1] == '*' ? strncasecmp(name, word, n - 1) == 0 : strcasecmp(name, word) == 0)
            return 1;
    }
    return 0;
}

static const hx_nastran_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (is_listed(kinds[i].words, name)) return &kinds[i];
    return NULL;
}

/* --- counting --- */

/* Counts a card of that name and number. */
static int count_card(hx_nastran_reader *r, hx_nastran_cards *list, const char *name,
                      int64_t number, const hx_nastran_kind *kind, const char *too_many)
{
    for (size_t i = list->n; i-- > 0;) {
        if (list->card[i].number != number || strcmp(list->card[i].name, name) != 0) continue;
        list->card[i].n++;
        return HX_OK;
    }
    if (list->n == MOST_LOST)
        return HX_NASTRAN_RAISE(&r->scan, "more than %d %s", MOST_LOST, too_many);
    HX_TRY(hx_grow(&list->card, list->n, &list->capacity, sizeof *list->card, "cards"));
    hx_nastran_lost *const card = &list->card[list->n];
    *card = (hx_nastran_lost){.number = number, .n = 1, .line = r->scan.line, .kind = kind};
    snprintf(card->name, sizeof card->name, "%s", name);
    HX_TRY(hx_strdup(&card->path, r->scan.path));
    list->n++;
    return HX_OK;
}

int hx_nastran_lose(hx_nastran_reader *r, const char *name)
{
    size_t same = r->lost.n;
    while (same > 0 && strcmp(r->lost.card[same - 1].name, name) != 0) same--;
    const hx_nastran_kind *const kind = same > 0 ? r->lost.card[same - 1].kind : find_kind(name);
    int64_t sid = 0;
    char *end;
    if (kind && kind->by != ALWAYS && r->lost.n < MOST_SETS) {
        sid = strtoll(hx_nastran_text(&r->scan, 0), &end, 10);
        if (*end || sid < 0) sid = 0;
    }
    return count_card(r, &r->lost, name, sid, kind,
                      "kinds of unknown cards: this does not seem to be Nastran bulk data");
}

/* An error in a material becomes a warning, and the material is ignored. */
static int soften_material(hx_nastran_reader *r)
{
    HX_TRY(hx_notes_add(r->notes, HX_NOTE_WARNING, "%s", hx_error_message()));
    hx_error_clear();
    return HX_OK;
}

int hx_nastran_soften(hx_nastran_reader *r, unsigned role, int rc)
{
    enum { MOST_WARNED = 3 };
    if (rc != HX_EINPUT || role == 0) return rc;
    if (role == HX_UNREAD_MATERIAL) return soften_material(r);
    HX_TRY(hx_set_fault(role == LOAD ? &r->conditions.load_fault : &r->conditions.support_fault,
                        "%s", hx_error_message()));
    if (r->n_soft++ < MOST_WARNED)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_WARNING, "%s", hx_error_message()));
    hx_error_clear();
    return HX_OK;
}

int hx_nastran_take_skin(hx_nastran_reader *r, int64_t property)
{
    return count_card(r, &r->skin, r->scan.name, property, NULL, "properties of shells and bars");
}

int hx_nastran_take_property(hx_nastran_reader *r)
{
    const int64_t property = strtoll(hx_nastran_text(&r->scan, 0), NULL, 10);
    return property < 1 ? HX_OK : hx_numbers_append(&r->carrying, 1, &property);
}

/* --- naming --- */

/* Returns 1 if a set of loads is selected, or included by a selected set. */
static int has_load(const hx_nastran_reader *r, int64_t chosen, int64_t sid)
{
    int has = chosen == sid;
    for (size_t k = 0; k < r->n_part && !has; k++)
        has = r->part[k].of == chosen && r->part[k].sid == sid;
    return has;
}

static int solids_have(const hx_nastran_reader *r, chosen_by by, int64_t number)
{
    for (size_t i = 0; by == BY_MATERIAL && i < r->materials.n; i++)
        if (r->materials.list[i].number == number) return r->materials.list[i].is_used;
    for (int64_t i = 0; by == BY_PROPERTY && i < r->solid_property.n; i++)
        if (hx_numbers_get(&r->solid_property, i) == number) return 1;
    return 0;
}

/* Without case control, or with an unknown set, all cards count as selected. */
static int is_chosen(const hx_nastran_reader *r, const hx_nastran_lost *lost, chosen_by by)
{
    int is = by == ALWAYS || lost->number == 0;
    if (by == BY_MATERIAL || by == BY_PROPERTY) return is || solids_have(r, by, lost->number);
    is |= !r->has_control;
    for (size_t i = 0; i < r->n_case && !is; i++) {
        const hx_nastran_case *const c = &r->list[i];
        is = by == BY_LOAD ? has_load(r, c->load, lost->number)
                           : (by == BY_MPC ? c->mpc > 0 : c->temperature == lost->number);
    }
    return is;
}

int hx_nastran_name_unread(hx_nastran_reader *r)
{
    char text[300] = "";
    hx_number_index index = {0};
    HX_TRY(hx_number_index_create(&index, &r->carrying));
    int rc = HX_OK;
    for (size_t i = 0; i < r->skin.n && rc == HX_OK; i++) {
        const hx_nastran_lost *const s = &r->skin.card[i];
        const int is_shell = strncmp(s->name, "CT", 2) == 0 || strncmp(s->name, "CQ", 2) == 0 ||
                             strcmp(s->name, "CSHEAR") == 0;
        const int is_bar = !is_shell || strcmp(s->name, "CTUBE") == 0;
        if (hx_number_index_find(&index, s->number) < 0) continue; /* only marks faces or edges */
        rc = hx_unread_add(&r->import.unread, CARRIES | MASS, s->name, is_bar ? "bars" : "shells",
                           s->n, s->path, s->line);
    }
    hx_number_index_free(&index);
    HX_TRY(rc);
    for (size_t i = 0; i < r->lost.n; i++) {
        const hx_nastran_lost *const lost = &r->lost.card[i];
        const hx_nastran_kind *const kind = lost->kind;
        const int is_plain = strncmp(lost->name, "PLOAD", 5) != 0 && is_listed(plain, lost->name);
        if (kind ? !is_chosen(r, lost, kind->by) : is_plain) {
            /* append "12 PARAM, 1 EIGRL" for cards without effect */
            const size_t n_text = sizeof text, n = strlen(text);
            if (n + 48 < n_text)
                snprintf(text + n, n_text - n, "%s%lld %s", n > 0 ? ", " : "", (long long)lost->n,
                         lost->name);
            else if (n + 5 < n_text && (n < 3 || strcmp(text + n - 3, "...") != 0))
                snprintf(text + n, n_text - n, " ...");
            continue;
        }
        const unsigned roles = kind ? kind->roles : CARRIES | LOAD | HOLDS;
        HX_TRY(hx_unread_add(&r->import.unread, roles, lost->name,
                             kind ? kind->what : "unknown cards", lost->n, lost->path, lost->line));
    }
    if (!*text) return HX_OK;
    return hx_notes_add(r->notes, HX_NOTE_DETAIL, "%s: not read: %s", r->import.path, text);
}

void hx_nastran_free_unread(hx_nastran_reader *r)
{
    for (size_t i = 0; i < r->lost.n; i++) free(r->lost.card[i].path);
    for (size_t i = 0; i < r->skin.n; i++) free(r->skin.card[i].path);
    free(r->lost.card);
    free(r->skin.card);
}

/* SOL 105 has static subcases in addition to those for buckling. */
int hx_nastran_is_static(const hx_nastran_reader *r)
{
    static const char word[] = "101, 105, 106, 1, 114, 153, 200, 400, 401, 600, SESTATIC*, "
                               "STATIC*, NLSTATIC*, SEBUCKL*, NONLIN*";
    return !r->solution[0] || is_listed(word, r->solution);
}

/* PARAM,LGDISP,1 and PARAM,INREL,-2. */
int hx_nastran_take_param(hx_nastran_reader *r)
{
    const char *const value = hx_nastran_text(&r->scan, 1);
    if (strcasecmp(hx_nastran_text(&r->scan, 0), "LGDISP") == 0)
        r->large_line = strtol(value, NULL, 10) > 0 ? r->scan.line : 0;
    if (strcasecmp(hx_nastran_text(&r->scan, 0), "INREL") == 0)
        r->relief_line = strtol(value, NULL, 10) != 0 ? r->scan.line : 0;
    return hx_nastran_lose(r, r->scan.name);
}

/* LGDISP and NLPARM have no effect in a linear solution. */
int hx_nastran_name_nonlinear(hx_nastran_reader *r)
{
    char text[HX_NASTRAN_FIELD + 8];
    const int is = is_listed("106, 153, 400, 401, 402, 600, NLSTATIC*, NONLIN*", r->solution);
    const int may = is || !r->solution[0];
    snprintf(text, sizeof text, "SOL %s", r->solution);
    if (is)
        HX_TRY(hx_import_unread(&r->import, 0, text, "nonlinear; the analysis is linear", 1,
                                r->solution_line));
    if (may && r->nlparm_line)
        HX_TRY(hx_import_unread(&r->import, 0, "NLPARM", "nonlinear; the analysis is linear", 1,
                                r->nlparm_line));
    if (may && r->large_line)
        HX_TRY(hx_import_unread(&r->import, 0, "PARAM,LGDISP",
                                "large displacements; the analysis is linear", 1, r->large_line));
    return HX_OK;
}

int hx_nastran_name_relief(hx_nastran_reader *r)
{
    int holds = 0;
    for (size_t i = 0; i < r->conditions.n && !holds; i++)
        holds = r->conditions.list[i].kind == HX_CONDITION_SUPPORT;
    if (!r->relief_line) return HX_OK;
    if (!holds)
        HX_TRY(hx_set_fault(
            &r->conditions.support_fault,
            "%s:%lld: INREL: inertia relief balances the loads of an unsupported part, and hextop "
            "does not support it: give supports and loads in the config",
            r->import.path, (long long)r->relief_line));
    return hx_import_unread(&r->import, LOAD, "INREL",
                            "inertia relief: loads by mass that balance the others", 1,
                            r->relief_line);
}

void hx_nastran_case_text(const hx_nastran_case *c, char text[60])
{
    const int n = snprintf(text, 60, "subcase %lld", (long long)c->number);
    if (c->step > 0) snprintf(text + n, 60 - (size_t)n, ", step %lld", (long long)c->step);
}

/* --- sets that the case control selects --- */

/* Lists the existing sets as "1, 2, 7", each once, and finds whether the wanted set is among
 * them. */
typedef struct set_list {
    char text[160];
    int64_t wanted, last;
    int has_wanted, n;
} set_list;

static void list_set(set_list *list, int64_t sid)
{
    char word[24], again[28], whole[200];
    const size_t n = strlen(list->text);
    if (sid < 1) return;
    list->has_wanted |= sid == list->wanted;
    if (list->n > 0 && sid == list->last) return;
    list->last = sid;
    snprintf(word, sizeof word, "%lld", (long long)sid);
    snprintf(again, sizeof again, " %s,", word);
    snprintf(whole, sizeof whole, " %s,", list->text);
    if (strstr(whole, again)) return;
    if (list->n++ == 0)
        snprintf(list->text, sizeof list->text, "%s", word);
    else if (n + strlen(word) + 8 < sizeof list->text)
        snprintf(list->text + n, sizeof list->text - n, ", %s", word);
    else if (strcmp(list->text + n - 3, "...") != 0)
        snprintf(list->text + n, sizeof list->text - n, ", ...");
}

/* Lists sets of unread cards with the same kind of selection. */
static void list_lost(set_list *list, const hx_nastran_reader *r, chosen_by by)
{
    for (size_t i = 0; i < r->lost.n; i++) {
        const hx_nastran_lost *const lost = &r->lost.card[i];
        if (!lost->kind || lost->kind->by != by) continue;
        list->has_wanted |= lost->number == 0; /* there were too many sets to distinguish */
        list_set(list, lost->number);
    }
}

/* Lists sets of loads, both from cards that are read and from those that are not. */
static set_list list_loads(const hx_nastran_reader *r, int64_t wanted)
{
    set_list list = {.wanted = wanted};
    for (size_t i = 0; i < r->n_part; i++) list_set(&list, r->part[i].of);
    for (size_t i = 0; i < r->n_load; i++) list_set(&list, r->load[i].sid);
    list_lost(&list, r, BY_LOAD);
    return list;
}

static set_list list_supports(const hx_nastran_reader *r, int64_t wanted)
{
    set_list list = {.wanted = wanted};
    for (size_t i = 0; i < r->n_part; i++) list_set(&list, -r->part[i].of);
    for (int64_t i = 0; i < r->support_set.n; i++)
        list_set(&list, hx_numbers_get(&r->support_set, i));
    return list;
}

static set_list list_mpcs(const hx_nastran_reader *r, int64_t wanted)
{
    set_list list = {.wanted = wanted};
    list_lost(&list, r, BY_MPC);
    for (size_t i = 0; i < r->n_mpc_part; i++) list_set(&list, r->mpc_part[i].of);
    return list;
}

/* "FILE:LINE: LOAD = 99 of the case control names no set; sets of loads in the file: 1, 2" */
static void no_set(const hx_nastran_reader *r, const char *command, const char *what, int64_t line,
                   const set_list *list, char text[800])
{
    snprintf(text, 800,
             "%.500s:%lld: %s = %lld of the case control names no set; %s in the file: %s",
             r->import.path, (long long)line, command, (long long)list->wanted, what,
             list->n > 0 ? list->text : "none");
}

static void none_chosen(const hx_nastran_reader *r, const char *command, const char *what,
                        const set_list *list, char text[800])
{
    snprintf(text, 800,
             "%.500s: the case control has no %s; %s in the file: %s; select one with %s = number",
             r->import.path, command, what, list->text, command);
}

/* A prescribed displacement acts as a load in a subcase without LOAD. */
static int is_prescribed(const hx_nastran_reader *r)
{
    for (size_t i = 0; i < r->n_support; i++)
        if (r->support[i].value != 0.0) return 1;
    return 0;
}

/* Reports a static subcase without LOAD if other subcases have one. */
static void no_load(const hx_nastran_reader *r, char text[800])
{
    char name[60];
    for (size_t i = 0; i < r->n_case && !*text && !is_prescribed(r); i++) {
        if (r->list[i].is_other || r->list[i].load > 0) continue;
        hx_nastran_case_text(&r->list[i], name);
        snprintf(text, 800, "%.500s:%lld: %s has no LOAD; add LOAD = number, or remove the subcase",
                 r->import.path, (long long)r->list[i].line, name);
    }
}

static int check_temperatures(hx_nastran_reader *r)
{
    char text[800] = "";
    for (size_t i = 0; i < r->n_case && !*text; i++) {
        const hx_nastran_case *const c = &r->list[i];
        set_list list = {.wanted = c->temperature};
        list_lost(&list, r, BY_TEMPERATURE);
        if (!c->is_other && c->temperature > 0 && !list.has_wanted)
            no_set(r, "TEMPERATURE", "sets of temperatures", c->temperature_line, &list, text);
    }
    return *text ? hx_set_fault(&r->conditions.load_fault, "%s", text) : HX_OK;
}

int hx_nastran_check_loads(hx_nastran_reader *r)
{
    char text[800] = "";
    int n_static = 0, n_chosen = 0;
    for (size_t i = 0; i < r->n_case && !*text; i++) {
        const hx_nastran_case *const c = &r->list[i];
        if (c->is_other) continue;
        n_static++;
        n_chosen += c->load > 0;
        const set_list list = list_loads(r, c->load);
        if (c->load > 0 && !list.has_wanted)
            no_set(r, "LOAD", "sets of loads", c->load_line, &list, text);
    }
    const set_list all = list_loads(r, -1);
    if (n_static > 0 && n_chosen == 0 && all.n > 0)
        none_chosen(r, "LOAD", "sets of loads", &all, text);
    if (n_chosen > 0) no_load(r, text);
    HX_TRY(check_temperatures(r));
    return *text ? hx_set_fault(&r->conditions.load_fault, "%s", text) : HX_OK;
}

int hx_nastran_check_supports(hx_nastran_reader *r, const hx_nastran_case *chosen)
{
    char text[800] = "";
    const set_list list = list_supports(r, chosen->spc);
    if (chosen->spc > 0 && !list.has_wanted)
        no_set(r, "SPC", "sets of supports", chosen->spc_line, &list, text);
    if (chosen->spc <= 0 && list.n > 0 && r->conditions.n == 0)
        none_chosen(r, "SPC", "sets of supports", &list, text);
    const set_list mpcs = list_mpcs(r, chosen->mpc);
    if (!*text && chosen->mpc > 0 && !mpcs.has_wanted)
        no_set(r, "MPC", "sets of multipoint constraints", chosen->mpc_line, &mpcs, text);
    return *text ? hx_set_fault(&r->conditions.support_fault, "%s", text) : HX_OK;
}

/* --- sets of sets --- */

/* LOAD, SPCADD or MPCADD. */
typedef struct set_kind {
    const char *name, *what;
    set_list (*list)(const hx_nastran_reader *r, int64_t wanted); /* 1: including sets of sets */
    const hx_nastran_part *part;
    size_t n;
    int sign; /* sign of the numbers in `part` */
} set_kind;

static int is_set_of_sets(const set_kind *k, int64_t sid)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->part[i].of == k->sign * sid) return 1;
    return 0;
}

/* Describes the first error of set `chosen`; "": it has none, or it does not include other sets. */
static void check_part(const hx_nastran_reader *r, const set_kind *k, int64_t chosen,
                       char text[800])
{
    for (size_t i = 0; i < k->n && !*text && chosen > 0; i++) {
        const hx_nastran_part *const p = &k->part[i];
        const int64_t sid = k->sign * p->sid;
        if (p->of != k->sign * chosen) continue;
        const set_list list = k->list(r, sid);
        if (is_set_of_sets(k, sid))
            snprintf(text, 800,
                     "%.500s:%lld: %s %lld includes %s %lld; include the sets of that one directly",
                     r->import.path, (long long)p->line, k->name, (long long)chosen, k->name,
                     (long long)sid);
        else if (!list.has_wanted)
            snprintf(text, 800,
                     "%.500s:%lld: %s %lld names set %lld, which the file does not have; %s in "
                     "the file: %s",
                     r->import.path, (long long)p->line, k->name, (long long)chosen, (long long)sid,
                     k->what, list.text);
    }
}

int hx_nastran_check_parts(hx_nastran_reader *r, const hx_nastran_case *chosen)
{
    const set_kind loads = {"LOAD", "sets of loads", list_loads, r->part, r->n_part, 1};
    const set_kind spcs = {"SPCADD", "sets of supports", list_supports, r->part, r->n_part, -1};
    const set_kind mpcs = {
        "MPCADD", "sets of multipoint constraints", list_mpcs, r->mpc_part, r->n_mpc_part, 1};
    char load[800] = "", support[800] = "";
    if (chosen->is_other) return HX_OK;
    check_part(r, &loads, chosen->load, load);
    check_part(r, &spcs, chosen->spc, support);
    check_part(r, &mpcs, chosen->mpc, support);
    if (*load) HX_TRY(hx_set_fault(&r->conditions.load_fault, "%s", load));
    return *support ? hx_set_fault(&r->conditions.support_fault, "%s", support) : HX_OK;
}
