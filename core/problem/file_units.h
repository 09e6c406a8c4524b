/* Units that a mesh file states. No number is converted; `hextop new` writes them as the `units` of
 * the config, and a config with other units is warned of. One rule for all formats: a reader fills
 * hx_import.units. */
#ifndef HX_FILE_UNITS_H
#define HX_FILE_UNITS_H

#include "../base/c_linkage.h"

HX_C_BEGIN

typedef struct hx_file_units {
    char stated[32];   /* as the file names them: "MKS", "Foot (pound f)"; "": it states none */
    const char *units; /* for `units` of a config: "N, m, Pa"; NULL: they have no such name */
    const char *heat;  /* with physics = "heat": "W, m, K"; NULL as above */
    char text[64];     /* units, or a description: "dyn, cm, dyn/cm^2"; "": unknown */
    /* SI units per unit of length, force and power; 0: unknown */
    double metre, newton, watt;
} hx_file_units;

/* The units of ANSYS' /UNITS and of Workbench: "MKS", "NMM", in any case. */
hx_file_units hx_file_units_of_ansys(const char *word);

/* The units of data set 164 of a universal file: its code, and its description. */
hx_file_units hx_file_units_of_unv(int code, const char *text);

/* Factors that the file itself states for a system without a name here; 0: not stated. Named
 * systems keep theirs. */
void hx_file_units_set_factors(hx_file_units *units, double metre, double newton);

HX_C_END

#endif
