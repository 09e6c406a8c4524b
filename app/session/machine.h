/* What the last bits of a result depend on besides mesh and settings: vector unit, the C library's
 * mathematics, GPU, program. Named in every JSON file and in checkpoints. */
#ifndef HX_MACHINE_H
#define HX_MACHINE_H

#include "../text/json.h"
#include "core/device/device.h"

/* "auto", "avx512", "avx2" or "baseline" (vector_unit.h). */
#define HX_MACHINE_VECTOR "HEXTOP_VECTOR"

typedef struct hx_machine {
    const char *vector;    /* unit in use */
    const char *processor; /* "AMD EPYC"; "" where the system does not say */
    int unread;            /* 0, or errno of the system's list of processors, which is warned of */
    char library[48];      /* "glibc 2.36" */
    char
        mathematics[9]; /* of the results of exp, pow, sin ...: the same digits, the same functions.
                           These are chosen by the C library itself, by version and processor */
    char build[48];     /* the linker's hash of this program or library; "" without one */
} hx_machine;

/* Takes the vector unit that the environment names, once in a process. HX_EINPUT, HX_EENV: as
 * hx_vector_unit_pin. */
int hx_machine_pin(void);

/* Below a millisecond. */
void hx_machine_take(hx_machine *machine);

/* The object "machine", and what stands in it. dev may be NULL: no device. Warns of what cannot be
 * read. */
void hx_machine_write(hx_json *json, const hx_device *dev);
void hx_machine_write_members(hx_json *json, const hx_device *dev);

/* What the bits depend on, a line each, always as many: "vector unit avx512". Returns text. */
enum { HX_MACHINE_TEXT = 768 };
const char *hx_machine_text(const hx_device *dev, char text[HX_MACHINE_TEXT]);

#endif
