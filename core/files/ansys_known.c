/* Commands of ANSYS without effect on this reader: they set up the session, solve, print, draw,
 * evaluate results or describe geometry. Any other command that is not read is reported. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "ansys_reader.h"
#include "word_rows.h"

/* Commands by purpose; one of four or more characters stands for all with the same first four. */
static const char *const harmless[] = {
    /* Session, files and parameters. */
    "FINISH, SAVE, STAT, END, HELP, KEYW, IOPTN, CDWRITE, PARSAV, WRITE, DBWRITE, REORDER, WSORT, "
    "WAVES, WFRONT, NOORDER, WERASE, WMID, NUMOFF, NUMVAR, NUMSTR, EXPORT, FILE, FILEAUX2, "
    "FILEAUX3, FILEDISP, FLST, FITEM, IMMED, PDEF, PPLOT, MSAVE, SMRTSIZE",
    /* Types, real constants and sections, apart from the elements that use them. */
    "ETLIST, ETCONTROL, RMORE, RLIST, RDELE, SECTYPE, SECDATA, SECBLOCK, SECOFFSET, SECCONTROLS, "
    "SECNUM, SECFUNCTION, SECJOINT, SECREAD, SECWRITE, SECLOCK, SECPLOT, SECCAT, SLIST, SDELETE, "
    "ESYS, TSHAP, SHPP, DOF, BEAM, NSVR, ELIST, NLIST, EPLOT, NPLOT, ENUM, CHECK, CHKMSH, NDIST, "
    "NKPT, EDIST, ERRANG, NWRITE, EWRITE, NRRANG, NRLSUM",
    /* Selections of neither nodes nor elements. */
    "KSEL, KSLL, KSLN, LSEL, LSLA, LSLK, ASEL, ASLL, ASLV, VSEL, VSLA, CMLIST, CMPLOT, CMDELE, "
    "CMGRP, CMEDIT, CMMOD, CMWRITE",
    /* Coordinate systems and the working plane; commands that activate a system are read
     * elsewhere. */
    "CSCIR, CSDELE, CSLIST, DSYS, WPLANE, WPAVE, WPCSYS, WPOFFS, WPROTA, WPSTYL, NWPAVE, NWPLAN, "
    "KWPAVE, KWPLAN, LWPLAN",
    /* Materials: data of tables after TB, temperatures after MPDATA, failure criteria, units. */
    "TBDATA, TBTEMP, TBPT, TBFIELD, TBIN, TBEO, TBLIST, TBPLOT, TBDELE, TBLE, MPTEMP, MPTRES, "
    "MPTGEN, MPLIST, MPPLOT, MPLIB, MPWRITE, MPDRES, UIMP, TOFFST, EMUNIT, STEF, HCOEF, FC, "
    "FCDELE, FCLIST, FCTYP, FCCHECK",
    /* Lists, scales and ends of loads and constraints, which are reported where they are stated. */
    "DLIST, FLIST, SFLIST, SFELIST, SFALIST, SFLLIST, BFLIST, BFELIST, BFALIST, BFVLIST, BFLLIST, "
    "BFKLIST, CELIST, CPLIST, DKLIST, DLLIST, DALIST, FKLIST, DJLIST, FJLIST, ICLIST, SFDELE, "
    "SFEDELE, SFADELE, SFLDELE, BFDELE, BFEDELE, BFADELE, BFVDELE, BFLDELE, BFKDELE, CEDELE, "
    "CPDELE, DKDELE, DLDELE, DADELE, FKDELE, DJDELE, FJDELE, ICDELE, SFCUM, BFCUM, SFCONTROL, "
    "EALIVE, ESTIF, LSLIST, CGLOC, CECHECK, IC",
    /* The solution and its steps; ANTYPE, NLGEOM and SOLVE are read elsewhere. */
    "ACCOPTION, ALPHAD, BETAD, DMPRAT, DMPSTR, DMPSFREQ, DMPOPTION, DMPEXT, MDAMP, AUTOTS, "
    "DELTIM, NSUBST, TIME, TIMINT, TIMERANGE, TINTP, TRNOPT, KBC, KUSE, NCNV, NEQIT, CNVTOL, "
    "CUTCONTROL, CRPLIM, CINT, LNSRCH, ARCLEN, NROPT, PRED, OPNCONTROL, RATE, MONITOR, "
    "RESCONTROL, NLHIST, NLDIAG, NLDPOST, NLMESH, SOLCONTROL, SNOPTION, EXPASS, EXPSOL, NUMEXP, "
    "EQSLV, PCGOPT, BCSOPTION, DSPOPTION, LUMPM, PSTRES, SSTIF, STABILIZE, MODCONTROL, MODOPT, "
    "MODE, MXPAND, QRDOPT, BUCOPT, HARFRQ, HROPT, HROUT, HREXP, SPOPT, SUBOPT, THOPT, OUTPR, "
    "OUTRES, OUTGEOM, ERESX, EXTOPT, EMATWRITE, WRFULL, OVCHECK, PSCONTROL, MIDTOL, CMSOPT, "
    "SEOPT, TOTAL, M, MGEN, MDELE, MLIST, PIVCHECK, GSBDATA, GSGDATA, DDOPTION, SCOPT",
    /* Geometry and mesh controls; commands that mesh are refused elsewhere. */
    "K, KL, KNODE, KBETW, KCENTER, KFILL, KMODIF, KDELE, KLIST, KPLOT, KATT, KPT, KPATTR, KDIST, "
    "KESIZE, KSCON, KSUM, L, LARC, LAREA, LATT, LANG, LCAT, LCATTR, LCCAT, LCOMB, LCURV, LCSL, "
    "LDELE, LDIV, LDRAG, LESIZE, LEXTND, LFILLT, LFSURF, LGLUE, LINL, LINP, LINV, LLIST, LOVLAP, "
    "LPLOT, LPTN, LREVERSE, LROTAT, LSBA, LSBL, LSBV, LSBW, LSTR, LSUM, LTAN, L2ANG, L2TAN, "
    "BSPLIN, SPLINE, A, AADD, AATT, ACCAT, ADELE, ADGL, ADRAG, AESIZE, AFILLT, AFSURF, AGLUE, "
    "AINA, AINP, AINV, AL, ALIST, ALPFILL, AOFFST, AOVLAP, APLOT, APTN, AREVERSE, AROTAT, ASATTR, "
    "ASBA, ASBL, ASBV, ASBW, ASKIN, ASUB, ASUM, ASURF, MANF, V, VA, VADD, VATT, VDELE, VGLUE, "
    "VINP, VINV, VLIST, VOVLAP, VPLOT, VPTN, VSATTR, VSBA, VSBV, VSBW, VSUM, VBODY, BTOL, BOPTN, "
    "BLC4, BLC5, BLOCK, CON4, CONE, CYL4, CYL5, CYLIND, PCIRC, POLY, PRI2, PRISM, PTXY, RECTNG, "
    "RPOLY, RPR4, RPRISM, SPH4, SPH5, SPHERE, TORUS, ESIZE, DESIZE, MOPT, MSHAPE, MSHKEY, MSHMID, "
    "MSHPATTERN, MCHECK, GPLOT, GSUM",
    /* Results: the general and the time-history postprocessors. */
    "SET, SUBSET, APPEND, INRES, RESET, HRCPLX, SHELL, LAYER, FORCE, RSYS, AVPRIN, AVRES, EFACET, "
    "ERNORM, LCDEF, LCASE, LCFACT, LCFILE, LCOPER, LCABS, LCSEL, LCSUM, LCWRITE, LCZERO, RAPPND, "
    "SUMTYPE, ETABLE, DETAB, PLETAB, PRETAB, SABS, SADD, SALLOW, SEXP, SFACT, SFCALC, SMAX, SMIN, "
    "SMULT, SSUM, TALLOW, VCROSS, VDOT, ESORT, EUSORT, NSORT, NUSORT, PATH, PPATH, PMAP, PCALC, "
    "PVECT, PASAVE, PARESU, PADELE, PCROSS, PDOT, PLPATH, PRPATH, PLPAGM, PRANGE, PLSECT, PRSECT, "
    "PLNSOL, PRNSOL, PLESOL, PRESOL, PLDISP, PRDISP, PLVECT, PRVECT, PLCONV, PRCONV, PLTRAC, "
    "PLCRACK, PRRSOL, PRRFOR, PRNLD, PRERR, PRITER, PRJSOL, PRENERGY, PLHFF, FSUM, NFORCE, "
    "SPOINT, INTSRF, CURR2D, FSSECT, TRPOIN, TRPLIS, TRPDEL, TRTIME, ANCUT, ANCNTR, ANCYC, "
    "ANDATA, ANDSCL, ANDYNA, ANFLOW, ANHARM, ANIM, ANISOS, ANMODE, ANTIME, FP, FE, FL, FS, "
    "FTSIZE, FTCALC, FTPLOT, FTLIST, FTWRITE, CYCCALC, CYCSPEC, CYCPHASE, EXPROFILE, NSOL, ESOL, "
    "RFORCE, SOLU, GAPF, STORE, ADD, PROD, ABS, ATAN, CLOG, CONJUG, DERIV, EXP, FILLDATA, IMAGIN, "
    "INT1, LARGE, NLOG, REALVAR, SMALL, SQRT, VARDEL, VARNAM, VGET, VPUT, PLVAR, PRVAR, XVAR, "
    "PLCPLX, PRCPLX, PLTIME, PRTIME, EXTREM, LINES, NPRINT, SPREAD, PLOTTING, PRINT, DATA, "
    "DEFINE, OPERATE, CFACT, RESP, CVAR, RPSD, PLFAR, PRFAR",
    /* The parameter language; commands that branch, repeat or end the file are handled before
     * this table is searched. */
    "*ABBR, *ABCHECK, *AFUN, *ASK, *AXPY, *CFCLOS, *CFOPEN, *CFWRITE, *COMP, *CREATE, *CYCLE, "
    "*DEL, *DIM, *DMAT, *DO, *DOT, *DOWHILE, *ELSE, *ELSEIF, *END, *ENDDO, *ENDIF, *EXIT, "
    "*EXPORT, *FREE, *GET, *HFUN, *IF, *INIT, *INQUIRE, *ITENGINE, *LSBAC, *LSENGINE, *LSFACTOR, "
    "*MERGE, *MFOURI, *MFUN, *MOPER, *MSG, *MULT, *MWRITE, *NRM, *PREAD, *PRINT, *REMOVE, "
    "*RENAME, *SCAL, *SET, *SMAT, *SREAD, *STATUS, *TAXIS, *TOPER, *TREAD, *VABS, *VCOL, *VCUM, "
    "*VEC, *VEDIT, *VFACT, *VFILL, *VFUN, *VGET, *VITRP, *VLEN, *VMASK, *VOPER, *VPLOT, *VPUT, "
    "*VREAD, *VSCFUN, *VSTAT, *VWRITE, *LIST, *ULIB, *GO, *REPEAT, *RETURN",
    /* Processors, files and graphics of a session. */
    "/ANFILE, /ANG, /ANNOT, /ANUM, /ASSIGN, /AUTO, /AUX12, /AUX15, /AUX2, /AUX3, /AXLAB, /BATCH, "
    "/CFORMAT, /CLABEL, /CLEAR, /CMAP, /COLOR, /COM, /CONFIG, /CONTOUR, /COPY, /CPLANE, /CTYPE, "
    "/CVAL, /CWD, /CYCEXPAND, /DELETE, /DEVDISP, /DEVICE, /DFLAB, /DIRECTORY, /DIST, /DSCALE, "
    "/DV3D, /EDGE, /EFACET, /ERASE, /ESHAPE, /EXPAND, /FACET, /FCOMP, /FILNAME, /FOCUS, /FORMAT, "
    "/FTYPE, /GCMD, /GCOLUMN, /GFILE, /GFORMAT, /GLINE, /GMARKER, /GO, /GOLIST, /GOPR, /GRAPHICS, "
    "/GRESUME, /GRID, /GROPT, /GRTYP, /GSAVE, /GST, /GTHK, /GTYPE, /HBC, /HEADER, /ICLWID, "
    "/ICSCALE, /IMAGE, /INQUIRE, /LARC, /LIGHT, /LINE, /LSPEC, /LSYMBOL, /MAP, /MENU, /MKDIR, "
    "/MPLIB, /MSTART, /NERR, /NOERASE, /NOLIST, /NOPR, /NORMAL, /NUMBER, /OUTPUT, /PAGE, /PBC, "
    "/PBF, /PCIRCLE, /PCOPY, /PICE, /PLOPTS, /PMACRO, /PMORE, /PNUM, /POLYGON, /POST1, /POST26, "
    "/PREP7, /PSEARCH, /PSF, /PSPEC, /PSTATUS, /PSYMB, /PWEDGE, /QUIT, /RATIO, /RENAME, /REPLOT, "
    "/RESET, /RGB, /RMDIR, /RUNST, /SECLIB, /SEG, /SHADE, /SHOW, /SHOWDISP, /SHRINK, /SMOOTH, "
    "/SOLU, /SSCALE, /STATUS, /STITLE, /SYP, /SYS, /TITLE, /TLABEL, /TRACK, /TRIAD, /TRLCY, "
    "/TSPEC, /TXTRE, /TYPE, /UI, /UIS, /USER, /VCONE, /VERIFY, /VIEW, /VSCALE, /VT, /VUP, /WAIT, "
    "/WINDOW, /XFRM, /XRANGE, /YRANGE, /ZOOM, /EOF, /EXIT",
    /* Written by Workbench into each of its ds.dat: marks for the log of a run, the contact
     * information, files of constraint equations and XML, results that are left out. */
    "/WB, CNTR, CEWRITE, XMLO, /XML, RSTSUPPRESS",
};

/* "C***" begins a comment, ":" a label; a digit or "(" begins data, its format or a text. */
static int is_no_command(const char *text)
{
    return strncasecmp(text, "C***", 4) == 0 ||
           !(isalpha((unsigned char)*text) || strchr("/*~%_", *text));
}

/* A record in IGES format, which CDWRITE may put before the data: a letter in column 73, followed
 * by its number. */
static int is_iges(const hx_ansys_reader *r)
{
    enum { COLUMN = 72, RECORD = 80 };
    return r->length == RECORD && strchr("SGDPT", r->text[COLUMN]) &&
           strspn(r->text + COLUMN + 1, " 0123456789") == RECORD - COLUMN - 1;
}

int hx_ansys_is_harmless(const hx_ansys_reader *r)
{
    enum { SIGNIFICANT = 5 }; /* *CFCLOS is also written *CFCLOSE */
    const char *const text = r->command + strspn(r->command, " \t");
    char name[HX_LISTED_WORD];
    if (is_no_command(text) || is_iges(r)) return 1;
    for (size_t k = 0; k < sizeof harmless / sizeof harmless[0]; k++)
        for (const char *at = harmless[k]; hx_next_word(&at, name);)
            if (hx_ansys_is_command(r, name) || (name[0] == '*' && strlen(name) >= SIGNIFICANT &&
                                                 strncasecmp(text, name, SIGNIFICANT) == 0))
                return 1;
    return 0;
}

/* *MSG, *VREAD and similar commands are followed by a format, which "&" continues. */
int hx_ansys_skip_format(hx_ansys_reader *r)
{
    int found = hx_ansys_is_command(r, "*MSG") || hx_ansys_is_command(r, "*VREAD") ||
                hx_ansys_is_command(r, "*VWRITE") || hx_ansys_is_command(r, "*MWRITE");
    while (found) {
        HX_TRY(hx_ansys_line(r, &found));
        if (found && (r->length == 0 || r->text[r->length - 1] != '&')) return HX_OK;
    }
    return HX_OK;
}
