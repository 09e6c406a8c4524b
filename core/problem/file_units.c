#include "file_units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FOOT 0.3048
#define INCH 0.0254
#define POUND 4.4482216152605 /* newtons of a pound-force, exactly */
#define POUNDAL (0.45359237 * FOOT)
#define KILOGRAM 9.80665 /* newtons of a kilogram-force */

/* Systems of ANSYS (/UNITS; NMM in comments of Workbench) and their codes in universal files. A
 * system without units has a force for which hextop has no name: dyn, poundal, cN. */
static const struct {
    const char *ansys;
    int unv;
    double metre, newton;
    int is_metric; /* 1: power is force times length per second */
    const char *units, *heat;
    const char *text; /* of a system without units */
} systems[] = {
    {"SI", 1, 1.0, 1.0, 1, "N, m, Pa", "W, m, K", NULL},
    {"MKS", 0, 1.0, 1.0, 1, "N, m, Pa", "W, m, K", NULL},
    {"UMKS", 0, 1e-6, 1e-6, 1, "uN, um, MPa", NULL, NULL},
    {"CGS", 0, 1e-2, 1e-5, 1, NULL, NULL, "dyn, cm, dyn/cm^2"},
    {"MPA", 10, 1e-3, 1.0, 1, "N, mm, MPa", "mW, mm, K", NULL},
    {"NMM", 0, 1e-3, 1.0, 1, "N, mm, MPa", "mW, mm, K", NULL},
    {"BFT", 2, FOOT, POUND, 0, "lbf, ft, psf", NULL, NULL},
    {"BIN", 7, INCH, POUND, 0, "lbf, in, psi", NULL, NULL},
    {NULL, 3, 1.0, KILOGRAM, 0, "kgf, m, kgf/m^2", NULL, NULL},
    {NULL, 4, FOOT, POUNDAL, 0, NULL, NULL, "poundal, ft, poundal/ft^2"},
    {NULL, 5, 1e-3, 1e-3, 1, "mN, mm, kPa", NULL, NULL},
    {NULL, 6, 1e-2, 1e-2, 1, NULL, NULL, "cN, cm, cN/cm^2"},
    {NULL, 8, 1e-3, KILOGRAM, 0, "kgf, mm, kgf/mm^2", NULL, NULL},
};
enum { N_SYSTEM = sizeof systems / sizeof systems[0] };

static hx_file_units stated(const char *text, int system)
{
    hx_file_units units = {.units = NULL};
    snprintf(units.stated, sizeof units.stated, "%s", text);
    if (system >= N_SYSTEM) return units;
    units.units = systems[system].units;
    units.heat = systems[system].heat;
    units.metre = systems[system].metre;
    units.newton = systems[system].newton;
    units.watt = systems[system].is_metric ? units.newton * units.metre : 0.0;
    snprintf(units.text, sizeof units.text, "%s", units.units ? units.units : systems[system].text);
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

void hx_file_units_set_factors(hx_file_units *units, double metre, double newton)
{
    if (units->metre > 0.0 || !(metre > 0.0) || isinf(metre)) return;
    units->metre = metre;
    units->newton = newton > 0.0 && !isinf(newton) ? newton : 0.0;
    if (units->newton > 0.0)
        snprintf(units->text, sizeof units->text, "a force of %.6g N, a length of %.6g m",
                 units->newton, units->metre);
    else
        snprintf(units->text, sizeof units->text, "a length of %.6g m", units->metre);
}
