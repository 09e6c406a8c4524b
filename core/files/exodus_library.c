#include "exodus_library.h"

/* Nothing where Exodus is left out. */
typedef int hx_exodus_is_optional;

#ifdef HX_HAVE_EXODUS

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *open_library(void)
{
    static const char *const name[] = {"libexoIIv2c.so.5", "libexoIIv2c.so", "libexodus.so.2",
                                       "libexodus.so"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof name / sizeof name[0] && !handle; i++)
        handle = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* *(function **)to := the function of that name; 0: the library has none. */
static int find(void *handle, const char *name, void *to)
{
    void *const at = dlsym(handle, name);
    memcpy(to, &at, sizeof at);
    return at != NULL;
}

int hx_exodus_load(const hx_exodus_library **library)
{
    static hx_exodus_library loaded;
    static int is_loaded;
    int is_whole = 1;
    *library = &loaded;
    if (is_loaded) return HX_OK;
    void *const handle = open_library();
    if (!handle)
        return HX_RAISE(HX_EENV,
                        "reading it takes the Exodus library, which is not installed (Debian: "
                        "apt-get install libexodusii5), or convert it: meshio convert FILE "
                        "OUT.vtu");
#define FIND(result, name, arguments) is_whole &= find(handle, #name, &loaded.name);
    HX_EXODUS_LIST(FIND)
#undef FIND
    if (!is_whole)
        return HX_RAISE(HX_EENV, "the Exodus library here lacks functions that it needs");
    is_loaded = 1;
    return HX_OK;
}

#endif
