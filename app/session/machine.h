/* Properties of the machine and program on which the last bits of a result depend, besides mesh and
 * settings: vector unit, mathematics of the C library, GPU, program. They are written to every JSON
 * file and to checkpoints. */
#ifndef HX_MACHINE_H
#define HX_MACHINE_H

#include "../text/json.h"
#include "core/device/device.h"

/* "auto", "avx512", "avx2" or "baseline" (vector_unit.h). */
#define HX_MACHINE_VECTOR "HEXTOP_VECTOR"

typedef struct hx_machine {
    const char *vector;    /* unit in use */
    const char *processor; /* "AMD EPYC"; "" if the system does not name it */
    int unread; /* 0, or errno of reading the system's list of processors, which is warned of */
    char library[48]; /* "glibc 2.36" */
    char
        /* hash of results of exp, pow, sin and others: equal digits mean equal functions. The C
         * library selects these itself, by version and processor */
        mathematics[9];
    char build[48]; /* the linker's hash of this program or library; "" if it has none */
} hx_machine;

/* Selects the vector unit named by the environment, once per process. Errors: see
 * hx_vector_unit_pin. */
int hx_machine_pin(void);

/* Writes the object "machine", or its members. dev may be NULL: no device. Warns if the list of
 * processors cannot be read. */
void hx_machine_write(hx_json *json, const hx_device *dev);
void hx_machine_write_members(hx_json *json, const hx_device *dev);

/* The properties as lines such as "vector unit avx512", always the same number of lines. Returns
 * text. */
enum { HX_MACHINE_TEXT = 768 };
const char *hx_machine_text(const hx_device *dev, char text[HX_MACHINE_TEXT]);

#endif
