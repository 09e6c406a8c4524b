/* Names of a STEP file that can be names of sets, and nodes at points of the file. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "step_names.h"

int hx_step_take_name(hx_step_text parameters, char name[HX_STEP_NAME])
{
    static const char *const begin[] = {"face-", "solid-"};
    char text[HX_STEP_NAME];
    hx_step_string(hx_step_item(parameters, 0), text, sizeof text);
    hx_cad_clean_name(text, name, HX_STEP_NAME);
    if (strcasecmp(name, "NONE") == 0 || !name[strspn(name, "0123456789#.+-_ ")]) return 0;
    for (int i = 0; i < 2; i++)
        if (strncasecmp(name, begin[i], strlen(begin[i])) == 0) return 0;
    return 1;
}

int64_t hx_step_node_at(const hx_step_naming *naming, const double x[3])
{
    for (int c = 0; c < 3; c++)
        if (!(fabs(x[c]) < 1e30)) return -1;
    return hx_point_grid_nearest(naming->grid, x, naming->tolerance);
}
