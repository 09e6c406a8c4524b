/* The Exodus library, loaded when the first such file is read. It brings HDF5, MPI and more with
 * it, so linking it would cost 15 ms at the start of every run. Not installed. */
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
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name and its list of parameters */
#define HX_EXODUS_FIELD(result, name, arguments) result(*name) arguments;
    HX_EXODUS_LIST(HX_EXODUS_FIELD)
#undef HX_EXODUS_FIELD
} hx_exodus_library;

/* Loads the library once per process; safe from any thread. HX_EENV: it is not installed; the
 * message states how to install it. */
int hx_exodus_load(const hx_exodus_library **library);

/* Must surround all calls for one file: the library is not thread-safe. */
void hx_exodus_lock(void);
void hx_exodus_unlock(void);

#endif
#endif
