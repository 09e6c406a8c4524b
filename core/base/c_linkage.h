/* Declarations between HX_C_BEGIN and HX_C_END have C linkage in C++ too. */
#ifndef HX_C_LINKAGE_H
#define HX_C_LINKAGE_H

#ifdef __cplusplus
#define HX_C_BEGIN extern "C" {
#define HX_C_END }
#else
#define HX_C_BEGIN
#define HX_C_END
#endif

#endif
