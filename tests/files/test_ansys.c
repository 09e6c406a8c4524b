/* ANSYS archives, made by hand from the documented format: each block, each message. */
#include "core/files/mesh_readers.h"
#include "tests/lib/vtk_sample.h"

#define HEAD_CDB "/COM,ANSYS RELEASE 19.2\n/PREP7\nET,       1,185\n"
/* Widths 9 and 21 with 13 decimals; zeros at the end are omitted, as by CDWRITE. */
#define NODES                                                                                      \
    "NBLOCK,6,SOLID,        13,        12\n(3i9,6e21.13e3)\n"                                      \
    "        1        0        0\n"                                                                \
    "        2        0        0 1.0000000000000E+000\n"                                           \
    "        3        0        0 1.0000000000000E+000 1.0000000000000E+000\n"                      \
    "        4        0        0 0.0000000000000E+000 1.0000000000000E+000\n"                      \
    "        5        0        0 0.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "        6        0        0 1.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "        7        0        0 1.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "        8        0        0 0.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "       10        0        0 2.0000000000000E+000\n"                                           \
    "       11        0        0 2.0000000000000E+000 1.0000000000000E+000\n"                      \
    "       12        0        0 2.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "       13        0        0 2.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "N,R5.3,LOC,       -1,\n"
#define ELEMENT_HEAD                                                                               \
    "        1        1        1        1        0        0        0        0        8        0"
#define ELEMENTS                                                                                   \
    "EBLOCK,19,SOLID,        21,        2\n(19i9)\n" ELEMENT_HEAD                                  \
    "       20        1        2        3        4        5        6        7        "             \
    "8\n" ELEMENT_HEAD "       21        2       10       11        3        6       12       13 " \
    "       7\n       -1\n"
#define PART HEAD_CDB NODES ELEMENTS

static hx_conditions stated; /* stated in addition to the mesh that was read last */

static int read_text(const char *text, hx_mesh *mesh, hx_notes *notes)
{
    const char *path = in_folder("case.cdb");
    write_bytes(path, text, strlen(text));
    hx_conditions_free(&stated);
    return hx_ansys_read(path, mesh, &stated, notes);
}

static void check_bad(const char *text, const char *message)
{
    hx_mesh mesh;
    CHECK_FAILS(read_text(text, &mesh, NULL), HX_EINPUT, message);
    hx_mesh_free(&mesh);
}

static void check_warned(const char *text, const char *message)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    int any = 0;
    CHECK_OK(read_text(text, &mesh, &notes));
    for (size_t i = 0; i < notes.n; i++)
        any |= notes.note[i].level == HX_NOTE_WARNING && strstr(notes.note[i].text, message);
    CHECK_MSG(any, "no warning: %s", message);
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

static void check_set(const hx_mesh *mesh, const char *name, int n_node, int64_t sum, int n_elem)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    int64_t total = 0;
    CHECK_MSG(set != NULL, "no set %s", name);
    for (int64_t i = 0; set && i < set->n_node; i++)
        total += hx_mesh_node_number(mesh, set->node[i]);
    CHECK_MSG(set && set->n_node == n_node && total == sum && set->n_elem == n_elem,
              "%s: %lld nodes of sum %lld, %lld elements", name, (long long)(set ? set->n_node : 0),
              (long long)total, (long long)(set ? set->n_elem : 0));
}

static void read_good(const char *text, hx_mesh *mesh)
{
    CHECK_OK(read_text(text, mesh, NULL));
    CHECK_OK(hx_mesh_finish(mesh));
}

static void test_mesh(void)
{
    hx_mesh mesh;
    read_good(PART "CMBLOCK,WALL    ,NODE,       4  ! users node component definition\n(8i10)\n"
                   "         1         4         5         8\n"
                   "CMBLOCK,RANGE,NODE,       4\n(8i10)\n         1        -8        10       -13\n"
                   "CMBLOCK,SIDE,AREA,       9\n(8i10)\n         1         2\n        99\n"
                   "CMBLOCK,SECOND,ELEM,       1\n(8i10)\n        21\n"
                   "CMBLOCK,BOTH,ELEMENT,       2\n(1i10)\n        20\n       -21\nFINISH\n",
              &mesh);
    CHECK(mesh.n_node == 12 && mesh.n_elem == 2);
    CHECK_REL(mesh.total_volume, 2.0, 1e-12);
    CHECK(hx_mesh_elem_number(&mesh, 1) == 21 && hx_mesh_node_number(&mesh, 11) == 13);
    check_set(&mesh, "WALL", 4, 18, 0);
    check_set(&mesh, "RANGE", 12, 36 + 46, 2);
    check_set(&mesh, "SECOND", 8, 2 + 10 + 11 + 3 + 6 + 12 + 13 + 7, 1);
    check_set(&mesh, "BOTH", 12, 82, 2);
    CHECK(stated.n_support == 0 && stated.n_force == 0 && !stated.fault);
    hx_mesh_free(&mesh);
}

/* Other widths, one integer per node, the type by ETBLOCK, a block ended by -1. */
static void test_styles(void)
{
    hx_mesh mesh;
    read_good(
        "/prep7\netblock, 1, 1\n(2i9,19a9)\n        7      185\n       -1\n"
        "nblock,3\n(1i8,3e16.9e3)\n"
        "       1 0.00000000E+000 0.00000000E+000 0.00000000E+000\n"
        "       2 2.50000000E-001 0.00000000E+000 0.00000000E+000\n"
        "       3 2.50000000E-001 1.00000000E+000\n       4-0.00000000E+000 1.00000000E+000\n"
        "       5 0.00000000E+000 0.00000000E+000 1.00000000E+000\n"
        "       6 2.50000000E-001 0.00000000E+000 1.00000000E+000\n"
        "       7 2.50000000E-001 1.00000000E+000 1.00000000E+000\n"
        "       8 0.00000000E+000 1.00000000E+000 1.00000000E+000\n      -1\n"
        "eblock,19,solid\n(19i8)\n"
        "       1       7       1       1       0       0       0       0       8       0"
        "       3       1       2       3       4       5       6       7       8\n      -1\n",
        &mesh);
    CHECK_REL(mesh.total_volume, 0.25, 1e-12);
    hx_mesh_free(&mesh);
}

static void test_conditions(void)
{
    hx_mesh mesh;
    read_good(PART "D,      1,UX  ,  0.00000000    ,  0.00000000\nD,      1,UY,-0.25\nD,4,ALL,0\n"
                   "D,4,ROTX,0\nF,     10,FY  , -500.000000    ,  0.00000000\nF,10,FZ,1.5\n/GO\n",
              &mesh);
    CHECK(stated.n_case == 1 && !stated.fault);
    CHECK(stated.n_support == 5 && stated.n_force == 2);
    CHECK(stated.n_support == 5 && stated.support[1].value == -0.25);
    CHECK(stated.n_force == 2 && stated.force[0].component == 1 &&
          stated.force[0].value == -500.0 && stated.force[0].load_case == 1);
    hx_mesh_free(&mesh);
}

/* --- what is not read --- */

/* Roles of the unread item with this word; -1: the file has none. */
static int roles_of(const char *word)
{
    for (size_t i = 0; i < stated.unread.n; i++)
        if (strcmp(stated.unread.kind[i].word, word) == 0) return (int)stated.unread.kind[i].roles;
    return -1;
}

static void test_unread(void)
{
    enum { C = HX_UNREAD_CARRIES, L = HX_UNREAD_LOAD, S = HX_UNREAD_SUPPORT };
    static const struct {
        const char *text, *word;
        int roles;
    } row[] = {
        {"SFE,21,1,PRES,0,5.\n", "SFE", L},
        {"BFE,21,TEMP,1,5.\n", "BFE", L},
        {"ACEL,0,0,9.81\n", "ACEL", L},
        {"DOMEGA,0,0,5\n", "DOMEGA", L},
        {"CMACEL,WALL,0,0,5\n", "CMACEL", L},
        {"ACEL,0,0,GRAVITY\n", "ACEL", L},
        {"IRLF,1\n", "IRLF", L | S},
        {"MP,ALPX,1,1e-5\nBFUNIF,TEMP,80.\nTREF,20.\n", "BFUNIF", L},
        {"MPDATA,R5.0,1,CTEX,1,1,1e-5\nTUNIF,80.\n", "BFUNIF", L},
        {"CE,R5.0,DEFI,2,1,0.\nCE,R5.0,NODE,1,UX,1.\n", "CE", C},
        {"CE,UNBL,DEFI,2,1,0.\nCE,UNBL,NODE,1,UX,1.\n", "CE", C},
        {"cp,1,ux,1,2\n", "CP", C},
        {"RBE3,1,ALL,2\n", "RBE3", C},
        {"DL,1,,UX,0\n", "DL", S},
        {"FK,1,FX,5\n", "FK", L},
        {"D,WALL,UX,0\n", "D of a selection", S},
        {"NSEL,S,LOC,X,0\nD,ALL,UX,0\n", "D of a selection", S},
        {"NSEL,S,LOC,X,0\nF,ALL,FX,0\n", "F of a selection", L},
        {"D,1,UX,%TABLE%\n", "D of a table or parameter", S},
        {"D,1,TEMP,20.\n", "D,TEMP", L},
        {"D,1,VOLT,20.\n", "D,VOLT", L},
        {"SFE,21,1,PRES,0,0.,0.,5.\n", "SFE", L},
        {"SFE,21,1,PRES,0,%P%\n", "SFE", L},
        {"MP,ALPX,1,1e-5\nBF,1,TEMP,0.\nTREF,20.\n", "BFE", L},
        {"KEYOPT,1,3,1\n", "SOLID185, layered", HX_UNREAD_MATERIAL},
        {"ETBLOCK,1,1\n(2i9,19a9)\n        1      185        0        0        1\n       -1\n",
         "SOLID185, layered", HX_UNREAD_MATERIAL},
        {"ET,1,186,0,1,1\n", "SOLID185, layered", HX_UNREAD_MATERIAL},
        {"NLGEOM,ON\n", "NLGEOM", 0},
        {"D,1,UX,0\nSOLVE\nANTYPE,MODAL\n", "ANTYPE,MODAL", HX_UNREAD_STEP},
        {"F,1,MX,5\n", "F,MX", L},
        {"F,1,FX,5,1.\n", "F with an imaginary part", L},
        {"*DO,I,1,3\nF,1,FX,5\n*ENDDO\n", "F in a branch or loop", L},
        {"*IF,A,GT,1,OR,B,LT,2,THEN\nF,1,FX,5\n*ENDIF\n", "F in a branch or loop", L},
        {"FCUM,IGNO\n", "FCUM,IGNO", L},
        {"D,1,UX,0\nSOLVE\nD,2,UX,0\n", "SOLVE", L | S},
        {"LSWRITE,1\n", "LSWRITE", L | S},
        {"LSCLEAR,ALL\n", "LSCLEAR", L | S},
        {"LSCL,ALL\n", "LSCLEAR", L | S},
        {"/INPUT,loads,inp\n", "/INPUT", C},
        {"*USE,LOADS\n", "*USE", C},
        {"MYMACRO,1,2\n", "MYMACRO", C},
        {"  mymacro 1\n", "MYMACRO", C},
        {"%WHAT%,1,2\n", "%WHAT%", C},
        {"_RUN,1\n", "_RUN", C},
        {"SWGEN,A,1,2,3\n", "SWGEN", C},
        {"MAPLOAD,FILE\n", "MAPLOAD", L},
        {"BFINT,,,,,,,\n", "BFINT", L},
        {"SFEBLOCK,4,PRES,1,1,0\n(i9,i4,i4,6(pg20.9))\n       21   4   1      1.0\n"
         "       -1\n",
         "SFEBLOCK", L},
        {"CBDOF,F,txt\n", "CBDOF", S},
        {"EMODIF,20,MAT,2\n", "EMODIF", HX_UNREAD_MATERIAL},
        {"EMOD,ALL,mat,2\n", "EMODIF", HX_UNREAD_MATERIAL},
        {"MPREAD,steel,mp\n", "MPREAD", HX_UNREAD_MATERIAL},
        {"MPCOPY,,1,2\n", "MPCOPY", HX_UNREAD_MATERIAL},
        {"TBCOPY,ANEL,1,2\n", "TBCOPY", HX_UNREAD_MATERIAL},
        {"MP,EX,1,2\nMPDELE,ALL,ALL\n", "MPDELE", HX_UNREAD_MATERIAL},
        {"MP,EX,1,2\nSOLVE\nMP,EX,1,3\n", "SOLVE", HX_UNREAD_MATERIAL},
        {"ESEL,U,ELEM,,21\nSOLVE\n", "ESEL", C},
        {"NSEL,U,NODE,,10\nSOLVE\n", "NSEL", L | S},
        {"ESEL,S,MAT,,1\nLSEL,ALL\nESEL,ALL\nNSEL,NONE\nSOLV\n", "NSEL", L | S},
        {"ESLN,S\nALLSEL,ALL,NODE\nSOLVE\n", "ESEL", C},
        {"CMBLOCK,H,ELEM,1\n(8i10)\n        21\nCMSEL,S,H\nSOLVE\n", "ESEL", C},
        {"*GO,:end\nD,1,UX,0\n:end\n", "*GO", C},
        {"*IF,A,GT,1,:end\n", "*IF", C},
        {"D,1,UX,0\n*REPEAT,3,1\n", "*REPEAT", C},
        {"*IF,A,GT,1,THEN\n/EOF\n*ENDIF\n", "/EOF", C},
        {"*GET,I_,ACTIVE,,INT\nI_=1\n*IF,I_,NE,0,THEN\n/EOF\n*ENDIF\n", "/EOF", C},
        {"*DO,K,1,3\n*GET,I_,ACTIVE,,INT\n*IF,I_,NE,0,THEN\n/EOF\n*ENDIF\n*ENDDO\n", "/EOF", C},
        {"*GET,I_,ACTIVE,,INT\n*IF,I_,NE,A,THEN\n*ELSEIF,I_,EQ,0\n/EOF\n*ENDIF\n", "/EOF", C},
        {"*GET,I_,ACTIVE,,INT\n*IF,I_,EQ,0,AND,A,GT,1,THEN\n/EOF\n*ENDIF\n", "/EOF", C},
        {"P=1\n*GET,P,NODE,1,LOC,X\nD,1,UX,P\n", "D of a table or parameter", S},
        {"D,1,UX,0\nLSWRITE,1\nD,2,UX,0\n", "LSWRITE", L | S},
        {"PERTURB,MODAL\n", "PERTURB", HX_UNREAD_STEP},
        {"DBLOCK,1\n-(i9,a6,2(pg16.9))\n        1  TEMP  1.00000000      0.00000000\n"
         "       -1\n",
         "D,TEMP", L},
        {"ANTYPE,2\n", "ANTYPE,2", HX_UNREAD_STEP},
        {"D,1,UX,1.\nNROTAT,1\n", "D of rotated nodes", S},
        {"F,1,FX,1.\nNROTAT,ALL\n", "F of rotated nodes", L},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text, "%s%s", PART, row[i].text);
        read_good(text, &mesh);
        CHECK_MSG(!stated.fault && stated.unread.n == 1 && roles_of(row[i].word) == row[i].roles,
                  "%s: %zu kinds, the first '%s', roles %d", row[i].text, stated.unread.n,
                  stated.unread.n > 0 ? stated.unread.kind[0].word : "", roles_of(row[i].word));
        hx_mesh_free(&mesh);
    }
}

/* Load steps after the first one: their number, and the line of the first that is not read. */
static void test_later_steps(void)
{
    static const struct {
        const char *text;
        int n, line;
    } row[] = {
        {"D,1,UX,0\nSOLVE\nFDELE,ALL,ALL\nF,10,FX,4\nSOLVE\n", 1, 5},
        {"D,1,UX,0\nSOLVE\nF,10,FX,4\nD,2,UX,1\nSOLVE\nSOLVE\nF,10,FX,5\nSOLVE\n", 2, 5},
        {"D,1,UX,0\nSOLVE\nMP,EX,1,3\nF,10,FX,4\n", 1, 3},
        {"LSWRITE,1\nMP,EX,1,3\nF,10,FX,4\nLSWRITE,2\n", 2, 1},
    };
    char text[8000];
    hx_mesh mesh;
    int first = 0;
    for (const char *c = PART; *c; c++) first += *c == '\n';
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text, "%s%s", PART, row[i].text);
        read_good(text, &mesh);
        const hx_unread_kind *const kind = stated.unread.kind;
        CHECK_MSG(stated.unread.n == 1 && kind->n == row[i].n && kind->line == first + row[i].line,
                  "%s: %zu kinds, %lld of '%s', line %lld", row[i].text, stated.unread.n,
                  (long long)kind->n, kind->word, (long long)kind->line - first);
        hx_mesh_free(&mesh);
    }
}

/* A step that is not static: supports are read, but there are neither forces nor a load case. */
static void test_modal(void)
{
    static const char *const text[] = {"MODAL", " 2", "TRANS", "4", "STATIC\nSOLVE\nANTYPE,MODAL"};
    char all[8000];
    hx_mesh mesh;
    for (int i = 0; i < 5; i++) {
        snprintf(all, sizeof all, "%s/SOLU\nD,1,ALL,0\nF,12,FX,5.\nANTYPE,%s\n", PART, text[i]);
        read_good(all, &mesh);
        CHECK(stated.n_support == 3 && stated.unread.n == 1);
        CHECK(stated.n_case == (i == 4) && stated.n_force == (i == 4));
        hx_mesh_free(&mesh);
    }
}

/* What CDWRITE and Workbench write into every archive has no effect. */
static void test_zeros(void)
{
    hx_mesh mesh;
    read_good("*IF,_CDRDOFF,EQ,1,THEN     !if solid model was read in\n_CDRDOFF=\n*ELSE\n"
              "NUMOFF,NODE,       13\n*ENDIF\n*SET,_BUTTON ,  1.000000000000\nDOF,DELETE\n" PART
              "EXTOPT,ATTR,      0,      0,      0\nANTYPE, 0\nTREF,  0.00000000\nIRLF,  0\n"
              "NLGEOM,ON\nNLGEOM,OFF\nSFE,21,1,PRES,1,0.\nBFE,21,TEMP,1,0.\nSF,1,PRES,0\n"
              "MP,ALPX,1,1e-5\nBFUNIF,TEMP,_TINY\nACEL,  0.00000000    ,  0.00000000    ,  0.0\n"
              "OMEGA,  0.00000000    ,  0.00000000\nDOMEGA,  0.00000000\nCGLOC,  0.0,  0.0,  0.0\n"
              "CGOMEGA,  0.00000000    ,  0.0\nDCGOMG,  0.00000000\nKUSE,     0\nTIME,  1.0\n"
              "D,      1,ALL ,  0.000000000    ,  0.000000000\n"
              "F,     10,FX  ,  100.000000    ,  0.000000000\n/GO\nFINISH\n",
              &mesh);
    CHECK(stated.unread.n == 0 && !stated.fault && !stated.load_fault);
    CHECK(stated.n_support == 3 && stated.n_force == 1);
    hx_mesh_free(&mesh);
    /* Other commands that CDWRITE writes, and a solution with its results. */
    read_good("wbnew--Static Structural 2                                              S      1\n"
              "*PREAD,XREF,     2\n  15436.00000000      21691.00000000\nEND PREAD\n" PART
              ":CDWRITE      ! START OF CDWRITE DATA\nC*** a comment\nERESX,DEFA\nACEL,0,0,0\n"
              "SECBLOCK,1\n     0.001000,         1,     0.000000,         3\nCRPLIM, 0.1,   0\n"
              "NCNV,     1,  0.0,     0,  0.0,  0.0\nSHPP,OFF\nTBDATA,1,0.0,0.0\nFINI\n/SOLU\n"
              "D,1,ALL\nEQSLV,SPAR\nSOLVE\nFINISH\n/POST1\nSET,LAST\nPLNSOL,U,SUM\n"
              "*GET,A,NODE,1,U,X\n*CFOPEN,a,txt\n*VWRITE,A\n(F10.3)\n*CFCLOSE\n/EXIT,NOSAVE\n",
              &mesh);
    CHECK_MSG(stated.unread.n == 0, "%s", stated.unread.n ? stated.unread.kind[0].word : "");
    CHECK(stated.n_support == 3);
    hx_mesh_free(&mesh);
    /* Commands that Workbench writes around the data and after the solution. */
    read_good("/batch\n/wb,file,start\n/prep7\n" PART
              "/wb,load,start\nD,1,ALL\n/solu\ncntr,print,1\nrstsuppress,none\n"
              "*get,ANSINTER_,active,,int\n*if,ANSINTER_,ne,0,then\n/eof\n*endif\nsolve\n"
              "CEWRITE,file,ce,,INTE\nfini\n/post1\nxmlo,ENCODING,ISO-8859-1\nxmlo,parm\n"
              "/xml,parm,xml\nfini\n/wb,file,end\n",
              &mesh);
    CHECK_MSG(stated.unread.n == 0, "%s", stated.unread.n ? stated.unread.kind[0].word : "");
    CHECK(stated.n_support == 3);
    hx_mesh_free(&mesh);
    /* The last of several statements counts. A uniform temperature has no effect without thermal
     * expansion. */
    read_good(PART "ACEL,0,0,9.81\nACEL,0,0,0\nIRLF,-1\nBFUNIF,TEMP,80.\nANTYPE,2\n"
                   "ANTYPE,STATIC\nD,1,ALL\nNROTAT,1\n",
              &mesh);
    CHECK_MSG(stated.unread.n == 0, "%s", stated.unread.n ? stated.unread.kind[0].word : "");
    CHECK(stated.n_support == 3);
    hx_mesh_free(&mesh);
}

/* --- the supports and forces that finally hold --- */

/* The force or support of that node and component; 1e30: there is none. */
static double value_at(const hx_mesh *mesh, int is_force, int64_t number, int component)
{
    const int64_t n = is_force ? stated.n_force : stated.n_support;
    const hx_file_value *const list = is_force ? stated.force : stated.support;
    for (int64_t i = 0; i < n; i++)
        if (hx_mesh_node_number(mesh, list[i].node) == number && list[i].component == component)
            return list[i].value;
    return 1e30;
}

static void test_again(void)
{
    static const struct {
        const char *text;
        double force, support; /* of node 10 along x, of node 1 along y */
    } row[] = {
        {"F,10,FX,100\nF,10,FX,100\nD,1,UY,1\nD,1,UY,2\n", 100.0, 2.0},
        {"FCUM,ADD\nF,10,FX,100\nF,10,FX,100\nDCUM,ADD\nD,1,UY,1\nD,1,UY,2\n", 200.0, 3.0},
        {"FCUM,ADD\nF,10,FX,1\nFCUM\nF,10,FX,5\nD,1,ALL,0\nD,1,UY,2\n", 5.0, 2.0},
        {"FCUM,,3\nF,10,FX,2\nDCUM,REPL,0.5\nD,1,UY,2\n", 6.0, 1.0},
        {"F,10,FX,1\nF,10,FY,1\nFDELE,10,FY\nD,1,ALL,4\nDDELE,1,UX\n", 1.0, 4.0},
        {"F,ALL,FX,1\nFDELE,1,ALL,8\nD,1,UX,0,,8,7,UY,UZ\n", 1.0, 0.0},
        {"F,10,FX,9\nFDELE,ALL\nF,1,FX,7,,10,9\nD,1,UY,5\nD,1,UY\n", 7.0, 0.0},
        {"P=12.5\n*SET,Q,3\nF,10,FX,P\nD,1,UY,-Q\n", 12.5, -3.0},
        {"F,10,FX,1 $ F,10,FX,8 $ D,1,UY,6 ! last\n", 8.0, 6.0},
        {"CMBLOCK,A,NODE,2\n(8i10)\n         1        10\nF,a,FX,4\nD,A,UY,1\n", 4.0, 1.0},
        {"CMBLOCK,A,NODE,2\n(8i10)\n         1        10\ncmsel,s,a\nf,all,fx,4\nd,all,all\n"
         "CM,B,NODE\nnsel,all\nD,B,UY,2\n",
         4.0, 2.0},
        {"*CREATE,MACRO\nF,10,FX,5\n*END\nF,10,FX,1\nD,1,UY,0\n", 1.0, 0.0},
        {"F,10,FX,1\nD,1,UY,3\n/EOF\nF,10,FX,5\n", 1.0, 3.0},
        {"F,10,FX,1 $ D,1,UY,3\n/exit,nosave\nF,10,FX,5\n", 1.0, 3.0},
        {"F,10,FX,1\nD,1,UY,3\n*RETURN\nMYMACRO\n", 1.0, 3.0},
        {"*VWRITE,A\nF10.3\nF,10,FX,1\n*MSG,INFO\nF,10,FX,2&\nMYMACRO\nD,1,UY,3\n", 1.0, 3.0},
        {"F,10,FX,1\nDBLOCK,2\n-(i9,a6,2(pg16.9))\n"
         "        1  UX    0.00000000      0.00000000\n"
         "        1  UY    3.00000000      0.00000000\n       -1\n",
         1.0, 3.0},
        {"ESEL,NONE\nESEL,ALL\nNSEL,U,NODE,,1\nALLSEL\nF,10,FX,1\nD,1,UY,3\nSOLVE\n", 1.0, 3.0},
        {"EMODIF,20,REAL,2\nEMODIF,20,SECNUM,2\nF,10,FX,1\nD,1,UY,3\n", 1.0, 3.0},
        {"*get,I_,active,,int\n*if,I_,ne,0,then\nF,10,FX,5\n/eof\n*else\nF,10,FX,1\n*endif\n"
         "D,1,UY,3\n",
         1.0, 3.0},
        {"*GET,I_,ACTIVE,,INT\n*IF,I_,EQ,0,THEN\nF,10,FX,1\n*IF,I_,GT,0,THEN\n/EOF\n"
         "*ELSEIF,I_,LE,0\nD,1,UY,3\n*ELSE\nD,1,UY,4\n*ENDIF\n*ELSE\nF,10,FX,9\n*DO,I,1,3\n"
         "*ENDDO\nF,10,FX,8\n*ENDIF\n",
         1.0, 3.0},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text, "%s%s", PART, row[i].text);
        read_good(text, &mesh);
        const double force = value_at(&mesh, 1, 10, 0), support = value_at(&mesh, 0, 1, 1);
        CHECK_MSG(force == row[i].force && support == row[i].support && stated.unread.n == 0,
                  "%s: force %g, support %g, %zu not read", row[i].text, force, support,
                  stated.unread.n);
        hx_mesh_free(&mesh);
    }
    read_good(PART "F,ALL,FX,1\nFDELE,1,ALL,8\nD,1,UX,0,,8,7,UY,UZ\n", &mesh);
    CHECK(stated.n_force == 4 && stated.n_support == 6);
    hx_mesh_free(&mesh);
}

static void test_elements(void)
{
    static const char prism[] = HEAD_CDB NODES
        "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        3        5        6        7        7\n"
        "       -1\n";
    static const char tetra[] = HEAD_CDB NODES
        "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        3        5        5        5        5\n"
        "       -1\n";
    static const char flat[] = HEAD_CDB NODES
        "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        4        5        6        7        7\n"
        "       -1\n";
    static const char contact[] = HEAD_CDB
        "ET,2,174\n" NODES "EBLOCK,19,SOLID\n(19i9)\n" ELEMENT_HEAD
        "       20        1        2        3        4        5        6        7        8\n"
        "        1        2        1        1        0        0        0        0        4        0"
        "       30        1        2        3        4\n       -1\n"
        "EBLOCK,10,,,1\n(15i9)\n       31        2        1        1        0        1        2\n"
        "       -1\n";
    hx_mesh mesh;
    read_good(prism, &mesh);
    CHECK_REL(mesh.total_volume, 0.5, 1e-12);
    hx_mesh_free(&mesh);
    read_good(tetra, &mesh);
    CHECK_REL(mesh.total_volume, 1.0 / 6.0, 1e-12);
    hx_mesh_free(&mesh);
    check_bad(flat, "case.cdb:21: element 20 names node 7 twice and has 7 different nodes");
    check_bad("ET,1,SOLID285\n" NODES ELEMENTS,
              "element 20, of type SOLID285, has 8 nodes; it needs 4, or");
    check_bad("ET,1,190\n" NODES ELEMENTS,
              "SOLID185, SOLID186, SOLID187, SOLID285 and similar elements");
    check_bad("ET,1,999\n" NODES ELEMENTS, "ET-999 (ANSYS) of 8 nodes");
    read_good(contact, &mesh);
    CHECK(mesh.n_elem == 1 && mesh.n_node == 8);
    CHECK(stated.unread.n == 1 && roles_of("CONTA174") == HX_UNREAD_CARRIES);
    CHECK(stated.unread.n == 1 && stated.unread.kind[0].n == 2 && stated.unread.kind[0].line == 23);
    hx_mesh_free(&mesh);
}

/* Elements that are not solids are listed by their roles, but not elements that only mark faces. */
static void test_other_elements(void)
{
    enum { C = HX_UNREAD_CARRIES, L = HX_UNREAD_LOAD, M = HX_UNREAD_MASS };
    static const struct {
        const char *type, *word;
        int roles;
    } row[] = {
        {"181", "SHELL181", C | M}, {"PLANE182", "PLANE182", C | M}, {"188", "BEAM188", C | M},
        {"21", "MASS21", M},        {"14", "COMBIN14", C | M},       {"170", "TARGE170", C},
        {"50", "MATRIX50", C},      {"154", "SURF154", L},           {"200", "MESH200", -1},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(
            text, sizeof text,
            "%sET,2,%s\nEBLOCK,10,,,1\n(15i9)\n"
            "       90        2        1        1        0        1        2        3        4\n"
            "       -1\n",
            PART, row[i].type);
        read_good(text, &mesh);
        CHECK_MSG(mesh.n_elem == 2 && roles_of(row[i].word) == row[i].roles, "%s: roles %d",
                  row[i].word, roles_of(row[i].word));
        hx_mesh_free(&mesh);
    }
    /* A foundation stiffness is a real constant. */
    read_good(PART "ET,2,154\nRLBLOCK,       1,       2,       6,       7\n(2i8,6g16.9)\n(7g16.9)\n"
                   "       2       6  0.00000000      0.00000000      0.00000000       100.0\n"
                   "TYPE,2\nREAL,1\nEN,90,1,2,3,4\nREAL,2\nEN,91,1,2,3,4\n",
              &mesh);
    CHECK(roles_of("SURF154") == (L | C));
    hx_mesh_free(&mesh);
}

/* Two materials: a set of the elements of the second. */
static void test_two_materials(void)
{
    hx_mesh mesh;
    read_good(PART "MP,EX,1,2\nMP,EX,2,5\nMP,NUXY,2,0.1\nMAT,2\nE,2,10,11,3,6,12,13,7\n", &mesh);
    const hx_file_material *const two = &stated.material;
    CHECK(!two->fault && two->young == 2.0 && two->n_other == 1);
    CHECK(two->n_other == 1 && strcmp(two->other[0].name, "2") == 0 &&
          two->other[0].of.young == 5.0 && two->other[0].of.poisson == 0.1);
    const hx_set *const second = hx_mesh_find_set(&mesh, "material-2");
    CHECK(second && second->n_elem == 1 && two->n_other == 1 &&
          strcmp(two->other[0].set, "material-2") == 0);
    CHECK(!hx_mesh_find_set(&mesh, "material-1"));
    hx_mesh_free(&mesh);
}

static void test_materials(void)
{
    static const struct {
        const char *text, *fault;
        double young, poisson, density;
    } row[] = {
        {"MP,EX,1,2.1e5\nMP,NUXY,1,0.3\nMP,DENS,1,7.8e-9\n", NULL, 2.1e5, 0.3, 7.8e-9},
        {"MPTEMP,R5.0, 1, 1,  0.00000000    ,\n"
         "MPDATA,R5.0, 1,EX  ,       1, 1, 7.000000000E+10,\n"
         "MPDATA,R5.0, 1,NUXY,       1, 1, 0.350000000    ,\n",
         NULL, 7e10, 0.35, NAN},
        {"MPDATA,UNBL, 1,EX  ,       1, 1, 5.0,\nMPDATA,UNBL, 1,NUXY, 1, 1, 0.,\n", NULL, 5.0, 0.0,
         NAN},
        {"MP,EX,1,1\nMP,EX,1,2\nMP,PRXY,1,.25\nMP,EY,1,2\nMP,GXY,1,0.8\n", NULL, 2.0, 0.25, NAN},
        /* no element has material 2 */
        {"MP,EX,1,2\nMP,NUXY,1,0\nMP,EX,2,5\n", NULL, 2.0, 0.0, NAN},
        {"MP,EX,1,2\nMP,EY,1,3\n", "material 1 is not isotropic", 0, 0, 0},
        {"MP,EX,1,2\nMP,NUXY,1,0\nMP,GXY,1,9\n", "is not isotropic", 0, 0, 0},
        {"MP,EX,1,2,0.1\n", "material 1 depends on temperature", 0, 0, 0},
        {"MPDATA,EX,1,1,2,3\n", "depends on temperature", 0, 0, 0},
        {"MP,EX,1,YOUNG\n", "values that only ANSYS computes", 0, 0, 0},
        {"MP,EX,1,2\nMAT,7\nE,2,10,11,3,6,12,13,7\n", "material 7, which is not defined", 0, 0, 0},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text, "%s%s", PART, row[i].text);
        CHECK_OK(read_text(text, &mesh, NULL));
        const hx_file_material *const m = &stated.material;
        CHECK_MSG(m->name && strcmp(m->name, "1") == 0, "%s", row[i].text);
        if (row[i].fault)
            CHECK_MSG(m->fault && strstr(m->fault, row[i].fault), "%s: %s", row[i].text,
                      m->fault ? m->fault : "no fault");
        else
            CHECK_MSG(!m->fault && m->young == row[i].young && m->poisson == row[i].poisson &&
                          (m->density == row[i].density || isnan(row[i].density)),
                      "%s: %s", row[i].text, m->fault ? m->fault : "other numbers");
        hx_mesh_free(&mesh);
    }
    read_good(PART "TB,BISO,1\nTB,FCLI,1\n", &mesh);
    CHECK(!stated.material.name && roles_of("TB,BISO") == HX_UNREAD_MATERIAL &&
          stated.unread.n == 1);
    hx_mesh_free(&mesh);
}

/* Elements that ANSYS integrates differently: a note, or a warning if the file has loads. Units. */
static void test_notes(void)
{
    static const struct {
        const char *text, *said;
        hx_note_level level;
    } row[] = {
        {PART, "SOLID185 (B-bar in ANSYS) are analysed with full integration", HX_NOTE_INFO},
        {PART "D,1,UX,0\n", "SOLID185 (B-bar in ANSYS)", HX_NOTE_WARNING},
        {"ET,1,185\nKEYOP,1,2,3\n" NODES ELEMENTS, "simplified enhanced strains", HX_NOTE_INFO},
        {"ET,1,186\n" NODES ELEMENTS, "SOLID186 (reduced integration in ANSYS)", HX_NOTE_INFO},
        {"ET,1,186\nkeyo,1,2,1\n" NODES ELEMENTS, NULL, HX_NOTE_INFO},
        {"ET,1,70\n" NODES ELEMENTS, NULL, HX_NOTE_INFO},
        {"ET,1,65\n" NODES ELEMENTS, "SOLID65 (extra displacement shapes", HX_NOTE_INFO},
        {"ET,1,65,1\n" NODES ELEMENTS, NULL, HX_NOTE_INFO},
        {"ET,1,5\n" NODES ELEMENTS, "SOLID5 (extra displacement shapes", HX_NOTE_INFO},
        {"/units,MKS\n" PART, "states its units, 'MKS'", HX_NOTE_INFO},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        hx_notes notes = {0};
        hx_mesh mesh;
        int is_said = 0;
        CHECK_OK(read_text(row[i].text, &mesh, &notes));
        for (size_t k = 0; k < notes.n; k++)
            if (row[i].said ? strstr(notes.note[k].text, row[i].said) != NULL &&
                                  notes.note[k].level == row[i].level
                            : strstr(notes.note[k].text, "integration") != NULL)
                is_said = 1;
        CHECK_MSG(is_said == (row[i].said != NULL), "row %zu", i);
        hx_notes_free(&notes);
        hx_mesh_free(&mesh);
    }
}

/* The second of two bricks in every form. */
static void test_forms(void)
{
#define FIRST                                                                                      \
    "EBLOCK,19,SOLID,        20,        1\n(19i9)\n" ELEMENT_HEAD                                  \
    "       20        1        2        3        4        5        6        7        8\n"
#define SECOND "        2       10       11        3        6       12       13        7\n"
    static const char *const form[] = {
        "EBLOCK,10,,,1\n(15i9)\n       21        1        1        1        0" SECOND "-1\n",
        "EBLOCK,8,,,1\n(13i9)\n       21        1        1        1        0" SECOND "/GO\n",
        "EBLOCK,9,COMPACT,,1\n(9i9)\n       21" SECOND "       -1\n",
        "EN,21,2,10,11,3,6,12,13,7\n",
        "E,2,10,11,3,6,12,13,7\n",
        "EN,R5.5,ATTR,8,1,1,1,1,0,21,0,0,0\nEN,R5.5,NODE,2,10,11,3,6,12,13,7\nEN,R5.5,ATTR,-1,\n",
        "EN,UNBL,ATTR,8,1,1,1,1,0,21,0,0,0\nEN,UNBL,NODE,2,10,11,3,6,12,13,7\nEN,UNBL,ATTR,-1,\n",
        "*SET,N2,2\nTY=1\ntype,TY\nen,21,N2,10,11,3,6,12,13,7\n",
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        snprintf(text, sizeof text,
                 "%s       -1\n%sCMBLOCK,A,ELEM,1\n(8i10)\n        21\nD,1,UX,0\n",
                 HEAD_CDB NODES FIRST, form[i]);
        read_good(text, &mesh);
        CHECK_MSG(mesh.n_elem == 2 && hx_mesh_elem_number(&mesh, mesh.n_elem - 1) == 21, "form %zu",
                  i);
        CHECK_REL(mesh.total_volume, 2.0, 1e-12);
        CHECK(stated.n_support == 1 && stated.unread.n == 0);
        hx_mesh_free(&mesh);
    }
    check_bad(PART "EBLOCK,19,OTHER\n(19i9)\n", "EBLOCK of the form 'OTHER'");
    check_bad(PART "EBLOCK,8,,,1\n(13i9)\n       21        7        1        1        0" SECOND
                   "-1\n",
              "case.cdb:26: a second element with the number 21");
    check_bad("EBLOCK,8,,,1\n(13i9)\n       21        7        1        1        0" SECOND,
              "case.cdb:3: an element of type 1, without an ET");
}

/* For every kind of element, CDWRITE omits mid-side nodes that are 0 at the end of a record. */
static void test_short_records(void)
{
    static const struct {
        const char *type, *nodes;
        double volume;
    } row[] = {
        {"187", "        4        0       20        1        2        3        5", 1.0 / 6.0},
        {"92",
         "        8        0       20        1        2        3        5        0        0"
         "        0        0",
         1.0 / 6.0},
        {"186",
         "        8        0       20        1        2        3        4        5        6"
         "        7        8",
         1.0},
        {"95",
         "       12        0       20        1        2        3        4        5        6"
         "        7        8\n        0        0        0        0",
         1.0},
        {"90",
         "        8        0       20        1        2        3        3        5        6"
         "        7        7",
         0.5},
        {"87", "        4        0       20        1        2        3        5", 1.0 / 6.0},
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(text, sizeof text,
                 "ET,1,%s\n%sEBLOCK,19,SOLID,1,1\n(19i9)\n        1        1        1        1"
                 "        0        0        0        0%s\n       -1\n",
                 row[i].type, NODES, row[i].nodes);
        read_good(text, &mesh);
        CHECK(mesh.n_elem == 1);
        CHECK_REL(mesh.total_volume, row[i].volume, 1e-12);
        hx_mesh_free(&mesh);
    }
}

/* Nodes by N, by N of the unblocked form, and in blocks of several widths. */
static void test_nodes(void)
{
    static const char *const nodes[] = {
        "nblock,6,solid\n(1i7,2i9,6e21.13)\n"
        "      1        0        0  0.0000000000000E+00  0.0000000000000E+00  0.0000000000000E+00\n"
        "      2        0        0  2.0000000000000D+00\n"
        "      3        0        0  2.0000000000000E+00  1.0000000000000-000\n"
        "      4        0        0  0.0000000000000E+00  1.0000000000000E+00\n"
        "      5        0        0  0.0000000000000E+00  0.0000000000000E+00  1.0000000000000E+00\n"
        "      6        0        0  2.0000000000000E+00  0.0000000000000E+00  1.0000000000000E+00\n"
        "      7        0        0  2.0000000000000E+00  1.0000000000000E+00  1.0000000000000E+00\n"
        "      8        0        0  0.0000000000000E+00  1.0000000000000E+00  1.0000000000000E+00\n"
        "N,R5.3,LOC,       -1,\n",
        "N,1\nN,2,2.\nN,3,2.,1.\nN,4,,1.\nN,5,,,1.\nN,6,2.,,1.\nN,7,2.,1.,1.\nN,8,,1.,1.\n",
        "N,R5.3,LOC,1,0,0,0.\nN,R5.3,LOC,2,0,0,2.,0.,0.\nN,R5.3,LOC,3,0,0,2.,1.,0.\n"
        "N,R5.3,LOC,4,0,0,0.,1.,0.\nN,R5.3,LOC,5,0,0,0.,0.,1.\nN,R5.3,LOC,6,0,0,2.,0.,1.\n"
        "N,R5.3,LOC,7,0,0,2.,1.,1.\nN,R5.3,LOC,8,0,0,0.,1.,1.\nN,UNBL,LOC,  -1,\n",
    };
    char text[8000];
    hx_mesh mesh;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        snprintf(text, sizeof text, "/PREP7\nET,1,185\n%sE,1,2,3,4,5,6,7,8\n", nodes[i]);
        read_good(text, &mesh);
        CHECK_REL(mesh.total_volume, 2.0, 1e-12);
        hx_mesh_free(&mesh);
    }
    read_good("ET,1,187\n" NODES "E,1,2,3,5,0,0,0,0\nEMORE,0,4\n", &mesh);
    CHECK_REL(mesh.total_volume, 1.0 / 6.0, 1e-12);
    CHECK(mesh.n_elem == 1);
    hx_mesh_free(&mesh);
    check_bad("EMORE,1\n", "EMORE without an E or EN");
    check_bad("ET,1,185\nCSYS,1\nN,1,2.,30.\n", "case.cdb:3: N without a number, in a coordinate");
    check_bad(PART "NUMOFF,NODE,5\n", "case.cdb:24: NUMOFF or /CLEAR after nodes");
    check_bad("ET,1,185\nBLOCK,0,1,0,1,0,1\nVMESH,ALL\n", "case.cdb:3: VMESH creates or changes");
    check_bad(PART "/CLEAR\n", "NUMOFF or /CLEAR after nodes");
    check_bad("N,1,A/2\n", "'A/2' where a number is expected; only ANSYS evaluates");
    check_bad(PART "EMODIF,1,TYPE,2\n", "EMODIF creates or changes");
}

static void test_messages(void)
{
    check_bad(HEAD_CDB NODES, "no solid element among 12 nodes");
    check_bad("NBLOCK,6,SOLID\nhello\n", "case.cdb:2: 'hello' where the format of NBLOCK");
    check_bad("NBLOCK,6,SOLID\n(3i9,2e21.13e3)\n", "lacks three coordinates");
    check_bad("NBLOCK,6,SOLID\n(99999999i9)\n", "where the format of NBLOCK is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n        1        0        0 1.0000x000000E+000\n",
              "case.cdb:3: '1.0000x000000E+000' where a number is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n      1x1        0        0\n",
              "case.cdb:3: '1x1' where an integer is expected");
    check_bad("NBLOCK,6,SOLID\n(3i9,6e21.13e3)\n        1        0        0\n",
              "the file ends within NBLOCK");
    check_bad("EBLOCK,19,SOLID\n(5i9)\n", "EBLOCK with 5 fields; it must have 19");
    check_bad(PART "CMBLOCK,A,NODE,2\n(8i10)\n         1\n", "'A' has fewer than 2 numbers");
    check_bad(PART "CMBLOCK,A,NODE,1 $ F,10,FX,1\n(8i10)\n         1\n",
              "write each on a line of its own");
    check_warned(
        PART "CMBLOCK,A,NODE,1\n(8i10)\n        99\n",
        "set 'A' names nodes that the file does not have, which are left out: 1, the first is 99");
    check_bad(PART "CMBLOCK,A,NODE,1\n(8i10)\n        -5\n", "-5 does not end a range of numbers");
    check_bad(PART "CMBLOCK,A,NODE,2\n(8i10)\n         1-999999999\n", "does not end a range");
    check_bad(PART "CMBLOCK,A,FACE,2\n(8i10)\n", "CMBLOCK needs a name and NODE or ELEM");
    check_bad(PART "EN,R5.5,ATTR,99,1,1,1,1,0,21\n", "an element of 99 nodes");
    check_bad(PART "EMODIF,20,3,5\n", "EMODIF creates or changes the mesh within ANSYS");
    check_bad(PART "DBLOCK,1\n        1  UX    0.0\n", "where the format of DBLOCK is expected");
    check_bad(PART "DBLOCK,1\n-(i9,a6,2(pg16.9))\n        1\n", "node, label and value of DBLOCK");
    check_bad(PART "ET,a,185\n", "'a' where an integer is expected");
    hx_mesh mesh;
    CHECK_FAILS(hx_ansys_read(in_folder("none.cdb"), &mesh, NULL, NULL), HX_EINPUT, "cannot read");
}

/* A text that is no archive gives one message, without a list of hundreds of words. */
static void test_many_unknown(void)
{
    enum { LINE = 8, N = 501 };
    char *const text = malloc(sizeof PART + LINE * N);
    size_t n = (size_t)sprintf(text, "%s", PART);
    for (int i = 0; i < N; i++) n += (size_t)sprintf(text + n, "W%06d\n", i);
    check_bad(text, "more than 500 unknown commands, the last 'W000500'");
    free(text);
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_mesh();
    test_styles();
    test_conditions();
    test_unread();
    test_many_unknown();
    test_later_steps();
    test_modal();
    test_zeros();
    test_again();
    test_elements();
    test_other_elements();
    test_materials();
    test_two_materials();
    test_notes();
    test_forms();
    test_short_records();
    test_nodes();
    test_messages();
    remove_folder();
    TEST_END();
}
