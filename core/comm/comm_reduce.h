/* The communicator behind the interface of base/reduce.h. */
#ifndef HX_COMM_REDUCE_H
#define HX_COMM_REDUCE_H

#include "../base/reduce.h"
#include "comm.h"

HX_C_BEGIN

typedef struct hx_comm_reduce {
    hx_reduce base; /* first member, so that its function can reach the rest */
    const hx_comm *comm;
} hx_comm_reduce;

/* The communicator must outlive *reduce. */
void hx_comm_reduce_of(hx_comm_reduce *reduce, const hx_comm *comm);

HX_C_END

#endif
