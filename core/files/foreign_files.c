#include "foreign_files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/input_file.h"

/* How to convert the file. %s stands for the file's name without its extension, %p for the name
 * with it. */
#define MESHIO(extension) "meshio convert %s" extension " %s.vtu"
#define STEP "export it as STEP from the program it comes from (%s.step)"

#define MFEM "save it as VTK in MFEM (mesh.PrintVTK, %s.vtk)"
#define TECPLOT "meshio convert --input-format tecplot %p %s.vtu"

enum { HEAD_SIZE = 8192 };

typedef struct foreign {
    const char *extension;
    const char *what, *how;
} foreign;

/* Files recognized by their first bytes, regardless of the name. */
typedef struct head_kind {
    const char *begins;
    int (*is_head)(const char *head); /* further condition, or NULL */
    const char *what, *how;
} head_kind;

static int line_begins(const char *line, const char *word)
{
    return strncasecmp(line, word, strlen(word)) == 0;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + strspn(line, " \t\r\n");
}

/* Returns the first line that is not a comment. */
static const char *first_line(const char *head)
{
    head += strspn(head, " \t\r\n");
    while (*head == '#') head = next_line(head);
    return head;
}

/* A title may come before the variables or the first zone. A title alone is not sufficient, since
 * Nastran files also have one. */
static int is_tecplot(const char *head)
{
    static const char *const first[] = {"TITLE", "VARIABLES", "ZONE", "FILETYPE", "DATASETAUXDATA"};
    const char *line = first_line(head);
    int begins = 0;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        begins |= line_begins(line, first[i]);
    for (; begins && *line; line = next_line(line)) {
        const char *const rest = line + (line_begins(line, "VARIABLES") ? 9 : 4);
        if (line_begins(line, "VARIABLES") && rest[strspn(rest, " \t")] == '=') return 1;
        if (line_begins(line, "ZONE") && strchr(" \t\r\n", rest[0])) return 1;
    }
    return 0;
}

/* "MESH dimension 3 ElemType Tetrahedra Nnode 4", with or without a name in quotes. */
static int is_gid(const char *head)
{
    char line[256];
    const char *const first = first_line(head);
    if (!line_begins(first, "MESH ") && !line_begins(first, "MESH\t")) return 0;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(first, "\r\n"), first);
    for (char *c = line; *c; c++) *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    return strstr(line, "elemtype") != NULL;
}

/* All formats of MFEM except the splines that are read. */
static int is_mfem(const char *head)
{
    return strncmp(head, "MFEM NURBS mesh", 15) != 0;
}

/* A card of sizes comes before the cards of the model. */
static int is_marc(const char *head)
{
    const char *line = head;
    int has_sizes = 0;
    for (; *line; line = next_line(line)) {
        has_sizes |= line_begins(line, "sizing ");
        if (has_sizes && line_begins(line, "elements ")) return 1;
    }
    return 0;
}

/* Comments, then a line with five counts and a line with a node; no other format has these. */
static int is_avs(const char *head)
{
    const char *const first = first_line(head);
    long count[5];
    double x[3];
    int n = 0;
    if (sscanf(first, "%ld %ld %ld %ld %ld%n", &count[0], &count[1], &count[2], &count[3],
               &count[4], &n) != 5 ||
        first[n + (int)strspn(first + n, " \t\r")] != '\n')
        return 0;
    return count[0] > 0 && count[1] > 0 && count[4] >= 0 &&
           sscanf(next_line(first), "%ld %lf %lf %lf", &count[4], &x[0], &x[1], &x[2]) == 4;
}

static int is_dolfin(const char *head)
{
    return strstr(head, "<dolfin") != NULL;
}

/* blank lines may come before the text */
static int is_diffpack(const char *head)
{
    return line_begins(first_line(head), "Finite element mesh (Grid");
}

static const head_kind by_head[] = {
    {"(0 ", NULL, "a mesh of ANSYS Fluent", MESHIO(".msh")},
    {"(1 ", NULL, "a mesh of ANSYS Fluent", MESHIO(".msh")},
    {"(2 3)", NULL, "a mesh of ANSYS Fluent", MESHIO(".msh")},
    {"\x1f\x8b", NULL, "a file compressed by gzip", "gunzip -k %p"},
    {"BZh", NULL, "a file compressed by bzip2", "bunzip2 -k %p"},
    {"\xfd"
     "7zXZ",
     NULL, "a file compressed by xz", "unxz -k %p"},
    {"\x28\xb5\x2f\xfd", NULL, "a file compressed by Zstandard", "unzstd -k %p"},
    {"version https://git-lfs", NULL, "a Git LFS pointer instead of the file itself",
     "git lfs pull"},
    {"MFEM NC mesh", NULL, "a mesh of MFEM", MFEM "; it must not have hanging nodes"},
    {"MFEM ", is_mfem, "a mesh of MFEM", MFEM},
    {"# Created by COMSOL", NULL, "a mesh of COMSOL", "export it as Nastran in COMSOL (%s.nas)"},
    {"#!TDV", NULL, "a binary file of Tecplot", "save it as text in Tecplot, then " TECPLOT},
    {"", is_tecplot, "data of Tecplot", TECPLOT},
    {"", is_gid, "a mesh of GiD", "write it in GiD as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {"GiD Post", NULL, "a result of GiD", "write its mesh as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {"title ", is_marc, "a model of Marc", "export it in Mentat as Nastran (%s.bdf)"},
    {"*KEYWORD", NULL, "a model of LS-DYNA",
     "export it in LS-PrePost as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {"mesh3d", NULL, "a mesh of Netgen", MESHIO(".vol")},
    {"", is_avs, "a mesh in AVS-UCD", "meshio convert --input-format avsucd %p %s.vtu"},
    {"\7", NULL, "a binary mesh in AVS-UCD", "ParaView: File, Save Data, %s.vtu"},
    {"", is_diffpack, "a mesh of Diffpack",
     "write it as Nastran or Abaqus (%s.bdf, %s.inp) in the program that it comes from"},
    {"<", is_dolfin, "a mesh of FEniCS", "meshio convert --input-format dolfin-xml %p %s.vtu"},
};

static const foreign by_name[] = {
    {".zip", "a compressed archive", "unzip %p"},
    {".7z", "a compressed archive", "7z x %p"},
    {".med", "a mesh of Salome", MESHIO(".med")},
    {".meshb", "a binary mesh of Medit", MESHIO(".meshb")},
    {".cgns", "a CGNS mesh", MESHIO(".cgns")},
    {".xdmf", "a mesh in XDMF", MESHIO(".xdmf")},
    {".xmf", "a mesh in XDMF", MESHIO(".xmf")},
    {".h5m", "a mesh of MOAB", MESHIO(".h5m")},
    {".vol", "a mesh of Netgen", MESHIO(".vol")},
    {".f3grid", "a mesh of FLAC3D", MESHIO(".f3grid")},
    {".ugrid", "a mesh in UGRID", MESHIO(".ugrid")},
    {".su2", "a mesh of SU2", MESHIO(".su2")},
    {".avs", "a mesh in AVS-UCD", MESHIO(".avs")},
    {".mdpa", "a mesh of Kratos", MESHIO(".mdpa")},
    {".ele", "a mesh of TetGen", MESHIO(".ele")},
    {".node", "a mesh of TetGen", "tetgen -k writes %s.1.vtk, and meshio convert %s.node %s.vtu"},
    {".vtkhdf", "VTK's HDF5", "save it as .vtu (ParaView: File, Save Data, %s.vtu)"},
    {".vtm", "several grids of VTK", "join them (ParaView: Merge Blocks) and save %s.vtu"},
    {".vti", "an image of VTK", "extract the part (ParaView: Threshold) and save %s.vtu"},
    {".vts", "a structured grid of VTK", "ParaView's Append Datasets converts it to %s.vtu"},
    {".vtr", "a rectilinear grid of VTK", "ParaView's Append Datasets converts it to %s.vtu"},
    {".vtp", "a surface of VTK", "save it as STL (ParaView: File, Save Data, %s.stl)"},
    {".pvd", "a list of VTK files", "give one of the .vtu files that it lists"},
    {".frd", "a result of CalculiX", "give its job (%s.inp)"},
    {".odb", "a result of Abaqus", "give its job (%s.inp)"},
    {".cae", "a model of Abaqus/CAE", "write its job there (%s.inp)"},
    {".rst", "a result of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".db", "a model of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".wbpj", "a project of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".mechdb", "a model of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".op2", "a result of Nastran", "give its deck (%s.bdf)"},
    {".hdb", "a model of HyperMesh",
     "export it in HyperMesh as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".hm", "a model of HyperMesh", "export it in HyperMesh as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".k", "a model of LS-DYNA", "export it in LS-PrePost as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".key", "a model of LS-DYNA", "export it in LS-PrePost as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".mph", "a model of COMSOL", "export its mesh as Nastran in COMSOL (%s.nas)"},
    {".mphtxt", "a mesh of COMSOL", "export it as Nastran in COMSOL (%s.nas)"},
    {".cub", "a model of Cubit", "export it in Cubit: export mesh '%s.exo'"},
    {".cub5", "a model of Cubit", "export it in Cubit: export mesh '%s.exo'"},
    {".z88", "a mesh of Z88", "export it in Z88 as Abaqus (%s.inp)"},
    {".geo", "a script of gmsh", "gmsh -3 %s.geo -o %s.msh"},
    {".fcstd", "a model of FreeCAD", STEP},
    {".sldprt", "a part of SolidWorks", STEP},
    {".sldasm", "an assembly of SolidWorks", STEP},
    {".ipt", "a part of Inventor", STEP},
    {".iam", "an assembly of Inventor", STEP},
    {".catpart", "a part of CATIA", STEP},
    {".catproduct", "an assembly of CATIA", STEP},
    {".f3d", "a model of Fusion", STEP},
    {".prt", "a part of NX or Creo", STEP},
    {".asm", "an assembly of NX or Creo", STEP},
    {".x_t", "a Parasolid model", STEP},
    {".x_b", "a Parasolid model", STEP},
    {".xmt_txt", "a Parasolid model", STEP},
    {".sat", "an ACIS model", STEP},
    {".sab", "an ACIS model", STEP},
    {".jt", "a JT model", STEP},
    {".3dm", "a model of Rhino", STEP},
    {".skp", "a model of SketchUp", STEP},
    {".dwg", "a drawing of AutoCAD", STEP},
    {".dxf", "a drawing of AutoCAD", STEP},
};

static const head_kind *find_head(const char *head)
{
    for (size_t i = 0; i < sizeof by_head / sizeof by_head[0]; i++) {
        const head_kind *const kind = &by_head[i];
        if (strncmp(head, kind->begins, strlen(kind->begins)) == 0 &&
            (!kind->is_head || kind->is_head(head)))
            return kind;
    }
    return NULL;
}

static const foreign *find_name(const char *path)
{
    const char *const dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof by_name / sizeof by_name[0]; i++)
        if (strcasecmp(dot, by_name[i].extension) == 0) return &by_name[i];
    return NULL;
}

int hx_foreign_is_head(const char *head)
{
    return find_head(head) != NULL;
}

int hx_foreign_is_file(const char *path)
{
    char head[HEAD_SIZE];
    FILE *const f = hx_input_open(path, NULL);
    const size_t n = f ? fread(head, 1, HEAD_SIZE - 1, f) : 0;
    if (f) fclose(f);
    head[n] = '\0';
    return find_head(head) || find_name(path);
}

const char *hx_foreign_hint(const char *path, const char *head, char *text, size_t n_text)
{
    const head_kind *const kind = head ? find_head(head) : NULL;
    const foreign *const named = find_name(path);
    if (!kind && !named) return NULL;
    /* combine `what` and `how`, with the stem of the path for each %s and the path for each %p */
    const char *const dot = strrchr(path, '.');
    const int n_path = (int)strlen(path), n_stem = dot ? (int)(dot - path) : n_path;
    size_t n = (size_t)snprintf(
        text, n_text, "%s, which is not read; instead: ", kind ? kind->what : named->what);
    for (const char *c = kind ? kind->how : named->how; *c && n + 1 < n_text; c++) {
        if (c[0] == '%' && (c[1] == 's' || c[1] == 'p')) {
            n +=
                (size_t)snprintf(text + n, n_text - n, "%.*s", c[1] == 's' ? n_stem : n_path, path);
            c++;
        } else {
            text[n++] = *c;
            text[n] = '\0';
        }
    }
    return text;
}

#define APPEND " (ParaView's filter 'Append Datasets' converts it to one)"
#define SURFACE                                                                                    \
    " (a surface has no elements: save it as .stl, which gmsh can mesh, or save the grid that it " \
    "bounds)"

const char *hx_foreign_vtk_remedy(const char *kind)
{
    static const struct {
        const char *word, *remedy;
    } list[] = {
        {"ImageData", APPEND},
        {"PImageData", APPEND},
        {"STRUCTURED_POINTS", APPEND},
        {"StructuredGrid", APPEND},
        {"PStructuredGrid", APPEND},
        {"STRUCTURED_GRID", APPEND},
        {"RectilinearGrid", APPEND},
        {"PRectilinearGrid", APPEND},
        {"RECTILINEAR_GRID", APPEND},
        {"PolyData", SURFACE},
        {"PPolyData", SURFACE},
        {"vtkMultiBlockDataSet", " (ParaView's filter 'Merge Blocks' converts it to one)"},
    };
    for (size_t i = 0; kind && i < sizeof list / sizeof list[0]; i++)
        if (strcasecmp(kind, list[i].word) == 0) return list[i].remedy;
    return "";
}
