/* The communicator behind the interface of base/reduce.h. */
#ifndef HX_COMM_ALL_H
#define HX_COMM_ALL_H

#include "../base/reduce.h"
#include "comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_comm_reduce {
    hx_reduce all; /* first member, so that its function can reach the rest */
    const hx_comm *comm;
} hx_comm_reduce;

/* The communicator must outlive `all`. */
void hx_comm_reduce_of(hx_comm_reduce *all, const hx_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
