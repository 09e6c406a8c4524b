/* Functions that host and device share. */
#ifndef HX_HOST_DEVICE_H
#define HX_HOST_DEVICE_H

#ifdef __CUDACC__
#define HX_HD __host__ __device__ __forceinline__
#else
#define HX_HD inline
#endif

#endif
