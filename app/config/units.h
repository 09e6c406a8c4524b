/* The units that a config states once, `units = "N, mm, MPa"`: checked for consistency, and named
 * beside figures. The numbers themselves are computed as they are written. */
#ifndef HX_UNITS_H
#define HX_UNITS_H

#include "../text/json.h"
#include "core/base/error.h"

enum { HX_UNIT_SIZE = 24 };

/* Each name begins with a space, to follow a number, and is empty where no units were stated:
 * printf("volume %g%s", volume, units.volume). */
typedef struct hx_units {
    char system[64]; /* as stated: "N, mm, MPa", without a space before */
    char force[HX_UNIT_SIZE], length[HX_UNIT_SIZE], stress[HX_UNIT_SIZE], time[HX_UNIT_SIZE];
    char area[HX_UNIT_SIZE], volume[HX_UNIT_SIZE];
    char work[HX_UNIT_SIZE]; /* of moments and of the compliance: " N mm" */
    char mass[HX_UNIT_SIZE]; /* force time^2 / length: " t" with N, mm and s */
    char density[HX_UNIT_SIZE], acceleration[HX_UNIT_SIZE], stiffness[HX_UNIT_SIZE];
    double metre;            /* of the unit of length; 0: none stated */
    double pascal;           /* of the unit of stress; 0: none stated */
    double mass_si;          /* kg of the unit of mass; 0: none stated */
    double density_si;       /* kg/m^3 of the unit of density */
    char rate[HX_UNIT_SIZE]; /* of rotation: " rad/s" */
    /* Of heat, empty in elasticity, whose own but length, area, volume and work are empty here:
     * power, and per length and temperature, area and temperature, volume, area. */
    char power[HX_UNIT_SIZE], temperature[HX_UNIT_SIZE], conductivity[HX_UNIT_SIZE];
    char film[HX_UNIT_SIZE], source[HX_UNIT_SIZE], flux[HX_UNIT_SIZE];
} hx_units;

/* `text` names a force, a length and a stress, and a time if it is not s, in any order; NULL: none.
 * HX_EINPUT: an unknown unit, with the nearest; a kind twice or missing; a stress that is not force
 * / length^2, with the one that is. */
int hx_units_parse(hx_units *units, const char *text);

/* The same of heat: a power, a length and a temperature, "W, mm, K". Work is power times
 * temperature, that of the thermal compliance. */
int hx_units_parse_heat(hx_units *units, const char *text);

/* What a mass is multiplied by to be read easily, and the unit that then stands behind it: kt, t,
 * kg, g, mg, ug, ng or pg, also if the units make no mass with a name (lbf s^2/in). Masses in kg or
 * less stay as they are down to a thousandth of it. */
double hx_units_mass_scale(const hx_units *units, double mass, const char **name);

/* "2.24 kg" of 0.00224 t into text; returns it. */
const char *hx_units_mass_text(const hx_units *units, double mass, char *text, size_t n_text);

/* An object `key` with every name; nothing where no units were stated. */
void hx_units_write(const hx_units *units, hx_json *json, const char *key);

#endif
