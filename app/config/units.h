/* The units that a config states once, such as `units = "N, mm, MPa"`. They are checked for
 * consistency and printed with figures; no number is converted. */
#ifndef HX_UNITS_H
#define HX_UNITS_H

#include "../text/json.h"
#include "core/base/error.h"

enum { HX_UNIT_SIZE = 24 };

/* Each name begins with a space, so that it can follow a number, and is empty if the config has no
 * units: printf("volume %g%s", volume, units.volume). */
typedef struct hx_units {
    char system[64]; /* as stated, without a leading space: "N, mm, MPa" */
    char force[HX_UNIT_SIZE], length[HX_UNIT_SIZE], stress[HX_UNIT_SIZE], time[HX_UNIT_SIZE];
    char area[HX_UNIT_SIZE], volume[HX_UNIT_SIZE];
    char work[HX_UNIT_SIZE]; /* unit of moments and of the compliance: " N mm" */
    char mass[HX_UNIT_SIZE]; /* unit of mass, force time^2 / length: " t" with N, mm and s */
    char density[HX_UNIT_SIZE], acceleration[HX_UNIT_SIZE], stiffness[HX_UNIT_SIZE];
    double second;           /* seconds per unit of time; 0: no units */
    double metre;            /* metres per unit of length; 0: no units */
    double pascal;           /* pascals per unit of stress; 0: no units */
    double mass_si;          /* kilograms per unit of mass; 0: no units */
    double density_si;       /* kg/m^3 per unit of density */
    char rate[HX_UNIT_SIZE]; /* unit of angular speed: " rad/s" */
    /* Units of heat, empty in elasticity; for heat only these and length, area, volume and work are
     * set, and mass, " [density] mm^3", because `units` does not name the unit of the density. They
     * are: power; temperature; power per length and temperature; power per area and temperature;
     * power per volume; power per area. */
    char power[HX_UNIT_SIZE], temperature[HX_UNIT_SIZE], conductivity[HX_UNIT_SIZE];
    double watt; /* watts per unit of power; 0: no units of heat */
    char film[HX_UNIT_SIZE], source[HX_UNIT_SIZE], flux[HX_UNIT_SIZE];
} hx_units;

/* `text` names a force, a length and a stress, and a time if it is not s, in any order; NULL: no
 * units. HX_EINPUT: an unknown unit (the message names the most similar one), a kind that is
 * missing or given twice, or a stress that is not force / length^2 (the message names the right
 * one). */
int hx_units_parse(hx_units *units, const char *text);

/* Units of heat: a power, a length and a temperature, such as "W, mm, K". Work is power times
 * temperature, the unit of the thermal compliance. */
int hx_units_parse_heat(hx_units *units, const char *text);

/* Factor that makes a mass easy to read, and the name of the resulting unit: kt, t, kg, g, mg, ug,
 * ng or pg, even if the unit of mass has no name of its own (lbf s^2/in). If the unit is kg or a
 * smaller one, it is kept down to a thousandth of it. */
double hx_units_mass_scale(const hx_units *units, double mass, const char **name);

/* Formats a mass into text, such as "2.24 kg" for 0.00224 t; returns text. */
const char *hx_units_mass_text(const hx_units *units, double mass, char *text, size_t n_text);

/* Formats a mass in the unit that hx_units_mass_text would select for the mass `like`, so that
 * several masses in a line have the same unit. */
const char *hx_units_mass_like(const hx_units *units, double mass, double like, char *text,
                               size_t n_text);

/* Writes an object `key` with all names; nothing if the config has no units. */
void hx_units_write(const hx_units *units, hx_json *json, const char *key);

#endif
