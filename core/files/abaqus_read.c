/* Reads an Abaqus input file keyword by keyword; the lines of a part are read once per instance. */
#include "mesh_readers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/names.h"
#include "../mesh/set_rules.h"
#include "abaqus_reader.h"
#include "word_rows.h"

/* --- what is not read --- */

static int refuse_keyword(hx_abaqus_reader *r)
{
    return HX_ABAQUS_RAISE(&r->scan,
                           "*%s generates nodes or elements, which is not supported; let the "
                           "program that wrote the file write them explicitly",
                           r->scan.keyword_shown);
}

typedef struct keyword {
    const char *words;
    int (*begin)(hx_abaqus_reader *r);
} keyword;

static const keyword keywords[] = {
    {"NODE", hx_abaqus_begin_node},
    {"ELEMENT", hx_abaqus_begin_element},
    {"NSET, ELSET", hx_abaqus_begin_set},
    {"SURFACE", hx_abaqus_begin_surface},
    {"BOUNDARY", hx_abaqus_begin_boundary},
    {"CLOAD", hx_abaqus_begin_cload},
    {"DLOAD, DSLOAD", hx_abaqus_begin_load},
    {"COUPLING", hx_abaqus_begin_coupling},
    {"KINEMATIC, DISTRIBUTING", hx_abaqus_begin_coupling_kind},
    {"KINEMATICCOUPLING", hx_abaqus_begin_kinematic_coupling},
    {"RIGIDBODY", hx_abaqus_begin_rigid_body},
    {"MATERIAL", hx_abaqus_begin_material},
    {"ELASTIC, DENSITY, CONDUCTIVITY", hx_abaqus_begin_property},
    {"SOLIDSECTION", hx_abaqus_begin_section},
    {"STEP", hx_abaqus_begin_step},
    {"ENDSTEP", hx_abaqus_begin_end_step},
    {"PART", hx_abaqus_begin_part},
    {"ASSEMBLY, ENDASSEMBLY", hx_abaqus_begin_assembly},
    {"INSTANCE", hx_abaqus_begin_instance},
    {"ENDINSTANCE", hx_abaqus_end_instance},
    {"NGEN, NFILL, NCOPY, NMAP, ELGEN, ELCOPY, SYSTEM, SUBMODEL", refuse_keyword},
};

/* A sink accepts only files that contain nothing but a mesh; for other keywords, the whole mesh is
 * requested. */
static int check_pieces(hx_abaqus_reader *r)
{
    char why[80];
    if (!r->import.sink || hx_has_word("NODE, ELEMENT, NSET, ELSET, SURFACE", r->scan.keyword))
        return HX_OK;
    snprintf(why, sizeof why, "*%s beside the mesh", r->scan.keyword);
    return hx_import_need_whole(&r->import, why);
}

/* An error in supports or loads does not refuse the mesh. It becomes a warning, and only the file's
 * supports or loads are refused. */
static int soften(hx_abaqus_reader *r, int rc)
{
    enum { MOST_WARNED = 3 };
    if (rc != HX_EINPUT || r->soft == HX_ABAQUS_HARD) return rc;
    HX_TRY(hx_set_fault(r->soft == HX_ABAQUS_OF_LOADS ? &r->conditions.load_fault
                                                      : &r->conditions.support_fault,
                        "%s", hx_error_message()));
    if (r->n_soft++ < MOST_WARNED)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_WARNING, "%s", hx_error_message()));
    hx_error_clear();
    return HX_OK;
}

/* --- parts --- */

static int take_line(hx_abaqus_reader *r, hx_abaqus_line kind);

/* Reads the marked lines of a part, after a keyword has been read and before it is handled. */
static int read_part(hx_abaqus_reader *r, const hx_abaqus_part *part)
{
    const hx_abaqus_scan saved = r->scan;
    const int depth = r->scan.depth + 1;
    hx_abaqus_line kind;
    int rc;
    r->scan.keyword_text = NULL;
    r->scan.keyword_capacity = 0;
    r->in_part = 1;
    HX_TRY_FAIL(hx_abaqus_scan_enter(&r->scan, &part->begin));
    for (;;) {
        HX_TRY_FAIL(hx_abaqus_scan_line(&r->scan, &kind));
        if (kind == HX_ABAQUS_END || r->scan.depth < depth) {
            rc = HX_RAISE(HX_EINPUT, "%s: the file changed while it was read", r->import.path);
            goto fail;
        }
        if (kind == HX_ABAQUS_KEYWORD && strcmp(r->scan.keyword, "ENDPART") == 0) break;
        HX_TRY_FAIL(take_line(r, kind));
    }
    HX_TRY_FAIL(take_line(r, HX_ABAQUS_END));
    hx_abaqus_scan_leave(&r->scan);
fail:
    free(r->scan.keyword_text);
    r->scan.keyword_text = saved.keyword_text;
    r->scan.keyword_capacity = saved.keyword_capacity;
    r->scan.keyword = saved.keyword;
    r->scan.keyword_line = saved.keyword_line;
    memcpy(r->scan.keyword_shown, saved.keyword_shown, sizeof saved.keyword_shown);
    r->scan.n_parameter = saved.n_parameter;
    memcpy(r->scan.parameter, saved.parameter, sizeof saved.parameter);
    r->in_part = 0;
    return rc;
}

/* --- lines --- */

static int begin_keyword(hx_abaqus_reader *r)
{
    HX_TRY(hx_abaqus_check_entry(r));
    /* place a part once its instance is known completely */
    const hx_abaqus_part *const part = r->placing;
    r->placing = NULL;
    if (part) HX_TRY(read_part(r, part));
    r->data = NULL;
    r->soft = HX_ABAQUS_HARD;
    r->set = NULL;
    r->member_scope = -1;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (hx_has_word(keywords[i].words, r->scan.keyword)) {
            HX_TRY(check_pieces(r));
            return soften(r, keywords[i].begin(r));
        }
    /* a keyword that is not read is recorded, or counted if it has no effect */
    int is_harmless;
    HX_TRY(hx_abaqus_begin_unread(r, &is_harmless));
    HX_TRY(hx_abaqus_begin_heat(r));
    if (is_harmless && r->n_skipped++ == 0)
        snprintf(r->first_skipped, sizeof r->first_skipped, "%.31s", r->scan.keyword_shown);
    return HX_OK;
}

/* Reads one line: the keyword or data line that the scan has found. HX_ABAQUS_END: there are no
 * more lines. */
static int take_line(hx_abaqus_reader *r, hx_abaqus_line kind)
{
    if (kind == HX_ABAQUS_END) return hx_abaqus_check_entry(r);
    if (kind == HX_ABAQUS_KEYWORD) return begin_keyword(r);
    return r->data ? soften(r, r->data(r, r->scan.text)) : HX_OK;
}

/* --- the whole file --- */

static int read_lines(hx_abaqus_reader *r)
{
    hx_abaqus_line kind = HX_ABAQUS_DATA;
    while (kind != HX_ABAQUS_END) {
        HX_TRY(hx_abaqus_scan_line(&r->scan, &kind));
        HX_TRY(take_line(r, kind));
    }
    /* a part that no instance places is read if it is the only one */
    if (r->in_part) return HX_OK;
    if (r->scope >= 0)
        return HX_IMPORT_RAISE(&r->import, r->instance[r->scope].line,
                               "*END INSTANCE of instance '%.60s' is missing",
                               r->instance[r->scope].name);
    if (r->n_part == 0 || r->n_instance > 0) return HX_OK;
    if (r->n_part > 1)
        return HX_IMPORT_RAISE(&r->import, 0, "%zu %s but no *INSTANCE that places one", r->n_part,
                               hx_noun(r->n_part, "part", "parts"));
    return read_part(r, &r->part[0]);
}

static void abaqus_reader_free(hx_abaqus_reader *r)
{
    hx_abaqus_scan_free(&r->scan);
    hx_import_free(&r->import);
    hx_import_conditions_free(&r->conditions);
    hx_numbers_free(&r->cell_number);
    hx_numbers_free(&r->cell_begin);
    hx_numbers_free(&r->cell_node);
    hx_numbers_free(&r->cell_type);
    hx_numbers_free(&r->cell_line);
    hx_numbers_free(&r->other_step);
    hx_abaqus_free_carriers(r);
    free(r->face_load);
    hx_abaqus_free_heat(r);
    hx_number_index_free(&r->elem_place);
    hx_number_index_free(&r->cell_place);
    hx_number_index_free(&r->node_place);
    hx_abaqus_free_parts(r);
    hx_abaqus_free_couplings(r);
    hx_abaqus_free_materials(r);
}

/* Takes hextop's own comments, which state how sets are made of others. */
static int take_comment(void *context, const char *text)
{
    int is_rule;
    return hx_set_rules_read(context, text, &is_rule);
}

/* Makes the mesh from the import. */
static int make_abaqus_mesh(hx_abaqus_reader *r, hx_mesh *mesh, hx_conditions *conditions)
{
    HX_TRY(hx_import_finish(&r->import, mesh));
    if (r->import.sink) return HX_OK;
    HX_TRY(hx_import_conditions_finish(&r->conditions, &r->import, mesh, conditions));
    if (!conditions) return HX_OK;
    HX_TRY(hx_abaqus_give_heat(r, mesh, conditions));
    return hx_abaqus_find_material(r, mesh, &conditions->material);
}

static int read_abaqus_file(const char *path, hx_mesh *mesh, hx_conditions *conditions,
                            hx_import_sink *sink, hx_notes *notes)
{
    int rc;
    hx_abaqus_reader r = {.notes = notes, .scope = -1, .member_scope = -1};
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    r.import.sink = sink;
    r.import.shape_hint = "C3D4, C3D5, C3D6, C3D8, C3D10, C3D15, C3D20 and their variants";
    HX_TRY_FAIL(hx_abaqus_scan_open(&r.scan, path));
    r.scan.notes = notes;
    r.scan.comment = take_comment;
    r.scan.comment_context = &r.import.rules;
    HX_TRY_FAIL(read_lines(&r));
    HX_TRY_FAIL(hx_abaqus_name_numbers(&r));
    HX_TRY_FAIL(hx_abaqus_resolve_couplings(&r));
    HX_TRY_FAIL(hx_abaqus_list_carriers(&r));
    HX_TRY_FAIL(hx_abaqus_name_materials(&r));
    HX_TRY_FAIL(hx_abaqus_group_faces(&r));
    HX_TRY_FAIL(hx_abaqus_group_heat(&r));
    HX_TRY_FAIL(hx_abaqus_keep_static_steps(&r));
    HX_TRY_FAIL(hx_abaqus_note_formulations(&r));
    HX_TRY_FAIL(hx_abaqus_resolve_cells(&r));
    HX_TRY_FAIL(hx_abaqus_name_sets(&r));
    HX_TRY_FAIL(make_abaqus_mesh(&r, mesh, conditions));
    if (r.n_skipped > 0)
        HX_TRY_FAIL(hx_notes_add(
            notes, HX_NOTE_DETAIL,
            "%s: %d keyword lines do not concern the mesh and are skipped (the first: *%s)", path,
            r.n_skipped, r.first_skipped));
fail:
    if (rc < 0 && mesh) hx_mesh_free(mesh);
    if (rc < 0 && conditions) hx_conditions_free(conditions);
    abaqus_reader_free(&r);
    return rc;
}

int hx_abaqus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    return read_abaqus_file(path, mesh, conditions, NULL, notes);
}

int hx_abaqus_read_to(const char *path, hx_import_sink *sink, hx_notes *notes)
{
    return read_abaqus_file(path, NULL, NULL, sink, notes);
}
