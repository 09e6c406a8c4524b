/* Sections of Gmsh files. */
#include "../base/grow.h"
#include "gmsh.h"

#include <stdlib.h>
#include <string.h>

#include "../mesh/set_rules.h"
#include "gmsh_reader.h"

static int read_byte_order(hx_gmsh_reader *r)
{
    int64_t one;
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_gmsh_ints(r, 1, &one));
    /* NOLINTNEXTLINE(clang-analyzer-core*): hx_gmsh_ints writes it */
    if (one == 1) return HX_OK;
    if (one != 1 << 24)
        return HX_GMSH_RAISE(r, "the number that identifies the byte order is %lld instead of 1",
                             (long long)one);
    r->is_swapped = 1;
    return HX_OK;
}

static int read_format(hx_gmsh_reader *r)
{
    int64_t format[2];
    const hx_file_number word = {"integer", 8, 'i'};
    HX_TRY(hx_file_scan_need(&r->scan, "the version of the format"));
    const double version = strtod(r->scan.word, NULL);
    const int is_2 = version >= 2.0 && version<2.3, is_4 = version> 4.09 && version < 4.11;
    if (!is_2 && !is_4)
        return HX_GMSH_RAISE(r,
                             "version %s of the format; 2.0 to 2.2 and 4.1 are read: convert the "
                             "file with gmsh FILE -save -format msh41 -o NEW",
                             hx_file_scan_shown(&r->scan));
    r->major = is_2 ? 2 : 4;
    HX_TRY(hx_file_scan_int(&r->scan, &word, 2, format));
    if ((format[0] != 0 && format[0] != 1) || (format[1] != 4 && format[1] != 8))
        return HX_GMSH_RAISE(r,
                             "file type %lld and data size %lld; 0 or 1 (ASCII, binary) and 4 or 8 "
                             "are expected",
                             (long long)format[0], (long long)format[1]);
    if (is_2 && format[1] != 8)
        return HX_GMSH_RAISE(r, "real numbers of %lld bytes; 8 are expected", (long long)format[1]);
    r->size_bytes = (int)format[1];
    r->scan.is_binary = format[0] == 1;
    return r->scan.is_binary ? read_byte_order(r) : HX_OK;
}

/* Skips lines up to the one that ends the section. */
static int skip_section(hx_gmsh_reader *r, const char *end)
{
    char line[4 * HX_FILE_WORD_SIZE]; /* a rule contains two names of sets */
    const int is_comment = strcmp(end, "$EndComments") == 0;
    int found, is_rule;
    do {
        HX_TRY(hx_file_scan_line(&r->scan, line, sizeof line, &found));
        if (!found) return HX_GMSH_RAISE(r, "the file ends before %.80s", end);
        r->joins_names |= is_comment && strcmp(line, HX_GMSH_JOINS) == 0;
        if (is_comment) HX_TRY(hx_set_rules_read(&r->import.rules, line, &is_rule));
        line[strcspn(line, " \t")] = '\0';
    } while (strcmp(line, end) != 0);
    return HX_OK;
}

static int expect_end(hx_gmsh_reader *r, const char *end)
{
    HX_TRY(hx_file_scan_need(&r->scan, end));
    if (strcmp(r->scan.word, end) == 0) return HX_OK;
    return HX_GMSH_RAISE(r, "'%s' where %.80s is expected", hx_file_scan_shown(&r->scan), end);
}

/* Reads the section of that name, or skips it. */
static int read_gmsh_section(hx_gmsh_reader *r, const char *name, const char *end)
{
    const int is_2 = r->major == 2, is_parametric = strcmp(name, "$ParametricNodes") == 0;
    const int has_nodes = is_parametric || strcmp(name, "$Nodes") == 0;
    const int has_elements = strcmp(name, "$Elements") == 0;
    const int has_entities = !is_2 && strcmp(name, "$Entities") == 0;
    r->has_nodes |= has_nodes;
    r->has_elements |= has_elements;
    r->has_entities |= has_entities;
    /* after this line end, binary numbers start */
    if (!is_2 && (has_nodes || has_elements || has_entities)) HX_TRY(hx_file_scan_begin(&r->scan));
    if (strcmp(name, "$PhysicalNames") == 0)
        HX_TRY(hx_gmsh_read_names(r));
    else if (has_nodes)
        HX_TRY(is_2 ? hx_gmsh_read_nodes_2(r, is_parametric) : hx_gmsh_read_nodes_4(r));
    else if (has_elements)
        HX_TRY(is_2 ? hx_gmsh_read_elements_2(r) : hx_gmsh_read_elements_4(r));
    else if (has_entities)
        HX_TRY(hx_gmsh_read_entities_4(r));
    else
        return skip_section(r, end);
    return expect_end(r, end);
}

/* line: 0 in a binary file. */
static int note_periodic(hx_gmsh_reader *r, int64_t line)
{
    char place[32] = "";
    if (line > 0) snprintf(place, sizeof place, ":%lld", (long long)line);
    return hx_notes_add(r->import.notes, HX_NOTE_WARNING,
                        "%s%s: $Periodic is not read (the nodes that it pairs are not coupled)",
                        r->scan.path, place);
}

static int read_sections(hx_gmsh_reader *r)
{
    char name[HX_FILE_WORD_SIZE], end[HX_FILE_WORD_SIZE + 8];
    int found;
    for (;;) {
        HX_TRY(hx_file_scan_word(&r->scan, &found));
        if (!found) break;
        if (r->scan.word[0] != '$' || strncmp(r->scan.word, "$End", 4) == 0)
            return HX_GMSH_RAISE(r, "'%s' where a section such as $Elements is expected",
                                 hx_file_scan_shown(&r->scan));
        memcpy(name, r->scan.word, sizeof name);
        snprintf(end, sizeof end, "$End%s", name + 1);
        const int64_t line = hx_gmsh_line(r);
        HX_TRY(read_gmsh_section(r, name, end));
        if (strcmp(name, "$Periodic") == 0) HX_TRY(note_periodic(r, line));
        if (strcmp(name, "$PartitionedEntities") == 0)
            HX_TRY(hx_notes_add(r->import.notes, HX_NOTE_WARNING,
                                "%s: the mesh is partitioned, so its physical groups are not read; "
                                "save it without partitions to get them as sets",
                                r->scan.path));
    }
    if (r->has_nodes && r->has_elements) return HX_OK;
    return HX_GMSH_RAISE(r,
                         "no section %s: the file holds no mesh (mesh the geometry with gmsh -3)",
                         r->has_nodes ? "$Elements" : "$Nodes");
}

/* Reads into a mesh or a sink. */
static int read_gmsh_file(const char *path, hx_mesh *mesh, hx_import_sink *sink, hx_notes *notes)
{
    int rc = HX_OK;
    hx_gmsh_reader r;
    memset(&r, 0, sizeof r);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    r.import.sink = sink;
    r.import.order_hint = "set Mesh.ElementOrder = 1 or 2 in gmsh";
    r.import.empty_hint =
        "gmsh saves volumes only if a Physical Volume contains them, or with Mesh.SaveAll = 1";
    HX_TRY_FAIL(hx_file_scan_open(&r.scan, path));
    HX_TRY_FAIL(hx_file_scan_need(&r.scan, "$MeshFormat"));
    if (strcmp(r.scan.word, "$NOD") == 0)
        HX_TRY_FAIL(HX_GMSH_RAISE(&r,
                                  "version 1 of the format is not read; convert the file with gmsh "
                                  "FILE -save -format msh41 -o NEW"));
    while (strcmp(r.scan.word, "$Comments") == 0) {
        HX_TRY_FAIL(skip_section(&r, "$EndComments"));
        HX_TRY_FAIL(hx_file_scan_need(&r.scan, "$MeshFormat"));
    }
    if (strcmp(r.scan.word, "$MeshFormat") != 0)
        HX_TRY_FAIL(HX_GMSH_RAISE(&r, "not a Gmsh file, which starts with $MeshFormat"));
    HX_TRY_FAIL(read_format(&r));
    HX_TRY_FAIL(expect_end(&r, "$EndMeshFormat"));
    HX_TRY_FAIL(read_sections(&r));
    HX_TRY_FAIL(hx_gmsh_mark_empty_groups(&r));
    hx_file_scan_free(&r.scan);
    rc = hx_import_finish(&r.import, mesh);
fail:
    hx_file_scan_free(&r.scan);
    hx_import_free(&r.import);
    hx_gmsh_free_groups(&r);
    free(r.entity);
    free(r.group_set);
    return rc;
}

int hx_gmsh_read(const char *path, hx_mesh *mesh, hx_notes *notes)
{
    memset(mesh, 0, sizeof *mesh);
    return read_gmsh_file(path, mesh, NULL, notes);
}

int hx_gmsh_read_to(const char *path, hx_import_sink *sink, hx_notes *notes)
{
    return read_gmsh_file(path, NULL, sink, notes);
}
