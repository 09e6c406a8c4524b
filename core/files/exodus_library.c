#include "exodus_library.h"

/* Placeholder for builds without Exodus. */
typedef int hx_exodus_is_optional;

#ifdef HX_HAVE_EXODUS

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* (function **)to := the function of that name; returns 0 if the library has none. */
static int find_function(void *handle, const char *name, void *to)
{
    void *const at = dlsym(handle, name);
    memcpy(to, &at, sizeof at);
    return at != NULL;
}

static hx_exodus_library loaded;
static int is_there, is_whole; /* both 0 before look_for_library */

static void look_for_library(void)
{
    static const char *const name[] = {"libexoIIv2c.so.5", "libexoIIv2c.so", "libexodus.so.2",
                                       "libexodus.so"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof name / sizeof name[0] && !handle; i++)
        handle = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    is_there = is_whole = 1;
#define FIND(result, name, arguments) is_whole &= find_function(handle, #name, &loaded.name);
    HX_EXODUS_LIST(FIND)
#undef FIND
}

int hx_exodus_load(const hx_exodus_library **library)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *library = &loaded;
    (void)pthread_once(&once, look_for_library);
    if (!is_there)
        return HX_RAISE(
            HX_EENV, "this file needs the Exodus library, which is not installed (Debian: apt-get "
                     "install libexodusii5); or convert the file: meshio convert FILE OUT.vtu");
    if (!is_whole)
        return HX_RAISE(HX_EENV, "the installed Exodus library lacks required functions");
    return HX_OK;
}

/* Exodus, netCDF and HDF5 keep the open files in tables without a lock. */
static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;

void hx_exodus_lock(void)
{
    pthread_mutex_lock(&in_use);
}

void hx_exodus_unlock(void)
{
    pthread_mutex_unlock(&in_use);
}

#endif
