// Shared by the transports between processes (transport_ops.h): operations on received values
// (transport_cuda.cu).
#ifndef HX_TRANSPORT_CUDA_CUH
#define HX_TRANSPORT_CUDA_CUH

#include "core/device/transport_ops.h"
#include "cuda_device.cuh"

// T: double or float.
template <class T>
int hx_cuda_transport_add(hx_device *dev, const hx_transport_arrivals *came,
                          const hx_transport_sums *sums, T *d_y);
template <class T>
int hx_cuda_transport_take(hx_device *dev, const hx_transport_arrivals *came, int64_t n, T *d_y);
template <class T>
int hx_cuda_transport_add_all(hx_device *dev, const hx_transport_arrivals *came, int64_t n, T *d_y);

// For attempts that may fail: clears the error, so that the next check does not report it. HX_EENV.
int hx_cuda_transport_refuse(cudaError_t status, const char *what);

#endif
