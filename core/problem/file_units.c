#include "file_units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Systems of ANSYS (/UNITS; NMM in comments of Workbench) and their codes in universal files. A
 * system without units has a force for which hextop has no name: dyn, poundal, cN. */
static const struct {
    const char *ansys;
    int unv;
    const char *units, *heat;
} systems[] = {
    {"SI", 1, "N, m, Pa", "W, m, K"},       {"MKS", 0, "N, m, Pa", "W, m, K"},
    {"UMKS", 0, "uN, um, MPa", NULL},       {"CGS", 0, NULL, NULL},
    {"MPA", 10, "N, mm, MPa", "mW, mm, K"}, {"NMM", 0, "N, mm, MPa", "mW, mm, K"},
    {"BFT", 2, "lbf, ft, psf", NULL},       {"BIN", 7, "lbf, in, psi", NULL},
    {NULL, 3, "kgf, m, kgf/m^2", NULL},     {NULL, 4, NULL, NULL},
    {NULL, 5, "mN, mm, kPa", NULL},         {NULL, 6, NULL, NULL},
    {NULL, 8, "kgf, mm, kgf/mm^2", NULL},
};
enum { N_SYSTEM = sizeof systems / sizeof systems[0] };

static hx_file_units stated(const char *text, int system)
{
    hx_file_units units = {.units = system < N_SYSTEM ? systems[system].units : NULL,
                           .heat = system < N_SYSTEM ? systems[system].heat : NULL};
    snprintf(units.stated, sizeof units.stated, "%s", text);
    return units;
}

hx_file_units hx_file_units_of_ansys(const char *word)
{
    int i = 0;
    while (i < N_SYSTEM && (!systems[i].ansys || strcasecmp(systems[i].ansys, word) != 0)) i++;
    return stated(word, i);
}

hx_file_units hx_file_units_of_unv(int code, const char *text)
{
    int i = 0;
    while (i < N_SYSTEM && (code == 0 || systems[i].unv != code)) i++;
    return stated(text, i);
}
