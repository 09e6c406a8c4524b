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

enum { CARRIES = HX_UNREAD_CARRIES, MASS = HX_UNREAD_MASS, LOAD = HX_UNREAD_LOAD };
enum { SUPPORT = HX_UNREAD_SUPPORT, STEP = HX_UNREAD_STEP, HEAT = HX_UNREAD_HEAT };
enum { MOST_CARRIERS = 100000 };

/* --- keywords --- */

typedef struct unread_keyword {
    const char *name;
    unsigned roles;
    const char *what; /* NULL: the name is sufficient */
} unread_keyword;

static const unread_keyword unread[] = {
    {"EQUATION", CARRIES, "linear equations between nodes"},
    {"MPC", CARRIES, "constraints between nodes"},
    {"NETWORK MPC", CARRIES, NULL},
    {"TIE", CARRIES, "tied surfaces"},
    {"SHELL TO SOLID COUPLING", CARRIES, NULL},
    {"CYCLIC SYMMETRY MODEL", CARRIES, NULL},
    {"CONTACT", CARRIES, NULL},
    {"CONTACT PAIR", CARRIES, NULL},
    {"PRE-TENSION SECTION", CARRIES, "bolts under pre-tension"},
    {"FOUNDATION", CARRIES, "elastic foundations"},
    {"EMBEDDED ELEMENT", CARRIES, NULL},
    {"FASTENER", CARRIES, NULL},
    {"REBAR", CARRIES, NULL},
    {"REBAR LAYER", CARRIES, NULL},
    {"SUBSTRUCTURE PROPERTY", CARRIES, NULL},
    {"MATRIX ASSEMBLE", CARRIES, NULL},
    {"CHANGE SOLID SECTION", CARRIES, NULL},
    {"MODEL CHANGE", CARRIES, NULL},
    {"DISTRIBUTING COUPLING", CARRIES,
     "Abaqus and CalculiX interpret it differently: write *COUPLING with *DISTRIBUTING"},
    {"NONSTRUCTURAL MASS", MASS, NULL},
    {"TRANSFORM", LOAD | SUPPORT, "local directions"},
    {"INERTIA RELIEF", LOAD | SUPPORT, NULL},
    {"CONNECTOR MOTION", SUPPORT, NULL},
    {"BASE MOTION", LOAD, NULL},
    {"CONNECTOR LOAD", LOAD, NULL},
    {"TEMPERATURE", LOAD, "thermal strains"},
    {"FIELD", LOAD, NULL},
    {"PRESSURE STRESS", LOAD, NULL},
    {"INITIAL STRAIN INCREASE", LOAD, "initial strains"},
    {"ADJUST", CARRIES, "moves nodes"},
    {"IMPERFECTION", CARRIES, "moves nodes"},
    {"CHANGE MATERIAL", HX_UNREAD_MATERIAL, NULL},
    {"CHANGE PLASTIC", HX_UNREAD_MATERIAL, NULL},
    {"REFINE MESH", 0, "the mesh in the file is analysed without refinement"},
    {"LOAD CASE", LOAD, NULL},
    {"CFLUX", LOAD | HEAT, "a load of heat"},
    {"DFLUX", LOAD | HEAT, "a load of heat"},
    {"DSFLUX", LOAD | HEAT, "a load of heat"},
    {"FILM", LOAD | HEAT, "convection"},
    {"SFILM", LOAD | HEAT, "convection"},
    {"CFILM", LOAD, "convection"},
    {"RADIATE", LOAD, "radiation"},
    {"SRADIATE", LOAD, "radiation"},
    {"CRADIATE", LOAD, "radiation"},
    {"MASS FLOW", LOAD, NULL},
};

/* Steps. The temperature field computed by a heat-transfer step acts as a load in the steps after
 * it. */
static const unread_keyword procedures[] = {
    {"FREQUENCY", STEP, NULL},
    {"COMPLEX FREQUENCY", STEP, NULL},
    {"BUCKLE", STEP, NULL},
    {"DYNAMIC", STEP, NULL},
    {"MODAL DYNAMIC", STEP, NULL},
    {"STEADY STATE DYNAMICS", STEP, NULL},
    {"RANDOM RESPONSE", STEP, NULL},
    {"RESPONSE SPECTRUM", STEP, NULL},
    {"SENSITIVITY", STEP, NULL},
    {"FEASIBLE DIRECTION", STEP, NULL},
    {"ROBUST DESIGN", STEP, NULL},
    {"GREEN", STEP, NULL},
    {"CRACK PROPAGATION", STEP, NULL},
    {"VISCO", STEP, NULL},
    {"DIRECT CYCLIC", STEP, NULL},
    {"GEOSTATIC", STEP, NULL},
    {"SOILS", STEP, NULL},
    {"ANNEAL", STEP, NULL},
    {"SUBSTRUCTURE GENERATE", STEP, NULL},
    {"STEADY STATE TRANSPORT", STEP, NULL},
    {"ELECTROMAGNETICS", STEP, NULL},
    {"CFD", STEP, NULL},
    {"MASS DIFFUSION", STEP, NULL},
    {"HEAT TRANSFER", STEP | LOAD | HEAT, NULL},
    {"COUPLED TEMPERATURE-DISPLACEMENT", STEP | LOAD, NULL},
    {"UNCOUPLED TEMPERATURE-DISPLACEMENT", STEP | LOAD, NULL},
    {"DYNAMIC TEMPERATURE-DISPLACEMENT", STEP | LOAD, NULL},
    {"COUPLED THERMAL-ELECTRICAL", STEP | LOAD, NULL},
};

/* Sections and properties of elements other than solids. */
static const char *const sections[] = {
    "SHELL SECTION", "SHELL GENERAL SECTION", "MEMBRANE SECTION",  "BEAM SECTION",
    "FRAME SECTION", "BEAM GENERAL SECTION",  "SURFACE SECTION",   "MASS",
    "SPRING",        "ROTARY INERTIA",        "CONNECTOR SECTION", "DASHPOT",
    "JOINT",         "UEL PROPERTY",          "USER SECTION",      "GAP",
};

/* Keywords that make a material differ from the linear elastic one of *ELASTIC. */
static const char *const materials[] = {
    "PLASTIC",
    "CYCLIC HARDENING",
    "CYCLED PLASTIC",
    "CREEP",
    "SWELLING",
    "USER MATERIAL",
    "HYPERELASTIC",
    "HYPERFOAM",
    "ANISOTROPIC HYPERELASTIC",
    "MULLINS EFFECT",
    "UNIAXIAL TEST DATA",
    "BIAXIAL TEST DATA",
    "PLANAR TEST DATA",
    "VOLUMETRIC TEST DATA",
    "SIMPLE SHEAR TEST DATA",
    "COMBINED TEST DATA",
    "VISCOELASTIC",
    "VISCOUS",
    "HYSTERESIS",
    "DEFORMATION PLASTICITY",
    "HYPOELASTIC",
    "POROUS ELASTIC",
    "SUPERELASTIC",
    "LOW DENSITY FOAM",
    "CRUSHABLE FOAM",
    "CRUSHABLE FOAM HARDENING",
    "FABRIC",
    "JOINTED MATERIAL",
    "EOS",
    "NO COMPRESSION",
    "NO TENSION",
    "FAIL STRAIN",
    "DRUCKER PRAGER",
    "DRUCKER PRAGER HARDENING",
    "DRUCKER PRAGER CREEP",
    "CAP PLASTICITY",
    "CAP HARDENING",
    "CAP CREEP",
    "MOHR COULOMB",
    "MOHR COULOMB HARDENING",
    "CLAY PLASTICITY",
    "CLAY HARDENING",
    "CAST IRON PLASTICITY",
    "CAST IRON COMPRESSION HARDENING",
    "CAST IRON TENSION HARDENING",
    "POROUS METAL PLASTICITY",
    "POTENTIAL",
    "ORNL",
    "RATE DEPENDENT",
    "DAMAGE INITIATION",
    "DAMAGE EVOLUTION",
    "CONCRETE",
    "CONCRETE DAMAGED PLASTICITY",
    "CONCRETE COMPRESSION HARDENING",
    "CONCRETE TENSION STIFFENING",
    "TENSION STIFFENING",
    "BRITTLE CRACKING",
    "BRITTLE SHEAR",
    "PIEZOELECTRIC",
};

/* Output, solution control, and keywords that only have an effect together with keywords recorded
 * elsewhere. */
static const char *const harmless[] = {
    "HEADING",
    "OUTPUT",
    "NODE OUTPUT",
    "ELEMENT OUTPUT",
    "ENERGY OUTPUT",
    "CONTACT OUTPUT",
    "MODAL OUTPUT",
    "NODE FILE",
    "NODE PRINT",
    "EL FILE",
    "EL PRINT",
    "ELEMENT FILE",
    "CONTACT FILE",
    "CONTACT PRINT",
    "ENERGY FILE",
    "ENERGY PRINT",
    "SECTION PRINT",
    "SECTION FILE",
    "FACE PRINT",
    "MODAL FILE",
    "FILE FORMAT",
    "FILE OUTPUT",
    "INTEGRATED OUTPUT",
    "INTEGRATED OUTPUT SECTION",
    "PRINT",
    "PREPRINT",
    "MONITOR",
    "RESTART",
    "TIME POINTS",
    "AMPLITUDE",
    "ORIENTATION",
    "DISTRIBUTION",
    "DISTRIBUTION TABLE",
    "EXPANSION",
    "SPECIFIC HEAT",
    "LATENT HEAT",
    "DAMPING",
    "MODAL DAMPING",
    "GLOBAL DAMPING",
    "SURFACE INTERACTION",
    "SURFACE BEHAVIOR",
    "FRICTION",
    "CLEARANCE",
    "CONTACT DAMPING",
    "CONTACT CONTROLS",
    "CONTACT INCLUSIONS",
    "CONTACT EXCLUSIONS",
    "CONTACT PROPERTY ASSIGNMENT",
    "CONTACT FORMULATION",
    "CONTACT INITIALIZATION ASSIGNMENT",
    "CONTACT INITIALIZATION DATA",
    "CONTACT STABILIZATION",
    "GAP CONDUCTANCE",
    "GAP HEAT GENERATION",
    "CONTROLS",
    "SOLVER CONTROLS",
    "SECTION CONTROLS",
    "HOURGLASS STIFFNESS",
    "DESIGN VARIABLES",
    "DESIGN RESPONSE",
    "OBJECTIVE",
    "CONSTRAINT",
    "GEOMETRIC CONSTRAINT",
    "FILTER",
    "PHYSICAL CONSTANTS",
    "VALUES AT INFINITY",
    "NORMAL",
    "NODAL THICKNESS",
    "TRANSVERSE SHEAR STIFFNESS",
    "TRANSVERSE SHEAR",
    "SELECT CYCLIC SYMMETRY MODES",
    "STATIC",
    "END LOAD CASE",
    "SPRING PROPERTY",
    "BEAM ADDED INERTIA",
    "CONNECTOR BEHAVIOR",
    "CONNECTOR ELASTICITY",
    "CONNECTOR DAMPING",
    "FASTENER PROPERTY",
    "SURFACE PROPERTY",
    "SURFACE SMOOTHING",
    "NO PRINT",
    "MODEL DEFINITION",
    "CORRELATION LENGTH",
    "HCF",
    "CONNECTOR STOP",
    "CONNECTOR FRICTION",
    "FAILURE RATIOS",
    "FAIL STRESS",
    "SHEAR FAILURE",
    "TENSILE FAILURE",
    "CONCRETE COMPRESSION DAMAGE",
    "CONCRETE TENSION DAMAGE",
    "SHEAR RETENTION",
    "BRITTLE FAILURE",
    "DAMAGE STABILIZATION",
    "TRS",
    "DEPVAR",
    "USER OUTPUT VARIABLES",
    "POROUS FAILURE CRITERIA",
    "ANNEAL TEMPERATURE",
    "ELECTRICAL CONDUCTIVITY",
    "DIELECTRIC",
    "JOULE HEAT FRACTION",
    "INELASTIC HEAT FRACTION",
    "SOLUBILITY",
    "DIFFUSIVITY",
    "PERMEABILITY",
    "MAGNETIC PERMEABILITY",
    "FLUID CONSTANTS",
    "FLUID SECTION",
    "ACOUSTIC MEDIUM",
    "EMISSIVITY",
    "CAVITY DEFINITION",
    "RADIATION VIEWFACTOR",
    "END PART",
    "DISPLAY BODY",
    "PARAMETER",
    "BULK VISCOSITY",
    "FIXED MASS SCALING",
    "VARIABLE MASS SCALING",
    "SOLUTION TECHNIQUE",
    "NODAL ENERGY RATE",
    "INCREMENTATION OUTPUT",
    "ELEMENT MATRIX OUTPUT",
    "SUBSTRUCTURE OUTPUT",
    "SURFACE OUTPUT",
    "RADIATION OUTPUT",
    "RADIATION FILE",
    "RADIATION PRINT",
    "NODE RESPONSE",
    "ELEMENT RESPONSE",
    "DESIGN GRADIENT",
    "DIAGNOSTICS",
    "DEBUG",
    "PRINT FILE",
    "TRACER PARTICLE",
    "GAP ELECTRICAL CONDUCTANCE",
    "GAP RADIATION",
    "CHANGE FRICTION",
    "SURFACE PROPERTY ASSIGNMENT",
    "CONTACT RESPONSE",
    "BASELINE CORRECTION",
    "SPECTRUM",
    "PSD-DEFINITION",
    "CORRELATION",
    "CONNECTOR CONSTITUTIVE REFERENCE",
    "CONNECTOR DAMAGE EVOLUTION",
    "CONNECTOR DAMAGE INITIATION",
    "CONNECTOR FAILURE",
    "CONNECTOR HARDENING",
    "CONNECTOR LOCK",
    "CONNECTOR PLASTICITY",
    "CONNECTOR POTENTIAL",
    "CONNECTOR UNIAXIAL BEHAVIOR",
    "COMPOSITE MODAL DAMPING",
    "BOUNDARYF",
    "EQUATIONF",
    "TRANSFORMF",
    "CHANGE SURFACE BEHAVIOR",
    "GEOMETRIC TOLERANCE",
    "NO ANALYSIS",
    "RANDOM FIELD",
    "RETAINED NODAL DOFS",
    "SPECIFIC GAS CONSTANT",
    "SUBSTRUCTURE MATRIX OUTPUT",
    "USER ELEMENT",
    "VIEWFACTOR",
    "MATRIX INPUT",
    "CONNECTOR DERIVED COMPONENT",
};

static const unread_keyword *find_unread_keyword(const unread_keyword *list, size_t n,
                                                 const char *keyword)
{
    for (size_t i = 0; i < n; i++)
        if (hx_abaqus_same_word(list[i].name, keyword)) return &list[i];
    return NULL;
}

static int has_word(const char *const *list, size_t n, const char *keyword)
{
    for (size_t i = 0; i < n; i++)
        if (hx_abaqus_same_word(list[i], keyword)) return 1;
    return 0;
}

#define FIND(list, keyword) find_unread_keyword(list, sizeof(list) / sizeof(list)[0], keyword)
#define HAS(list, keyword) has_word(list, sizeof(list) / sizeof(list)[0], keyword)

static int unread_keyword_line(hx_abaqus_reader *r, const unread_keyword *k)
{
    char word[64];
    snprintf(word, sizeof word, "*%s", k->name);
    return hx_unread_add(&r->import.unread, k->roles, word, k->what, 1,
                         hx_abaqus_scan_path(&r->scan), r->scan.keyword_line);
}

/* Records initial conditions, except for those that have no effect because they only start a static
 * analysis. */
static int begin_initial(hx_abaqus_reader *r)
{
    static const char *const idle[] = {"TEMPERATURE",   "VELOCITY",      "ROTATING VELOCITY",
                                       "DISPLACEMENT",  "MASSFLOW",      "MASS FLOW",
                                       "TOTALPRESSURE", "TOTAL PRESSURE"};
    char word[64];
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE");
    for (size_t i = 0; type && i < sizeof idle / sizeof idle[0]; i++)
        if (strcasecmp(type, idle[i]) == 0) return HX_OK;
    snprintf(word, sizeof word, "*INITIAL CONDITIONS, TYPE=%.30s", type ? type : "");
    for (char *c = word; *c; c++) *c = (char)toupper((unsigned char)*c);
    return hx_unread_add(&r->import.unread, LOAD, word, NULL, 1, hx_abaqus_scan_path(&r->scan),
                         r->scan.keyword_line);
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

/* An unknown keyword may be a load or support if it is in a step, and may describe something that
 * carries load if it is before the steps. */
static int unread_unknown(hx_abaqus_reader *r)
{
    char word[64];
    snprintf(word, sizeof word, "*%s", r->scan.keyword_shown);
    return hx_unread_add(&r->import.unread, r->in_step ? LOAD | SUPPORT : CARRIES, word,
                         "unknown keyword", 1, hx_abaqus_scan_path(&r->scan), r->scan.keyword_line);
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

static int begin_procedure(hx_abaqus_reader *r, const unread_keyword *k)
{
    const unread_keyword step = {k->name, k->roles, "no static step"};
    r->step_is_other = 1;
    return unread_keyword_line(r, &step);
}

/* Finds keywords of steps of another kind, and of a state taken from another job. */
static const unread_keyword *find_procedure(const hx_abaqus_reader *r)
{
    static const unread_keyword riks = {"STATIC, RIKS", STEP, NULL};
    static const unread_keyword transient = {"HEAT TRANSFER without STEADY STATE", STEP | LOAD,
                                             NULL};
    const char *const keyword = r->scan.keyword;
    if (strcmp(keyword, "HEATTRANSFER") == 0 && !hx_abaqus_parameter(&r->scan, "STEADY STATE"))
        return &transient;
    const int is_riks = strcmp(keyword, "STATIC") == 0 && hx_abaqus_parameter(&r->scan, "RIKS");
    return is_riks ? &riks : FIND(procedures, keyword);
}

static const unread_keyword *find_unread(const hx_abaqus_reader *r)
{
    static const unread_keyword restart = {"RESTART, READ", LOAD | SUPPORT,
                                           "the state of another job"};
    const char *const keyword = r->scan.keyword;
    const int reads = strcmp(keyword, "RESTART") == 0 && hx_abaqus_parameter(&r->scan, "READ");
    return reads ? &restart : FIND(unread, keyword);
}

int hx_abaqus_begin_unread(hx_abaqus_reader *r, int *is_harmless)
{
    const char *const keyword = r->scan.keyword;
    const unread_keyword *const procedure = find_procedure(r);
    const unread_keyword *const other = procedure ? NULL : find_unread(r);
    const int is_section = HAS(sections, keyword), is_material = HAS(materials, keyword);
    const int is_initial = strcmp(keyword, "INITIALCONDITIONS") == 0;
    const int is_known = procedure || other || is_section || is_material || is_initial;
    *is_harmless = !is_known && HAS(harmless, keyword);
    if ((procedure && strcmp(keyword, "HEATTRANSFER") != 0) || strcmp(keyword, "STATIC") == 0)
        HX_TRY(hx_abaqus_add_procedure(r, HX_STEP_OTHER));
    if (*is_harmless) return HX_OK;
    if (r->import.sink) {
        char why[80];
        snprintf(why, sizeof why, "*%.60s beside the mesh", r->scan.keyword_shown);
        return hx_import_need_whole(&r->import, why);
    }
    if (procedure) return begin_procedure(r, procedure);
    if (other) return unread_keyword_line(r, other);
    if (is_section) return hx_abaqus_keep_carrier(r);
    if (is_initial) return begin_initial(r);
    return is_material ? unread_material(r) : unread_unknown(r);
}

/* --- elements other than solids --- */

/* The first row whose name is a prefix of the type applies. */
static const unread_keyword elements[] = {
    {"R3D", 0, NULL},
    {"R2D", 0, NULL},
    {"RB", 0, NULL},
    {"RAX", 0, NULL},
    {"DCOUP", 0, NULL},
    {"SFM", MASS, "surface elements"},
    {"SPRING", CARRIES, "springs"},
    {"DASHPOT", CARRIES, "dashpots"},
    {"GAP", CARRIES, "gaps"},
    {"CONN", CARRIES, "connectors"},
    {"MASS", MASS, "point masses"},
    {"ROTARYI", MASS, "rotary inertias"},
    {"HEATCAP", 0, NULL},
    {"M3D", CARRIES | MASS, "membranes"},
    {"CPS", CARRIES | MASS, "plane elements"},
    {"CPE", CARRIES | MASS, "plane elements"},
    {"CAX", CARRIES | MASS, "axisymmetric elements"},
    {"T2D", CARRIES | MASS, "trusses"},
    {"T3D", CARRIES | MASS, "trusses"},
    {"B", CARRIES | MASS, "beams"},
    {"PIPE", CARRIES | MASS, "pipes"},
    {"ELBOW", CARRIES | MASS, "pipes"},
    {"FRAME", CARRIES | MASS, "frames"},
    {"DS", 0, NULL},
    {"DC", 0, NULL},
    {"S", CARRIES | MASS, "shells"},
    {"", CARRIES, NULL},
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

static int list_carriers(hx_abaqus_reader *r, const uint8_t *carries)
{
    for (int64_t cell = 0; cell < r->cell_number.n; cell++) {
        if (!carries[cell]) continue;
        const char *const type = r->import.other[hx_numbers_get(&r->cell_type, cell)].type;
        const unread_keyword *e = elements;
        while (strncmp(e->name, type, strlen(e->name)) != 0) e++;
        if (e->roles)
            HX_TRY(hx_import_unread(&r->import, e->roles, type, e->what, 1,
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
    if (!r->type->is_solid || strcmp(r->type_name, r->type->name) == 0) return HX_OK;
    return hx_unread_add(&r->formulation, 0, r->type_name, r->type->name, 1, "", 0);
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
