/* Commands of ANSYS that are reported but not read, and those that an archive should not
 * contain. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "ansys_reader.h"
#include "word_rows.h"

enum {
    LOADS = HX_UNREAD_LOAD,
    HOLDS = HX_UNREAD_SUPPORT,
    BOTH = HX_UNREAD_LOAD | HX_UNREAD_SUPPORT,
    CARRIES = HX_UNREAD_CARRIES,
    MATERIAL = HX_UNREAD_MATERIAL,
    MOST_UNKNOWN = 500 /* unknown commands */
};

/* LSCLEAR and similar commands change or replace earlier statements of the file. */
static const hx_word_row unread[] = {
    {"SFE, SF, SFA, SFL, SFBEAM, SFEBLOCK", LOADS, "surface loads"},
    {"SFGRAD, SFFUN, FSCALE, FTRAN, SFTRAN, BFTRAN, SFSCALE, BFSCALE, LVSCALE", LOADS, NULL},
    {"BF, BFE, BFA, BFV, BFL, BFK, BFBLOCK, BFEBLOCK, BFINT", LOADS, "body loads"},
    {"FK", LOADS, "forces of keypoints"},
    {"FJ", LOADS, "forces of joints"},
    {"SLOAD", LOADS, "pretension"},
    {"INISTATE", LOADS, "initial stresses or strains"},
    {"ISTRESS, ISFILE", LOADS, "initial stresses"},
    {"DK", HOLDS, "supports of keypoints"},
    {"DL", HOLDS, "supports of lines"},
    {"DA", HOLDS, "supports of areas"},
    {"DJ", HOLDS, "supports of joints"},
    {"DSYM", HOLDS, "symmetry"},
    {"DSCALE, DVAL, DTRAN", HOLDS, NULL},
    {"LDREAD", BOTH, "results as loads"},
    {"LSWRITE, LSREAD, LSSOLVE", BOTH, "load steps in files"},
    {"LSDELE, LSCLEAR, SBCTRAN", BOTH, NULL},
    {"/INPUT", CARRIES, "another file"},
    {"*USE", CARRIES, "a macro"},
    {"/UCMD", CARRIES, "a user-defined command"},
    {"PARRES", BOTH, "parameters of another file"},
    {"DOFSEL", BOTH, "a selection of degrees of freedom"},
    {"FBLOCK", LOADS, "forces"},
    {"MAPLOAD", LOADS, "mapped loads"},
    {"CMROTATE", LOADS, "rotating components"},
    {"CBDOF", HOLDS, "interpolated displacements"},
    {"SWGEN, SWADD", CARRIES, "spot welds"},
    {"CECMOD, CE, CEINTF, CECYC, CESGEN", CARRIES, "constraint equations"},
    {"PERTURB", HX_UNREAD_STEP, "no static analysis"},
    {"CP, CPINTF, CPCYC, CPLGEN, CPNGEN, CPSGEN", CARRIES, "coupled degrees of freedom"},
    {"CERIG", CARRIES, "rigid regions"},
    {"RBE3", CARRIES, "distributed forces"},
    {"EKILL", CARRIES, "deactivated elements"},
    {"SE", CARRIES, "superelements"},
    {"EINTF", CARRIES, "elements between coincident nodes"},
    {"GCGEN", CARRIES, "contact"},
    {"PSMESH", CARRIES, "pretension"},
    {"ESURF", CARRIES, "surface elements"},
    {"CYCLIC", CARRIES, "cyclic symmetry"},
    {"MPCHG, EMODIF", MATERIAL, "a change of the elements' material"},
    {"MPREAD", MATERIAL, "materials of another file"},
    {"MPCOPY, TBCOPY", MATERIAL, "a copy of a material"},
    {"MPAMOD, TBMODIF", MATERIAL, "changed materials"},
};

/* Commands that create or change nodes and elements within ANSYS. */
static const char meshing[] =
    "VMESH, VSWEEP, AMESH, LMESH, KMESH, NGEN, EGEN, ENGEN, NSYM, ESYM, ENSYM, NSCALE, FILL, "
    "NDELE, EDELE, NUMMRG, MOVE, NUMCMP, NREAD, EREAD, RESUME, CDREAD, NREFINE, EREFINE, EMODIF, "
    "KREFINE, LREFINE, AREFINE, VREFINE, VCLEAR, ACLEAR, LCLEAR, KCLEAR, FVMESH, VIMP, UPGEOM, "
    "TRANSFER, ETCHG";

/* Commands that are zero in every archive written by CDWRITE; the last statement counts. */
static const char *const inertia[HX_ANSYS_INERTIA] = {"ACEL",    "OMEGA",   "DOMEGA", "CGOMGA",
                                                      "CGOMEGA", "DCGOMG",  "IRLF",   "CMACEL",
                                                      "CMOMEGA", "CMDOMEGA"};

int hx_ansys_unread(hx_ansys_reader *r, unsigned roles, const char *word, const char *what,
                    int64_t line)
{
    return hx_import_unread(&r->import, roles, word, what, 1, line);
}

/* Returns 1 if a number after the name is not zero, or is unknown. */
static int is_not_zero(const hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    const int first = strncasecmp(hx_ansys_word(r, 0, word), "CM", 2) == 0 ? 2 : 1;
    for (int k = first; k < 7; k++) {
        double value;
        if (!hx_ansys_number(r, k, &value) || value != 0.0) return 1;
    }
    return 0;
}

/* IRLF,-1 only prints masses. */
static int is_summary(const hx_ansys_reader *r)
{
    double value;
    return hx_ansys_is_command(r, "IRLF") && hx_ansys_number(r, 1, &value) && value < 0.0;
}

static int take_inertia(hx_ansys_reader *r, int *taken)
{
    for (int i = 0; i < HX_ANSYS_INERTIA; i++) {
        if (!hx_ansys_is_command(r, inertia[i])) continue;
        const int is_of_component = strncmp(inertia[i], "CM", 2) == 0;
        *taken = 1;
        if (is_not_zero(r) && !is_summary(r))
            r->inertia[i] = r->line;
        else if (!is_of_component && !hx_ansys_is_nested(r))
            r->inertia[i] = 0;
    }
    return HX_OK;
}

/* BFUNIF,TEMP,value and TUNIF,value: uniform temperature; TREF: the strain-free one. */
static int take_temperature(hx_ansys_reader *r, int *taken)
{
    const int is_uniform = hx_ansys_is_command(r, "BFUNIF");
    const int is_short = hx_ansys_is_command(r, "TUNIF");
    const char *const word = is_uniform ? "BFUNIF" : is_short ? "TUNIF" : "TREF";
    double value;
    *taken = is_uniform || is_short || hx_ansys_is_command(r, "TREF");
    if (!*taken) return HX_OK;
    const int k = is_uniform ? 2 : 1;
    if (is_uniform && !hx_ansys_is(r, 1, "TEMP"))
        return hx_ansys_number(r, 2, &value) && value == 0.0
                   ? HX_OK
                   : hx_ansys_unread(r, LOADS, "BFUNIF", "uniform body loads", r->line);
    if (hx_ansys_is(r, k, "_TINY"))
        value = NAN; /* the value by which CDWRITE marks an unstated temperature */
    else if (!hx_ansys_number(r, k, &value))
        return hx_ansys_unread(r, LOADS, word, "uniform temperature", r->line);
    if (!is_uniform && !is_short) {
        r->reference = value;
        return HX_OK;
    }
    r->uniform = value;
    r->uniform_line = r->line;
    return HX_OK;
}

/* MP,ALPX,... and MPDATA,R5.0,n,ALPX,...; TB,CTE */
void hx_ansys_look_for_expansion(hx_ansys_reader *r)
{
    static const char *const label[] = {"ALP", "CTE", "THS"};
    char text[HX_ANSYS_WORD];
    for (int k = 1; k < 4; k++)
        for (size_t i = 0; i < 3; i++)
            r->expands |= strncasecmp(hx_ansys_word(r, k, text), label[i], 3) == 0;
}

/* ANTYPE,STATIC: other analyses are not static load cases. The last statement before the first
 * solution counts; statements after it belong to other steps. */
static int take_antype(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD], text[HX_ANSYS_WORD];
    hx_ansys_word(r, 1, word);
    const int is_static = !*word || strcmp(word, "0") == 0 || strncasecmp(word, "STAT", 4) == 0;
    snprintf(text, sizeof text, "ANTYPE,%.20s", word);
    if (r->solved)
        return is_static ? HX_OK
                         : hx_ansys_unread(r, HX_UNREAD_STEP, text, "no static analysis", r->line);
    r->antype_line = is_static ? 0 : r->line;
    snprintf(r->antype, sizeof r->antype, "%s", text);
    return HX_OK;
}

/* NLGEOM,ON or 1: large displacements; the last statement counts. */
static int take_nlgeom(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    hx_ansys_word(r, 1, word);
    const int is_off = !*word || strcmp(word, "0") == 0 || strncasecmp(word, "OFF", 3) == 0;
    r->large_line = is_off ? 0 : r->line;
    return HX_OK;
}

/* SFE,element,face,label,key,values; SF,nodes,label,values; BFE,element,label,location,values;
 * BF,node,label,values: values of 0 have no effect. Temperatures of 0 may differ from TREF. */
static int is_nothing(hx_ansys_reader *r)
{
    static const struct {
        const char *name;
        int label, first;
    } row[] = {{"SFE", 3, 5}, {"SF", 2, 3}, {"BFE", 2, 4}, {"BF", 2, 3}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char word[HX_ANSYS_WORD];
        double value;
        if (!hx_ansys_is_command(r, row[i].name)) continue;
        for (int k = row[i].first; k < row[i].first + 4; k++)
            if (!hx_ansys_number(r, k, &value) || value != 0.0) return 0;
        if (strncasecmp(hx_ansys_word(r, row[i].label, word), "TEMP", 4) == 0 && !r->cold_line)
            r->cold_line = r->line;
        return 1;
    }
    return 0;
}

void hx_ansys_note_late(hx_ansys_reader *r, unsigned roles)
{
    if (!r->late_line) r->late_line = r->line;
    r->late_roles |= roles;
}

/* Records that late statements belong to another load step, which ends at `line`. Statements after
 * LSWRITE have already been recorded, except for their roles. */
static int end_late_step(hx_ansys_reader *r, const char *what, int64_t line)
{
    const int n = strcmp(r->solved_by ? r->solved_by : "", "SOLVE") == 0;
    const int any = r->late_line > 0;
    r->late_line = 0;
    return any ? hx_import_unread(&r->import, r->late_roles, r->solved_by, what, n, line) : HX_OK;
}

/* The first SOLVE or LSWRITE ends the load step of the selected nodes and elements. */
static int take_solve(hx_ansys_reader *r, const char *by)
{
    if (r->solved) return end_late_step(r, "load steps after the first", r->line);
    r->solved = r->line;
    r->solved_by = by;
    if (r->some_elements)
        HX_TRY(
            hx_ansys_unread(r, CARRIES, "ESEL", "elements not selected for the solution", r->line));
    return r->selection == HX_ANSYS_ALL
               ? HX_OK
               : hx_ansys_unread(r, BOTH, "NSEL", "nodes not selected for the solution", r->line);
}

/* *taken = 1 if a row of the table handles the command. */
static int take_row(hx_ansys_reader *r, int *taken)
{
    char name[HX_LISTED_WORD];
    *taken = 1;
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        for (const char *at = unread[i].words; hx_next_word(&at, name);) {
            if (!hx_ansys_is_command(r, name)) continue;
            if (strcmp(name, "LSWRITE") == 0) HX_TRY(take_solve(r, "LSWRITE"));
            /* CE,R5.0,DEFI begins an equation; further lines continue it */
            if (strcmp(name, "CE") == 0 && hx_ansys_is_unblocked(r) && !hx_ansys_is(r, 2, "DEFI"))
                return HX_OK;
            if (strcmp(name, "EMODIF") == 0 && !hx_ansys_is(r, 2, "MAT")) return HX_OK;
            if (is_nothing(r)) return HX_OK;
            return hx_ansys_unread(r, unread[i].roles, name, unread[i].what, r->line);
        }
    *taken = 0;
    return HX_OK;
}

/* EMODIF with another type or node makes another element; changes of real constants, coordinate
 * systems and sections do not affect a homogeneous solid. */
static int is_meshing(const hx_ansys_reader *r, const char *name)
{
    char word[HX_ANSYS_WORD];
    if (!hx_ansys_is_command(r, name)) return 0;
    if (strcmp(name, "EMODIF") != 0) return 1;
    return !hx_ansys_is(r, 2, "MAT") && !hx_ansys_is(r, 2, "REAL") && !hx_ansys_is(r, 2, "ESYS") &&
           strncasecmp(hx_ansys_word(r, 2, word), "SECN", 4) != 0;
}

/* The factors of /UNITS,USER,LENFACT,MASSFACT,TIMEFACT,,,,FORCEFACT. */
static void take_factors(hx_ansys_reader *r)
{
    double metre, mass, second, newton;
    if (!hx_ansys_number(r, 2, &metre) || !hx_ansys_number(r, 3, &mass) ||
        !hx_ansys_number(r, 4, &second) || !hx_ansys_number(r, 8, &newton))
        return;
    if (!(newton > 0.0) && mass > 0.0)
        newton = mass * metre / (second > 0.0 ? second * second : 1.0);
    hx_file_units_set_factors(&r->import.units, metre, newton);
}

/* /UNITS,MKS and similar: states the units and converts nothing, neither here nor in ANSYS. */
static int note_units(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    r->has_units = 1;
    r->import.units = hx_file_units_of_ansys(hx_ansys_word(r, 1, word));
    if (hx_ansys_is(r, 1, "USER")) take_factors(r);
    return hx_notes_add(r->notes, HX_NOTE_INFO,
                        "%s:%lld: the file states its units, '%.20s'; no number is converted",
                        r->import.path, (long long)r->line, hx_ansys_word(r, 1, word));
}

/* "/COM,--- Data in consistent NMM units." of Workbench, if no /UNITS states them. */
static int take_comment(hx_ansys_reader *r)
{
    static const char lead[] = "Data in consistent ";
    const char *const found = strstr(r->text, lead);
    char word[16] = "", rest[8] = "";
    if (!found || r->has_units ||
        sscanf(found + strlen(lead), "%15[A-Za-z] %7[a-z]", word, rest) != 2 ||
        strcmp(rest, "units") != 0)
        return HX_OK;
    r->import.units = hx_file_units_of_ansys(word);
    return HX_OK;
}

int hx_ansys_other_command(hx_ansys_reader *r)
{
    enum { SHOWN = 40 };
    int taken = 0;
    char word[HX_ANSYS_WORD];
    if (hx_ansys_is_command(r, "/UNITS")) return note_units(r);
    if (hx_ansys_is_command(r, "/COM")) return take_comment(r);
    if (hx_ansys_is_command(r, "ANTYPE")) return take_antype(r);
    if (hx_ansys_is_command(r, "NLGEOM")) return take_nlgeom(r);
    if (hx_ansys_is_command(r, "SOLVE")) return take_solve(r, "SOLVE");
    if (r->import.node_number.n > 0 &&
        (hx_ansys_is_command(r, "NUMOFF") || hx_ansys_is_command(r, "/CLEAR")))
        return HX_ANSYS_RAISE(r, "NUMOFF or /CLEAR after nodes: several models in one file are not "
                                 "read; write one archive with CDWRITE,DB");
    for (const char *at = meshing; hx_next_word(&at, word);)
        if (is_meshing(r, word))
            return HX_ANSYS_RAISE(r,
                                  "%s creates or changes the mesh within ANSYS and is not read: "
                                  "write the archive in ANSYS, after this command, with CDWRITE,DB",
                                  word);
    HX_TRY(take_inertia(r, &taken));
    if (!taken) HX_TRY(take_temperature(r, &taken));
    if (!taken) HX_TRY(take_row(r, &taken));
    if (taken || hx_ansys_is_harmless(r)) return HX_OK;
    /* a command that is neither read nor in a table may be a macro, and may change anything */
    hx_ansys_word(r, 0, word);
    word[strcspn(word, " \t")] = '\0';
    if (strlen(word) > SHOWN) word[SHOWN] = '\0';
    for (char *c = word; *c; c++)
        *c = isprint((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '?';
    if (r->n_unknown++ == MOST_UNKNOWN)
        return HX_ANSYS_RAISE(r,
                              "more than %d unknown commands, the last '%s': this does not seem to "
                              "be an ANSYS archive",
                              MOST_UNKNOWN, word);
    return hx_ansys_unread(r, CARRIES, word, "unknown command", r->line);
}

int hx_ansys_finish_unread(hx_ansys_reader *r)
{
    const double reference = isnan(r->reference) ? 0.0 : r->reference;
    HX_TRY(end_late_step(r, "statements after the first load step", r->late_line));
    for (int i = 0; i < HX_ANSYS_INERTIA; i++) {
        const int is_relief = strcmp(inertia[i], "IRLF") == 0;
        if (r->inertia[i])
            HX_TRY(hx_ansys_unread(r, is_relief ? BOTH : LOADS, inertia[i], "loads by mass",
                                   r->inertia[i]));
    }
    if (r->expands && !isnan(r->uniform) && r->uniform != reference)
        HX_TRY(hx_ansys_unread(r, LOADS, "BFUNIF", "uniform temperature", r->uniform_line));
    if (r->expands && r->cold_line && reference != 0.0)
        HX_TRY(hx_ansys_unread(r, LOADS, "BFE", "temperatures", r->cold_line));
    if (r->large_line)
        HX_TRY(hx_ansys_unread(r, 0, "NLGEOM", "large displacements; the analysis is linear",
                               r->large_line));
    if (r->antype_line)
        HX_TRY(hx_ansys_unread(r, HX_UNREAD_STEP, r->antype, "no static analysis", r->antype_line));
    return HX_OK;
}
