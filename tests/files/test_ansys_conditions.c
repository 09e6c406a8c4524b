/* ANSYS archives: the supports and forces that finally hold, and what is not read. test_ansys.c
 * tests the mesh. */
#include "tests/lib/ansys_case.h"

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
    test_conditions();
    test_unread();
    test_many_unknown();
    test_later_steps();
    test_modal();
    test_zeros();
    test_again();
    remove_folder();
    TEST_END();
}
