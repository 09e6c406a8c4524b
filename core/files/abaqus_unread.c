/* Statements of an Abaqus input file that are not read (problem/unread.h): elements other than
 * solids that have a section, constraints, loads and steps of other kinds, formulations of
 * elements. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "abaqus_reader.h"
#include "word_rows.h"

enum { CARRIES = HX_UNREAD_CARRIES, MASS = HX_UNREAD_MASS, LOAD = HX_UNREAD_LOAD };
enum { SUPPORT = HX_UNREAD_SUPPORT, STEP = HX_UNREAD_STEP, HEAT = HX_UNREAD_HEAT };
enum { MOST_CARRIERS = 100000 };

/* --- keywords --- */

static const hx_word_row unread[] = {
    {"EQUATION", CARRIES, "linear equations between nodes"},
    {"MPC", CARRIES, "constraints between nodes"},
    {"NETWORK MPC, SHELL TO SOLID COUPLING, CYCLIC SYMMETRY MODEL, CONTACT, CONTACT PAIR, "
     "EMBEDDED ELEMENT, FASTENER, REBAR, REBAR LAYER, SUBSTRUCTURE PROPERTY, MATRIX ASSEMBLE, "
     "CHANGE SOLID SECTION, MODEL CHANGE",
     CARRIES, NULL},
    {"TIE", CARRIES, "tied surfaces"},
    {"PRE-TENSION SECTION", CARRIES, "bolts under pre-tension"},
    {"FOUNDATION", CARRIES, "elastic foundations"},
    {"DISTRIBUTING COUPLING", CARRIES,
     "Abaqus and CalculiX interpret it differently: write *COUPLING with *DISTRIBUTING"},
    {"NONSTRUCTURAL MASS", MASS, NULL},
    {"TRANSFORM", LOAD | SUPPORT, "local directions"},
    {"INERTIA RELIEF", LOAD | SUPPORT, NULL},
    {"CONNECTOR MOTION", SUPPORT, NULL},
    {"BASE MOTION, CONNECTOR LOAD, FIELD, PRESSURE STRESS, LOAD CASE, MASS FLOW", LOAD, NULL},
    {"TEMPERATURE", LOAD, "thermal strains"},
    {"INITIAL STRAIN INCREASE", LOAD, "initial strains"},
    {"ADJUST, IMPERFECTION", CARRIES, "moves nodes"},
    {"CHANGE MATERIAL, CHANGE PLASTIC", HX_UNREAD_MATERIAL, NULL},
    {"REFINE MESH", 0, "the mesh in the file is analysed without refinement"},
    {"CFLUX, DFLUX, DSFLUX", LOAD | HEAT, "a load of heat"},
    {"FILM, SFILM", LOAD | HEAT, "convection"},
    {"CFILM", LOAD, "convection"},
    {"RADIATE, SRADIATE, CRADIATE", LOAD, "radiation"},
};

/* Steps. The temperature field computed by a heat-transfer step acts as a load in the steps after
 * it. */
static const hx_word_row procedures[] = {
    {"FREQUENCY, COMPLEX FREQUENCY, BUCKLE, DYNAMIC, MODAL DYNAMIC, STEADY STATE DYNAMICS, "
     "RANDOM RESPONSE, RESPONSE SPECTRUM, SENSITIVITY, FEASIBLE DIRECTION, ROBUST DESIGN, GREEN, "
     "CRACK PROPAGATION, VISCO, DIRECT CYCLIC, GEOSTATIC, SOILS, ANNEAL, SUBSTRUCTURE GENERATE, "
     "STEADY STATE TRANSPORT, ELECTROMAGNETICS, CFD, MASS DIFFUSION",
     STEP, NULL},
    {"HEAT TRANSFER", STEP | LOAD | HEAT, NULL},
    {"COUPLED TEMPERATURE-DISPLACEMENT, UNCOUPLED TEMPERATURE-DISPLACEMENT, "
     "DYNAMIC TEMPERATURE-DISPLACEMENT, COUPLED THERMAL-ELECTRICAL",
     STEP | LOAD, NULL},
};

/* Sections and properties of elements other than solids. */
static const char sections[] =
    "SHELL SECTION, SHELL GENERAL SECTION, MEMBRANE SECTION, BEAM SECTION, FRAME SECTION, "
    "BEAM GENERAL SECTION, SURFACE SECTION, MASS, SPRING, ROTARY INERTIA, CONNECTOR SECTION, "
    "DASHPOT, JOINT, UEL PROPERTY, USER SECTION, GAP";

/* Keywords that make a material differ from the linear elastic one of *ELASTIC. */
static const char materials[] =
    "PLASTIC, CYCLIC HARDENING, CYCLED PLASTIC, CREEP, SWELLING, USER MATERIAL, HYPERELASTIC, "
    "HYPERFOAM, ANISOTROPIC HYPERELASTIC, MULLINS EFFECT, UNIAXIAL TEST DATA, BIAXIAL TEST DATA, "
    "PLANAR TEST DATA, VOLUMETRIC TEST DATA, SIMPLE SHEAR TEST DATA, COMBINED TEST DATA, "
    "VISCOELASTIC, VISCOUS, HYSTERESIS, DEFORMATION PLASTICITY, HYPOELASTIC, POROUS ELASTIC, "
    "SUPERELASTIC, LOW DENSITY FOAM, CRUSHABLE FOAM, CRUSHABLE FOAM HARDENING, FABRIC, "
    "JOINTED MATERIAL, EOS, NO COMPRESSION, NO TENSION, FAIL STRAIN, DRUCKER PRAGER, "
    "DRUCKER PRAGER HARDENING, DRUCKER PRAGER CREEP, CAP PLASTICITY, CAP HARDENING, CAP CREEP, "
    "MOHR COULOMB, MOHR COULOMB HARDENING, CLAY PLASTICITY, CLAY HARDENING, CAST IRON PLASTICITY, "
    "CAST IRON COMPRESSION HARDENING, CAST IRON TENSION HARDENING, POROUS METAL PLASTICITY, "
    "POTENTIAL, ORNL, RATE DEPENDENT, DAMAGE INITIATION, DAMAGE EVOLUTION, CONCRETE, "
    "CONCRETE DAMAGED PLASTICITY, CONCRETE COMPRESSION HARDENING, CONCRETE TENSION STIFFENING, "
    "TENSION STIFFENING, BRITTLE CRACKING, BRITTLE SHEAR, PIEZOELECTRIC";

/* Output, solution control, and keywords that only have an effect together with keywords recorded
 * elsewhere. */
static const char harmless[] =
    "HEADING, OUTPUT, NODE OUTPUT, ELEMENT OUTPUT, ENERGY OUTPUT, CONTACT OUTPUT, MODAL OUTPUT, "
    "NODE FILE, NODE PRINT, EL FILE, EL PRINT, ELEMENT FILE, CONTACT FILE, CONTACT PRINT, "
    "ENERGY FILE, ENERGY PRINT, SECTION PRINT, SECTION FILE, FACE PRINT, MODAL FILE, FILE FORMAT, "
    "FILE OUTPUT, INTEGRATED OUTPUT, INTEGRATED OUTPUT SECTION, PRINT, PREPRINT, MONITOR, "
    "RESTART, TIME POINTS, AMPLITUDE, ORIENTATION, DISTRIBUTION, DISTRIBUTION TABLE, EXPANSION, "
    "SPECIFIC HEAT, LATENT HEAT, DAMPING, MODAL DAMPING, GLOBAL DAMPING, SURFACE INTERACTION, "
    "SURFACE BEHAVIOR, FRICTION, CLEARANCE, CONTACT DAMPING, CONTACT CONTROLS, "
    "CONTACT INCLUSIONS, CONTACT EXCLUSIONS, CONTACT PROPERTY ASSIGNMENT, CONTACT FORMULATION, "
    "CONTACT INITIALIZATION ASSIGNMENT, CONTACT INITIALIZATION DATA, CONTACT STABILIZATION, "
    "GAP CONDUCTANCE, GAP HEAT GENERATION, CONTROLS, SOLVER CONTROLS, SECTION CONTROLS, "
    "HOURGLASS STIFFNESS, DESIGN VARIABLES, DESIGN RESPONSE, OBJECTIVE, CONSTRAINT, "
    "GEOMETRIC CONSTRAINT, FILTER, PHYSICAL CONSTANTS, VALUES AT INFINITY, NORMAL, "
    "NODAL THICKNESS, TRANSVERSE SHEAR STIFFNESS, TRANSVERSE SHEAR, SELECT CYCLIC SYMMETRY MODES, "
    "STATIC, END LOAD CASE, SPRING PROPERTY, BEAM ADDED INERTIA, CONNECTOR BEHAVIOR, "
    "CONNECTOR ELASTICITY, CONNECTOR DAMPING, FASTENER PROPERTY, SURFACE PROPERTY, "
    "SURFACE SMOOTHING, NO PRINT, MODEL DEFINITION, CORRELATION LENGTH, HCF, CONNECTOR STOP, "
    "CONNECTOR FRICTION, FAILURE RATIOS, FAIL STRESS, SHEAR FAILURE, TENSILE FAILURE, "
    "CONCRETE COMPRESSION DAMAGE, CONCRETE TENSION DAMAGE, SHEAR RETENTION, BRITTLE FAILURE, "
    "DAMAGE STABILIZATION, TRS, DEPVAR, USER OUTPUT VARIABLES, POROUS FAILURE CRITERIA, "
    "ANNEAL TEMPERATURE, ELECTRICAL CONDUCTIVITY, DIELECTRIC, JOULE HEAT FRACTION, "
    "INELASTIC HEAT FRACTION, SOLUBILITY, DIFFUSIVITY, PERMEABILITY, MAGNETIC PERMEABILITY, "
    "FLUID CONSTANTS, FLUID SECTION, ACOUSTIC MEDIUM, EMISSIVITY, CAVITY DEFINITION, "
    "RADIATION VIEWFACTOR, END PART, DISPLAY BODY, PARAMETER, BULK VISCOSITY, FIXED MASS SCALING, "
    "VARIABLE MASS SCALING, SOLUTION TECHNIQUE, NODAL ENERGY RATE, INCREMENTATION OUTPUT, "
    "ELEMENT MATRIX OUTPUT, SUBSTRUCTURE OUTPUT, SURFACE OUTPUT, RADIATION OUTPUT, "
    "RADIATION FILE, RADIATION PRINT, NODE RESPONSE, ELEMENT RESPONSE, DESIGN GRADIENT, "
    "DIAGNOSTICS, DEBUG, PRINT FILE, TRACER PARTICLE, GAP ELECTRICAL CONDUCTANCE, GAP RADIATION, "
    "CHANGE FRICTION, SURFACE PROPERTY ASSIGNMENT, CONTACT RESPONSE, BASELINE CORRECTION, "
    "SPECTRUM, PSD-DEFINITION, CORRELATION, CONNECTOR CONSTITUTIVE REFERENCE, "
    "CONNECTOR DAMAGE EVOLUTION, CONNECTOR DAMAGE INITIATION, CONNECTOR FAILURE, "
    "CONNECTOR HARDENING, CONNECTOR LOCK, CONNECTOR PLASTICITY, CONNECTOR POTENTIAL, "
    "CONNECTOR UNIAXIAL BEHAVIOR, COMPOSITE MODAL DAMPING, BOUNDARYF, EQUATIONF, TRANSFORMF, "
    "CHANGE SURFACE BEHAVIOR, GEOMETRIC TOLERANCE, NO ANALYSIS, RANDOM FIELD, "
    "RETAINED NODAL DOFS, SPECIFIC GAS CONSTANT, SUBSTRUCTURE MATRIX OUTPUT, USER ELEMENT, "
    "VIEWFACTOR, MATRIX INPUT, CONNECTOR DERIVED COMPONENT";

/* Returns 1 if a list has the keyword, in `word` as the list writes it. */
static int has_word(const char *list, const char *keyword, char word[HX_LISTED_WORD])
{
    while (hx_next_word(&list, word))
        if (hx_abaqus_same_word(word, keyword)) return 1;
    return 0;
}

/* Finds the row of a keyword; its words are then only the found one, in `word`. */
static hx_word_row find_row(const hx_word_row *list, size_t n, const char *keyword,
                            char word[HX_LISTED_WORD])
{
    for (size_t i = 0; i < n; i++)
        if (has_word(list[i].words, keyword, word))
            return (hx_word_row){word, list[i].roles, list[i].what};
    return (hx_word_row){0};
}

#define FIND(list, keyword, word) find_row(list, sizeof(list) / sizeof(list)[0], keyword, word)

static int unread_keyword_line(hx_abaqus_reader *r, const char *keyword, unsigned roles,
                               const char *what)
{
    char word[64];
    snprintf(word, sizeof word, "*%s", keyword);
    return hx_unread_add(&r->import.unread, roles, word, what, 1, hx_abaqus_scan_path(&r->scan),
                         r->scan.keyword_line);
}

/* Records initial conditions, except for those that have no effect because they only start a static
 * analysis. */
static int begin_initial(hx_abaqus_reader *r)
{
    static const char *const idle[] = {"TEMPERATURE",   "VELOCITY",      "ROTATING VELOCITY",
                                       "DISPLACEMENT",  "MASSFLOW",      "MASS FLOW",
                                       "TOTALPRESSURE", "TOTAL PRESSURE"};
    char word[63];
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    for (size_t i = 0; type && i < sizeof idle / sizeof idle[0]; i++)
        if (strcasecmp(type, idle[i]) == 0) return HX_OK;
    snprintf(word, sizeof word, "INITIAL CONDITIONS, TYPE=%.30s", type ? type : "");
    for (char *c = word; *c; c++) *c = (char)toupper((unsigned char)*c);
    return unread_keyword_line(r, word, LOAD, NULL);
}

/* The keyword is recorded for its material, and reported if the material is used. */
static int unread_material(hx_abaqus_reader *r)
{
    char word[64];
    hx_unread *const to =
        r->n_material > 0 ? &r->material[r->n_material - 1].beyond : &r->import.unread;
    snprintf(word, sizeof word, "*%s", r->scan.keyword_shown);
    return hx_unread_add(to, HX_UNREAD_MATERIAL, word, "not linear elastic", 1,
                         hx_abaqus_scan_path(&r->scan), r->scan.keyword_line);
}

int hx_abaqus_keep_carrier(hx_abaqus_reader *r)
{
    const char *const set = hx_abaqus_parameter(&r->scan, "ELSET");
    if (!set || !*set) return HX_OK;
    if (r->n_carrier == MOST_CARRIERS)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d sections", MOST_CARRIERS);
    HX_TRY(hx_grow(&r->carrier, r->n_carrier, &r->carrier_capacity, sizeof *r->carrier,
                   "sections of a file"));
    hx_abaqus_word *const word = &r->carrier[r->n_carrier++];
    memset(word, 0, sizeof *word);
    return hx_abaqus_keep_word(r, set, word);
}

/* Finds keywords of steps of another kind, and of a state taken from another job. */
static hx_word_row find_procedure(const hx_abaqus_reader *r, char word[HX_LISTED_WORD])
{
    const char *const keyword = r->scan.keyword;
    if (strcmp(keyword, "HEATTRANSFER") == 0 && !hx_abaqus_parameter(&r->scan, "STEADY STATE"))
        return (hx_word_row){"HEAT TRANSFER without STEADY STATE", STEP | LOAD, NULL};
    if (strcmp(keyword, "STATIC") == 0 && hx_abaqus_parameter(&r->scan, "RIKS"))
        return (hx_word_row){"STATIC, RIKS", STEP, NULL};
    return FIND(procedures, keyword, word);
}

static hx_word_row find_unread(const hx_abaqus_reader *r, char word[HX_LISTED_WORD])
{
    if (strcmp(r->scan.keyword, "RESTART") == 0 && hx_abaqus_parameter(&r->scan, "READ"))
        return (hx_word_row){"RESTART, READ", LOAD | SUPPORT, "the state of another job"};
    return FIND(unread, r->scan.keyword, word);
}

int hx_abaqus_begin_unread(hx_abaqus_reader *r, int *is_harmless)
{
    const char *const keyword = r->scan.keyword;
    char word[HX_LISTED_WORD], section[HX_LISTED_WORD];
    const hx_word_row procedure = find_procedure(r, word);
    const hx_word_row other = procedure.words ? procedure : find_unread(r, word);
    const int is_section = has_word(sections, keyword, section);
    const int is_material = has_word(materials, keyword, section);
    const int is_initial = strcmp(keyword, "INITIALCONDITIONS") == 0;
    const int is_known = other.words || is_section || is_material || is_initial;
    *is_harmless = !is_known && has_word(harmless, keyword, section);
    if ((procedure.words && strcmp(keyword, "HEATTRANSFER") != 0) || strcmp(keyword, "STATIC") == 0)
        HX_TRY(hx_abaqus_add_procedure(r, HX_STEP_OTHER));
    if (*is_harmless) return HX_OK;
    if (r->import.sink) {
        char why[80];
        snprintf(why, sizeof why, "*%.60s beside the mesh", r->scan.keyword_shown);
        return hx_import_need_whole(&r->import, why);
    }
    if (procedure.words) r->step_is_other = 1;
    if (other.words)
        return unread_keyword_line(r, other.words, other.roles,
                                   procedure.words ? "no static step" : other.what);
    if (is_section) return hx_abaqus_keep_carrier(r);
    if (is_initial) return begin_initial(r);
    if (is_material) return unread_material(r);
    /* an unknown keyword may be a load or support if it is in a step, and may describe something
     * that carries load if it is before the steps */
    return unread_keyword_line(r, r->scan.keyword_shown, r->in_step ? LOAD | SUPPORT : CARRIES,
                               "unknown keyword");
}

/* --- elements other than solids --- */

/* The first word that is a prefix of the type applies. */
static const hx_word_row elements[] = {
    {"R3D, R2D, RB, RAX, DCOUP", 0, NULL},
    {"SFM", MASS, "surface elements"},
    {"SPRING", CARRIES, "springs"},
    {"DASHPOT", CARRIES, "dashpots"},
    {"GAP", CARRIES, "gaps"},
    {"CONN", CARRIES, "connectors"},
    {"MASS", MASS, "point masses"},
    {"ROTARYI", MASS, "rotary inertias"},
    {"HEATCAP", 0, NULL},
    {"M3D", CARRIES | MASS, "membranes"},
    {"CPS, CPE", CARRIES | MASS, "plane elements"},
    {"CAX", CARRIES | MASS, "axisymmetric elements"},
    {"T2D, T3D", CARRIES | MASS, "trusses"},
    {"B", CARRIES | MASS, "beams"},
    {"PIPE, ELBOW", CARRIES | MASS, "pipes"},
    {"FRAME", CARRIES | MASS, "frames"},
    {"DS, DC", 0, NULL},
    {"S", CARRIES | MASS, "shells"},
};

/* Marks the cells of sets that have a section. */
static int mark_carriers(hx_abaqus_reader *r, uint8_t *carries)
{
    for (size_t i = 0; i < r->n_carrier; i++) {
        hx_abaqus_reference to;
        r->member_scope = r->carrier[i].scope;
        HX_TRY(hx_abaqus_refer(r, HX_KIND_ELEMS, r->carrier[i].text, &to));
        for (int64_t k = 0; to.set && k < to.set->elem.n; k++) {
            const int64_t cell =
                hx_number_index_find(&r->cell_place, hx_numbers_get(&to.set->elem, k));
            if (cell >= 0) carries[cell] = 1;
        }
    }
    r->member_scope = -1;
    return HX_OK;
}

static hx_word_row row_of_type(const char *type)
{
    char word[HX_LISTED_WORD];
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        for (const char *at = elements[i].words; hx_next_word(&at, word);)
            if (strncmp(word, type, strlen(word)) == 0) return elements[i];
    return (hx_word_row){"", CARRIES, NULL};
}

static int list_carriers(hx_abaqus_reader *r, const uint8_t *carries)
{
    for (int64_t cell = 0; cell < r->cell_number.n; cell++) {
        if (!carries[cell]) continue;
        const char *const type = r->import.other[hx_numbers_get(&r->cell_type, cell)].type;
        const hx_word_row row = row_of_type(type);
        if (row.roles)
            HX_TRY(hx_import_unread(&r->import, row.roles, type, row.what, 1,
                                    hx_numbers_get(&r->cell_line, cell)));
    }
    return HX_OK;
}

int hx_abaqus_list_carriers(hx_abaqus_reader *r)
{
    uint8_t *carries = NULL;
    if (r->n_carrier == 0 || r->cell_number.n == 0) return HX_OK;
    HX_TRY(hx_abaqus_update_places(r));
    HX_TRY(hx_alloc(&carries, (size_t)r->cell_number.n, 1, "sections of a file"));
    int rc = mark_carriers(r, carries);
    if (rc == HX_OK) rc = list_carriers(r, carries);
    free(carries);
    return rc;
}

void hx_abaqus_free_carriers(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_carrier; i++) free(r->carrier[i].text);
    free(r->carrier);
    hx_unread_free(&r->formulation);
}

/* --- formulations --- */

int hx_abaqus_count_formulation(hx_abaqus_reader *r)
{
    if (!r->type->is_solid || strcmp(r->type_name, r->type->names) == 0) return HX_OK;
    return hx_unread_add(&r->formulation, 0, r->type_name, r->type->names, 1, "", 0);
}

/* Describes the formulation that the letters after a type's name select; "" if it does not change
 * the solution. T, P, E and S (coupling, improved surface stresses) leave the displacements
 * unchanged. */
static void find_formulation(const hx_unread_kind *kind, char how[60])
{
    static const char *const what[] = {"reduced integration", "incompatible modes", "hybrid",
                                       "modified"};
    const char *const letters = kind->word + strlen(kind->what);
    how[0] = '\0';
    for (int i = 0; i < 4; i++) {
        if (!strchr(letters, "RIHM"[i])) continue;
        if (i == 1 && strncmp(kind->what, "C3D8", 4) != 0) continue;
        const size_t n = strlen(how);
        snprintf(how + n, 60 - n, "%s%s", n > 0 ? ", " : "", what[i]);
    }
}

/* A formulation is a warning if the file is a job, for which another program has a solution. */
int hx_abaqus_note_formulations(hx_abaqus_reader *r)
{
    const int is_job = r->conditions.n_step > 0;
    for (size_t i = 0; i < r->formulation.n; i++) {
        const hx_unread_kind *const kind = &r->formulation.kind[i];
        char how[60];
        find_formulation(kind, how);
        const hx_note_level level = is_job ? HX_NOTE_WARNING : HX_NOTE_INFO;
        HX_TRY(how[0] ? hx_notes_add(r->notes, level,
                                     "%s: elements of type %s (%s) are analysed as %s with full "
                                     "integration%s: other programs give other displacements, with "
                                     "a larger difference on coarse meshes",
                                     r->import.path, kind->word, how, kind->what,
                                     how[0] == 'r' || how[0] == 'i' ? ", without hourglass control"
                                                                    : "")
                      : hx_notes_add(r->notes, HX_NOTE_DETAIL,
                                     "%s: elements of type %s are read as the plain %s",
                                     r->import.path, kind->word, kind->what));
    }
    return HX_OK;
}
