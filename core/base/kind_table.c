#include "kind_table.h"

#include "error.h"

int hx_kind_check(const char *what, const char *name, size_t n, const hx_kind_entry *entry)
{
    for (size_t i = 0; i < n; i++)
        if (!entry[i].is_there)
            return HX_RAISE(HX_EINPUT, "%s '%s' has no '%s' in its table", what,
                            name ? name : "(without a name)", entry[i].name);
    return HX_OK;
}
