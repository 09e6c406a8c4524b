/* Scratch memory for sums over the ranks, kept from one sum to the next. */
#ifndef HX_COMM_INTERNAL_H
#define HX_COMM_INTERNAL_H

#include "comm.h"

/* Largest number of sums in a message, and of floats of a long sum that are sent at once (16 MB). */
enum { HX_COMM_FEW = 160, HX_COMM_BLOCK = 1 << 22 };

/* Size of an error message that goes to all ranks, in bytes. */
enum { HX_COMM_WHY = 2048 };

struct hx_comm_work {
    double *scalars;     /* [size][HX_COMM_FEW] */
    hx_message *message; /* [size] */
    float *out, *pieces; /* [n_float], at most one block */
    size_t n_float;
};

/* Allocates comm->work for a communicator of known size; hx_comm_leave frees it. HX_ENOMEM. */
int hx_comm_create_work(hx_comm *comm);

#endif
