#include "mesh_files.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../base/input_file.h"
#include "../mesh/mesh_check.h"
#include "abaqus_write.h"
#include "foreign_files.h"
#include "gmsh.h"
#include "mesh_readers.h"
#include "set_names.h"
#include "solid.h"
#include "vtk_fields.h"

/* Comments may precede the text that identifies a format. */
enum { HEAD_SIZE = 8192 };

/* --- the formats --- */

static int is_vtk(const char *head)
{
    return strncasecmp(head, "# vtk DataFile", 14) == 0;
}

/* A processing instruction and comments may come before it. */
static int is_vtk_xml(const char *head)
{
    return strstr(head, "<VTKFile") != NULL;
}

static int is_pvtu(const char *head)
{
    return is_vtk_xml(head) && strstr(head, "\"PUnstructuredGrid\"");
}

static int read_vtk(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    (void)conditions; /* the format has none */
    return hx_vtk_read_mesh(path, mesh, notes);
}

/* Writes the sets as the fields from which hx_vtk_read makes sets. */
static int write_vtk(const char *path, const hx_mesh *mesh, const hx_mesh_write_options *options)
{
    hx_fields sets = {0};
    const hx_vtk_options vtk = {.format = options->is_ascii ? HX_VTK_ASCII : HX_VTK_BINARY,
                                .progress = options->progress,
                                .context = options->context};
    const char *const title = options->title ? options->title : mesh->name;
    int rc = hx_fields_add_sets(&sets, mesh);
    if (rc == HX_OK) rc = hx_fields_add_faces(&sets, mesh);
    if (rc == HX_OK) rc = hx_vtk_write_part(path, mesh, title, &vtk, sets.field, sets.n, NULL);
    hx_fields_free(&sets);
    if (rc == HX_OK) rc = hx_fields_note_sets(mesh, path, options->notes);
    return rc;
}

static int is_gmsh(const char *head)
{
    return strncmp(head, "$MeshFormat", 11) == 0 || strncmp(head, "$Comments", 9) == 0 ||
           strncmp(head, "$NOD", 4) == 0;
}

static int read_gmsh(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    (void)conditions; /* the format has none */
    return hx_gmsh_read(path, mesh, notes);
}

static int write_gmsh(const char *path, const hx_mesh *mesh, const hx_mesh_write_options *options)
{
    HX_TRY(hx_gmsh_write(path, mesh, options->is_ascii));
    return hx_set_names_note(mesh, &hx_gmsh_name_rule, path, options->notes);
}

/* The first line after comments is a command of ANSYS: an archive, or an input file. */
static int is_ansys(const char *head)
{
    static const char *const word[] = {
        "/COM",    "/PREP7",  "/BATCH", "/TITLE", "/FILNAM", "/NOPR",  "/CLEAR", "/VERIFY",
        "/CONFIG", "/UNITS",  "/INPUT", "/SOLU",  "/NERR",   ":NEUTR", ":CDWRI", "NBLOCK,",
        "ETBLOCK", "EBLOCK,", "*DIM,",  "*SET,",  "ET,",     "C***"};
    while (*head) {
        const char *const line = head + strspn(head, " \t\r");
        head += strcspn(head, "\n");
        if (*head) head++;
        if (*line == '!' || *line == '\n' || *line == '\0') continue;
        for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
            if (strncasecmp(line, word[i], strlen(word[i])) == 0) return 1;
        /* FINISH, which may be abbreviated to four characters, but not "Finite element mesh" */
        const size_t n = strcspn(line, ", \t\r\n!");
        return n >= 4 && n <= strlen("FINISH") && strncasecmp(line, "FINISH", n) == 0;
    }
    return 0;
}

/* The first line after comments is a keyword. */
static int is_abaqus(const char *head)
{
    if (is_ansys(head)) return 0;
    if (strncmp(head, "\xef\xbb\xbf", 3) == 0) head += 3; /* the byte-order mark of UTF-8 */
    head += strspn(head, " \t\r\n");
    return head[0] == '*' && (head[1] == '*' || isalpha((unsigned char)head[1]));
}

static int write_abaqus(const char *path, const hx_mesh *mesh, const hx_mesh_write_options *options)
{
    HX_TRY(hx_abaqus_write(path, mesh, options->title, options->problem, options->penalty));
    HX_TRY(hx_set_names_note(mesh, &hx_abaqus_name_rule, path, options->notes));
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        n += hx_solid_of_cell(mesh->conn + 8 * e) == HX_SOLID_PYRAMID5;
    if (n == 0) return HX_OK;
    return hx_notes_add(options->notes, HX_NOTE_INFO,
                        "%s: %lld pyramids are written as C3D8 with repeated nodes, because "
                        "CalculiX has no pyramids",
                        path, (long long)n);
}

/* Classic netCDF. A netCDF-4 file is HDF5, like files of other formats, and is recognized by its
 * name. */
static int is_exodus(const char *head)
{
    return strncmp(head, "CDF", 3) == 0 && (head[3] == 1 || head[3] == 2 || head[3] == 5);
}

/* The first line after comments is a section heading or a card. */
static int is_nastran(const char *head)
{
    static const char *const word[] = {
        "SOL ",    "CEND",   "BEGIN BULK", "GRID",    "NASTRAN ", "INIT ", "ID ",  "ID,",
        "ASSIGN ", "CTETRA", "CHEXA",      "SUBCASE", "PSOLID",   "TITLE", "ECHO", "MAT1"};
    while (*head) {
        const char *const line = head + strspn(head, " \t\r");
        head += strcspn(head, "\n");
        if (*head) head++;
        if (*line == '$' || *line == '\n' || *line == '\0') continue;
        for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
            if (strncmp(line, word[i], strlen(word[i])) == 0) return 1;
        return 0;
    }
    return 0;
}

static int is_medit(const char *head)
{
    for (;;) {
        head += strspn(head, " \t\r\n");
        if (*head != '#') break;
        head += strcspn(head, "\n");
    }
    return strncasecmp(head, "MeshVersionFormatted", 20) == 0;
}

/* A line of -1, then the number of a data set. */
static int is_unv(const char *head)
{
    long one, number;
    int n;
    return sscanf(head, "%ld %ld%n", &one, &number, &n) == 2 && one == -1 && number > 0 &&
           (head[n] == '\n' || head[n] == '\r' || head[n] == ' ');
}

/* G+Smo's objects are siblings within <xml>. */
static int is_gismo(const char *head)
{
    return strstr(head, "<xml") && (strstr(head, "<Geometry") || strstr(head, "<MultiPatch"));
}

static int is_mfem_nurbs(const char *head)
{
    return strncmp(head, "MFEM NURBS mesh", 15) == 0;
}

const hx_mesh_format hx_mesh_formats[] = {
    {"legacy VTK", ".vtk", is_vtk, read_vtk, write_vtk, .holds_fields = 1,
     .read_to = hx_vtk_read_to},
    {"parallel VTK XML", ".pvtu", is_pvtu, read_vtk, NULL},
    {"VTK XML", ".vtu", is_vtk_xml, read_vtk, NULL},
    {"Gmsh", ".msh", is_gmsh, read_gmsh, write_gmsh, .read_to = hx_gmsh_read_to},
    {"Abaqus, CalculiX", ".inp", is_abaqus, hx_abaqus_read, write_abaqus,
     .read_to = hx_abaqus_read_to, .holds_problem = 1},
    {"ANSYS archive", ".cdb", is_ansys, hx_ansys_read, NULL},
    {"Nastran", ".bdf", is_nastran, hx_nastran_read, NULL},
    {"Nastran", ".nas", is_nastran, hx_nastran_read, NULL},
    {"OptiStruct", ".fem", is_nastran, hx_nastran_read, NULL},
    {"Medit", ".mesh", is_medit, hx_medit_read, NULL},
    {"universal file", ".unv", is_unv, hx_unv_read, NULL},
    {"Exodus II", ".exo", is_exodus, hx_exodus_read, NULL},
    {"Exodus II", ".e", is_exodus, hx_exodus_read, NULL},
    {"Exodus II", ".ex2", is_exodus, hx_exodus_read, NULL},
    {"Exodus II", ".g", is_exodus, hx_exodus_read, NULL},
    {"G+Smo XML", ".xml", is_gismo, .read_spline = hx_spline_xml_read},
    {"MFEM NURBS", ".mesh", is_mfem_nurbs, .read_spline = hx_spline_mfem_read},
};
const size_t hx_n_mesh_format = sizeof hx_mesh_formats / sizeof hx_mesh_formats[0];

/* --- recognition --- */

const hx_mesh_format *hx_mesh_format_of_name(const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < hx_n_mesh_format; i++) {
        const size_t n_end = strlen(hx_mesh_formats[i].extension);
        if (n > n_end && strcasecmp(path + n - n_end, hx_mesh_formats[i].extension) == 0)
            return &hx_mesh_formats[i];
    }
    return NULL;
}

/* Reads the first bytes of the file, terminated by a 0; -1: it cannot be opened, and *why is the
 * reason. */
static int read_head(const char *path, char head[HEAD_SIZE], const char **why)
{
    FILE *const f = hx_input_open(path, why);
    if (!f) return -1;
    head[fread(head, 1, HEAD_SIZE - 1, f)] = '\0';
    fclose(f);
    return 0;
}

const hx_mesh_format *hx_mesh_format_of_file(const char *path)
{
    char head[HEAD_SIZE];
    if (read_head(path, head, NULL) < 0) return NULL;
    /* checked before other formats, since Nastran also has a TITLE */
    if (hx_foreign_is_head(head)) return NULL;
    for (size_t i = 0; i < hx_n_mesh_format; i++)
        if (hx_mesh_formats[i].is_head(head)) return &hx_mesh_formats[i];
    return hx_mesh_format_of_name(path);
}

int hx_mesh_can_write(const hx_mesh_format *format)
{
    return format && format->write;
}

const char *hx_mesh_format_list(int for_writing, char *text, size_t n_text)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < hx_n_mesh_format; i++) {
        const hx_mesh_format *const format = &hx_mesh_formats[i];
        if (for_writing && !hx_mesh_can_write(format)) continue;
        if (n < n_text)
            n += (size_t)snprintf(text + n, n_text - n, "%s%s", n > 0 ? ", " : "",
                                  format->extension);
    }
    return text;
}

/* Returns HX_EINPUT with the reason why the file has no known format. */
static int refuse_file(const char *path)
{
    char list[256], hint[512], head[HEAD_SIZE];
    const char *why;
    if (read_head(path, head, &why) < 0)
        return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    if (hx_foreign_hint(path, head, hint, sizeof hint))
        return HX_RAISE(HX_EINPUT, "%s: %s", path, hint);
    return HX_RAISE(HX_EINPUT,
                    "%s: not a mesh file of a known format (%s); the program meshio converts many "
                    "others: meshio convert FILE OUT.vtu",
                    path, hx_mesh_format_list(0, list, sizeof list));
}

int hx_mesh_is_spline(const char *path)
{
    const hx_mesh_format *const format = hx_mesh_format_of_file(path);
    return format && format->read_spline;
}

int hx_mesh_read_spline(const char *path, const hx_spline_options *options, hx_spline *spline,
                        hx_mesh *mesh, hx_notes *notes)
{
    const hx_mesh_format *const format = hx_mesh_format_of_file(path);
    memset(mesh, 0, sizeof *mesh);
    memset(spline, 0, sizeof *spline);
    if (!format) return refuse_file(path);
    if (!format->read_spline)
        return HX_RAISE(HX_EINPUT, "%s: %s, which cannot hold a spline", path, format->name);
    return hx_spline_file_mesh(path, format->read_spline, options, spline, mesh, notes);
}

int hx_mesh_read(const char *path, double merge, hx_mesh *mesh, hx_conditions *conditions,
                 hx_notes *notes)
{
    int32_t *merged = NULL;
    struct stat state;
    const hx_mesh_format *const format = hx_mesh_format_of_file(path);
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    if (!format) return refuse_file(path);
    if (stat(path, &state) == 0 && S_ISREG(state.st_mode) && state.st_size == 0)
        return HX_RAISE(HX_EINPUT, "%s: the file is empty", path);
    if (format->read_spline) {
        /* read a spline file, keeping only the image */
        hx_spline spline;
        HX_TRY(hx_spline_file_mesh(path, format->read_spline, NULL, &spline, mesh, notes));
        hx_spline_free(&spline);
        return HX_OK;
    }
    HX_TRY(format->read(path, mesh, conditions, notes));
    const int rc = hx_mesh_repair_coincident(mesh, merge, &merged, notes);
    if (conditions && merged) hx_conditions_merge(conditions, merged);
    free(merged);
    if (rc < 0) hx_mesh_free(mesh);
    if (rc < 0 && conditions) hx_conditions_free(conditions);
    return rc;
}

int hx_mesh_check_file(const hx_mesh *mesh, double merge, hx_notes *notes)
{
    /* note sets that the file lists with other members than their definition by other sets
     * gives, because one of the two was changed */
    for (size_t i = 0; i < mesh->rules.n; i++)
        if (mesh->rules.rule[i].is_listed)
            HX_TRY(hx_notes_add(notes, HX_NOTE_WARNING,
                                "%s: the set '%.60s' is listed with other nodes or faces than the "
                                "sets that it is made of: the list is used",
                                mesh->name, mesh->rules.rule[i].set.name));
    const int keep_apart = !isnan(merge) && !(merge > 0.0);
    return hx_mesh_check_conforming(mesh, keep_apart, notes);
}
