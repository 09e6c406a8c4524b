// Shared by the transports between processes (mail_ops.h): operations on received values
// (mail_cuda.cu).
#ifndef HX_MAIL_CUDA_CUH
#define HX_MAIL_CUDA_CUH

#include "core/device/mail_ops.h"
#include "cuda_device.cuh"

int hx_cuda_mail_add(hx_device *dev, const hx_mail_came *came, const hx_mail_sums *sums,
                     double *d_y);
int hx_cuda_mail_add_single(hx_device *dev, const hx_mail_came *came, const hx_mail_sums *sums,
                            float *d_y);
int hx_cuda_mail_take(hx_device *dev, const hx_mail_came *came, int64_t n, double *d_y);
int hx_cuda_mail_take_single(hx_device *dev, const hx_mail_came *came, int64_t n, float *d_y);
int hx_cuda_mail_add_all(hx_device *dev, const hx_mail_came *came, int64_t n, double *d_y);
int hx_cuda_mail_add_all_single(hx_device *dev, const hx_mail_came *came, int64_t n, float *d_y);

// For attempts that may fail: clears the error, so that the next check does not report it. HX_EENV.
int hx_cuda_mail_refuse(cudaError_t status, const char *what);

#endif
