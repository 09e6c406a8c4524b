/* The Exodus library, loaded when the first such file is read: it brings HDF5, MPI and more along,
 * 15 ms at the start of every run if it were linked. Not installed. */
#ifndef HX_EXODUS_LIBRARY_H
#define HX_EXODUS_LIBRARY_H

#ifdef HX_HAVE_EXODUS

#include <exodusII.h>

#include "../base/error.h"

/* result, name, arguments */
#define HX_EXODUS_LIST(X)                                                                          \
    X(int, ex_open_int, (const char *, int, int *, int *, float *, int))                           \
    X(int, ex_close, (int))                                                                        \
    X(int, ex_opts, (int))                                                                         \
    X(int, ex_set_max_name_length, (int, int))                                                     \
    X(int, ex_get_init_ext, (int, ex_init_params *))                                               \
    X(int, ex_get_coord, (int, void *, void *, void *))                                            \
    X(int, ex_get_ids, (int, ex_entity_type, void_int *))                                          \
    X(int, ex_get_name, (int, ex_entity_type, ex_entity_id, char *))                               \
    X(int, ex_get_block_param, (int, ex_block *))                                                  \
    X(int, ex_get_conn, (int, ex_entity_type, ex_entity_id, void_int *, void_int *, void_int *))   \
    X(int, ex_get_set_param, (int, ex_entity_type, ex_entity_id, void_int *, void_int *))          \
    X(int, ex_get_set, (int, ex_entity_type, ex_entity_id, void_int *, void_int *))                \
    X(int, ex_get_id_map, (int, ex_entity_type, void_int *))

typedef struct hx_exodus_library {
#define HX_EXODUS_FIELD(result, name, arguments) result(*name) arguments;
    HX_EXODUS_LIST(HX_EXODUS_FIELD)
#undef HX_EXODUS_FIELD
} hx_exodus_library;

/* Looks for it once in a process; any thread. HX_EENV: it is not installed, and how to install it.
 */
int hx_exodus_load(const hx_exodus_library **library);

/* Around all calls of it for one file: it does not work for several threads at once. */
void hx_exodus_lock(void);
void hx_exodus_unlock(void);

#endif
#endif
