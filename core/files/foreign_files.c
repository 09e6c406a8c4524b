#include "foreign_files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What to do; %s is the file's name without its ending. */
#define MESHIO(extension) "meshio convert %s" extension " %s.vtu"
#define STEP "export it as STEP from the program it comes from (%s.step)"

typedef struct foreign {
    const char *extension; /* or of a head, with which such files begin */
    const char *what, *how;
} foreign;

static const foreign by_head[] = {
    {"(0 ", "a mesh of ANSYS Fluent", MESHIO(".msh")},
    {"(1 ", "a mesh of ANSYS Fluent", MESHIO(".msh")},
    {"(2 3)", "a mesh of ANSYS Fluent", MESHIO(".msh")},
    {"version https://git-lfs", "a pointer of Git LFS and not the file itself", "git lfs pull"},
    {"MFEM mesh", "a mesh of MFEM", "save it as VTK in MFEM (mesh.PrintVTK, %s.vtk)"},
    {"# Created by COMSOL", "a mesh of COMSOL", "export it as Nastran in COMSOL (%s.nas)"},
};

static const foreign by_name[] = {
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
    {".vti", "an image of VTK", "cut the part out (ParaView: Threshold) and save %s.vtu"},
    {".vts", "a structured grid of VTK", "ParaView's Append Datasets makes %s.vtu of it"},
    {".vtr", "a rectilinear grid of VTK", "ParaView's Append Datasets makes %s.vtu of it"},
    {".vtp", "a surface of VTK", "save it as STL (ParaView: File, Save Data, %s.stl)"},
    {".pvd", "a list of VTK files", "name one of those that it lists (.vtu)"},
    {".frd", "a result of CalculiX", "name its job (%s.inp)"},
    {".odb", "a result of Abaqus", "name its job (%s.inp)"},
    {".cae", "a model of Abaqus/CAE", "write its job there (%s.inp)"},
    {".rst", "a result of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".db", "a model of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".wbpj", "a project of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".mechdb", "a model of ANSYS", "write the mesh in ANSYS: CDWRITE,DB,%s,cdb"},
    {".op2", "a result of Nastran", "name its deck (%s.bdf)"},
    {".hdb", "a model of HyperMesh", "export it there as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".hm", "a model of HyperMesh", "export it there as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".k", "a model of LS-DYNA", "export it in LS-PrePost as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".key", "a model of LS-DYNA", "export it in LS-PrePost as Nastran or Abaqus (%s.bdf, %s.inp)"},
    {".mph", "a model of COMSOL", "export its mesh as Nastran in COMSOL (%s.nas)"},
    {".mphtxt", "a mesh of COMSOL", "export it as Nastran in COMSOL (%s.nas)"},
    {".cub", "a model of Cubit", "export it there: export mesh '%s.exo'"},
    {".cub5", "a model of Cubit", "export it there: export mesh '%s.exo'"},
    {".z88", "a mesh of Z88", "export it there as Abaqus (%s.inp)"},
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

int hx_foreign_is_head(const char *head)
{
    for (size_t i = 0; i < sizeof by_head / sizeof by_head[0]; i++)
        if (strncmp(head, by_head[i].extension, strlen(by_head[i].extension)) == 0) return 1;
    return 0;
}

static const foreign *find(const char *path, const char *head)
{
    const char *const dot = strrchr(path, '.');
    for (size_t i = 0; head && i < sizeof by_head / sizeof by_head[0]; i++)
        if (strncmp(head, by_head[i].extension, strlen(by_head[i].extension)) == 0)
            return &by_head[i];
    for (size_t i = 0; dot && i < sizeof by_name / sizeof by_name[0]; i++)
        if (strcasecmp(dot, by_name[i].extension) == 0) return &by_name[i];
    return NULL;
}

/* Puts what and how together, with the stem of the path for each %s. */
static void compose(const foreign *f, const char *path, char *text, size_t n_text)
{
    const char *const dot = strrchr(path, '.');
    const int n_stem = dot ? (int)(dot - path) : (int)strlen(path);
    size_t n = (size_t)snprintf(text, n_text, "%s: ", f->what);
    for (const char *c = f->how; *c && n + 1 < n_text; c++) {
        if (c[0] == '%' && c[1] == 's') {
            n += (size_t)snprintf(text + n, n_text - n, "%.*s", n_stem, path);
            c++;
        } else {
            text[n++] = *c;
            text[n] = '\0';
        }
    }
}

const char *hx_foreign_hint(const char *path, const char *head, char *text, size_t n_text)
{
    const foreign *const f = find(path, head);
    if (!f) return NULL;
    compose(f, path, text, n_text);
    return text;
}
