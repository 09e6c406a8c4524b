/* Elements of a .vtu file: its pieces, and the positions of their arrays' values. */
#include "vtu_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "foreign_files.h"

/* --- the root --- */

static int read_layout(hx_vtu_file *file)
{
    const hx_xml_scan *const xml = &file->xml;
    const char *const order = hx_xml_attribute(xml, "byte_order");
    const char *const header = hx_xml_attribute(xml, "header_type");
    const char *const compressor = hx_xml_attribute(xml, "compressor");
    file->is_big = order && strcmp(order, "BigEndian") == 0;
    if (order && !file->is_big && strcmp(order, "LittleEndian") != 0)
        return HX_XML_RAISE(xml, xml->at_line,
                            "byte_order=\"%.40s\"; LittleEndian or BigEndian is expected", order);
    file->header_bytes = 4;
    if (header && strcmp(header, "UInt64") == 0) file->header_bytes = 8;
    if (header && file->header_bytes == 4 && strcmp(header, "UInt32") != 0)
        return HX_XML_RAISE(xml, xml->at_line,
                            "header_type=\"%.40s\"; UInt32 or UInt64 is expected", header);
    file->is_compressed = compressor && *compressor;
    if (file->is_compressed && strcmp(compressor, "vtkZLibDataCompressor") != 0)
        return HX_XML_RAISE(xml, xml->at_line,
                            "the data are compressed by %.40s, which is not read: save the file "
                            "with ZLib compression or without (ParaView: Compressor Type)",
                            compressor);
    return HX_OK;
}

int hx_vtu_open_root(hx_xml_scan *xml, const char *path, int *is_parallel)
{
    hx_xml_event event;
    HX_TRY(hx_xml_open(xml, path));
    HX_TRY(hx_xml_next(xml, &event));
    if (event != HX_XML_START || strcmp(xml->name, "VTKFile") != 0)
        return HX_XML_RAISE(xml, xml->at_line, "not a VTK file, whose first element is <VTKFile>");
    const char *const type = hx_xml_attribute(xml, "type");
    *is_parallel = type && strcmp(type, "PUnstructuredGrid") == 0;
    if (*is_parallel || (type && strcmp(type, "UnstructuredGrid") == 0)) return HX_OK;
    return HX_XML_RAISE(xml, xml->at_line,
                        "a VTK file of type %.40s; it must be UnstructuredGrid or "
                        "PUnstructuredGrid%s",
                        type ? type : "''", hx_foreign_vtk_remedy(type));
}

/* --- arrays --- */

static int read_type(const hx_vtu_file *file, hx_file_number *type)
{
    static const hx_file_number list[] = {
        {"Int8", 1, 'i'},    {"UInt8", 1, 'u'},   {"Int16", 2, 'i'},  {"UInt16", 2, 'u'},
        {"Int32", 4, 'i'},   {"UInt32", 4, 'u'},  {"Int64", 8, 'i'},  {"UInt64", 8, 'u'},
        {"Float32", 4, 'f'}, {"Float64", 8, 'f'}, {"String", 1, 's'}, {"Bit", 1, 's'},
    };
    const char *const word = hx_xml_attribute(&file->xml, "type");
    for (size_t i = 0; word && i < sizeof list / sizeof list[0]; i++) {
        *type = list[i];
        if (strcmp(word, list[i].name) == 0) return HX_OK;
    }
    return HX_XML_RAISE(
        &file->xml, file->xml.at_line,
        "an array has type=\"%.40s\"; Int8 to UInt64, Float32 or Float64 is expected",
        word ? word : "");
}

static int read_format(const hx_vtu_file *file, hx_vtu_format *format)
{
    const char *const word = hx_xml_attribute(&file->xml, "format");
    *format = HX_VTU_ASCII;
    if (!word || strcmp(word, "ascii") == 0) return HX_OK;
    *format = strcmp(word, "binary") == 0 ? HX_VTU_BINARY : HX_VTU_APPENDED;
    if (*format == HX_VTU_BINARY || strcmp(word, "appended") == 0) return HX_OK;
    return HX_XML_RAISE(&file->xml, file->xml.at_line,
                        "an array has format=\"%.40s\"; ascii, binary or appended is expected",
                        word);
}

/* Reads the start tag of a DataArray; ids: names of the arrays that number points or cells. */
static int read_array(hx_vtu_file *file, hx_vtu_section section, const char *ids[2])
{
    const hx_xml_scan *const xml = &file->xml;
    const char *const name = hx_xml_attribute(xml, "Name");
    hx_vtu_array array = {.section = section, .piece = (int)file->n_piece - 1};
    array.line = array.text_line = xml->at_line;
    HX_TRY(read_type(file, &array.type));
    HX_TRY(read_format(file, &array.format));
    HX_TRY(hx_xml_count(xml, "NumberOfComponents", 1, &array.n_comp));
    if (array.n_comp == 0) array.n_comp = 1;
    HX_TRY(hx_xml_count(xml, "offset", array.format == HX_VTU_APPENDED ? -1 : 0, &array.offset));
    if (name && strlen(name) >= HX_FILE_WORD_SIZE)
        return HX_XML_RAISE(
            xml, xml->at_line, "the name of an array has %zu %s; at most %d are possible",
            strlen(name), hx_noun(strlen(name), "byte", "bytes"), HX_FILE_WORD_SIZE - 1);
    for (int k = 0; k < 2; k++) array.is_id |= ids[k] && name && strcmp(name, ids[k]) == 0;
    HX_TRY(hx_grow(&file->array, file->n_array, &file->array_capacity, sizeof *file->array,
                   "arrays of a VTK file"));
    HX_TRY(hx_strdup(&array.name, name ? name : ""));
    hx_vtu_array *const added = &file->array[file->n_array++];
    *added = array;
    /* read the content between the tags of an array */
    hx_xml_event event;
    const int depth = file->xml.depth - 1;
    do {
        HX_TRY(hx_xml_next(&file->xml, &event));
        if (event == HX_XML_START) HX_TRY(hx_xml_skip(&file->xml));
        if (event == HX_XML_START || event != HX_XML_TEXT) continue;
        if (added->text)
            return HX_XML_RAISE(&file->xml, file->xml.at_line,
                                "the values of an array are split by other elements");
        added->text = file->xml.text;
        added->n_text = file->xml.n_text;
        added->text_line = file->xml.at_line;
    } while (file->xml.depth > depth);
    return HX_OK;
}

/* --- pieces --- */

static const struct {
    const char *name;
    hx_vtu_section section;
} sections[] = {{"Points", HX_VTU_POINTS},
                {"Cells", HX_VTU_CELLS},
                {"PointData", HX_VTU_POINT_DATA},
                {"CellData", HX_VTU_CELL_DATA}};

/* Reads the arrays of a section whose start was read. */
static int read_vtu_section(hx_vtu_file *file, hx_vtu_section section)
{
    hx_xml_event event;
    const int depth = file->xml.depth - 1;
    char *own[2] = {NULL, NULL};
    int rc = HX_OK;
    HX_TRY_FAIL(hx_strdup(&own[0], hx_xml_attribute(&file->xml, "GlobalIds")));
    HX_TRY_FAIL(hx_strdup(&own[1], hx_xml_attribute(&file->xml, "PedigreeIds")));
    do {
        const char *ids[2] = {own[0], own[1]};
        HX_TRY_FAIL(hx_xml_next(&file->xml, &event));
        if (event != HX_XML_START) continue;
        if (strcmp(file->xml.name, "DataArray") == 0)
            rc = read_array(file, section, ids);
        else
            rc = hx_xml_skip(&file->xml);
    } while (rc == HX_OK && file->xml.depth > depth);
fail:
    free(own[0]);
    free(own[1]);
    return rc;
}

static int read_piece(hx_vtu_file *file)
{
    hx_xml_scan *const xml = &file->xml;
    hx_xml_event event;
    const int depth = xml->depth - 1;
    hx_vtu_piece piece = {0, 0, xml->at_line};
    HX_TRY(hx_xml_count(xml, "NumberOfPoints", -1, &piece.n_point));
    HX_TRY(hx_xml_count(xml, "NumberOfCells", -1, &piece.n_cell));
    if (file->n_piece == HX_VTU_PIECES)
        return HX_XML_RAISE(xml, xml->at_line, "more than %d pieces", HX_VTU_PIECES);
    HX_TRY(hx_grow(&file->piece, file->n_piece, &file->piece_capacity, sizeof piece, "pieces"));
    file->piece[file->n_piece++] = piece;
    do {
        HX_TRY(hx_xml_next(xml, &event));
        if (event != HX_XML_START) continue;
        size_t i = 0;
        while (i < 4 && strcmp(xml->name, sections[i].name) != 0) i++;
        HX_TRY(i < 4 ? read_vtu_section(file, sections[i].section) : hx_xml_skip(xml));
    } while (xml->depth > depth);
    return HX_OK;
}

/* Finds the appended data: an underscore after the start tag, then bytes that are not XML. */
static int find_appended(hx_vtu_file *file)
{
    const hx_xml_scan *const xml = &file->xml;
    const char *const encoding = hx_xml_attribute(xml, "encoding");
    const char *at = xml->data + xml->next, *const end = xml->data + xml->size;
    while (at < end && strchr(" \t\r\n", *at) && *at) at++;
    if (at == end || *at != '_')
        return HX_XML_RAISE(xml, xml->at_line, "<AppendedData> must begin with '_'");
    file->appended = at + 1;
    file->n_appended = (size_t)(end - at) - 1;
    file->appended_is_base64 = encoding && strcmp(encoding, "base64") == 0;
    if (file->appended_is_base64 || !encoding || strcmp(encoding, "raw") == 0) return HX_OK;
    return HX_XML_RAISE(xml, xml->at_line, "encoding=\"%.40s\"; raw or base64 is expected",
                        encoding);
}

static int read_elements(hx_vtu_file *file)
{
    hx_xml_scan *const xml = &file->xml;
    hx_xml_event event;
    for (;;) {
        HX_TRY(hx_xml_next(xml, &event));
        if (event == HX_XML_END_OF_FILE) break;
        if (event != HX_XML_START) continue;
        if (strcmp(xml->name, "AppendedData") == 0) return find_appended(file);
        if (strcmp(xml->name, "UnstructuredGrid") == 0) continue;
        if (strcmp(xml->name, "Piece") == 0)
            HX_TRY(read_piece(file));
        else
            HX_TRY(hx_xml_skip(xml));
    }
    return HX_OK;
}

int hx_vtu_open(hx_vtu_file *file, const char *path)
{
    int rc = HX_OK, is_parallel;
    memset(file, 0, sizeof *file);
    HX_TRY_FAIL(hx_vtu_open_root(&file->xml, path, &is_parallel));
    if (is_parallel) {
        rc = HX_XML_RAISE(&file->xml, 1,
                          "the file lists pieces, but a single piece (.vtu) is expected");
        goto fail;
    }
    HX_TRY_FAIL(read_layout(file));
    HX_TRY_FAIL(read_elements(file));
    if (file->n_piece == 0)
        rc = HX_XML_RAISE(&file->xml, file->xml.line, "no <Piece> in <UnstructuredGrid>");
fail:
    if (rc < 0) hx_vtu_close(file);
    return rc;
}

void hx_vtu_close(hx_vtu_file *file)
{
    for (size_t i = 0; i < file->n_array; i++) free(file->array[i].name);
    free(file->array);
    free(file->piece);
    hx_xml_free(&file->xml);
    memset(file, 0, sizeof *file);
}

const hx_vtu_array *hx_vtu_find(const hx_vtu_file *file, int piece, hx_vtu_section section,
                                const char *name)
{
    for (size_t i = 0; i < file->n_array; i++) {
        const hx_vtu_array *const array = &file->array[i];
        if (array->piece == piece && array->section == section &&
            (!name || strcmp(array->name, name) == 0))
            return array;
    }
    return NULL;
}
