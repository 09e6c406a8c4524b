/* Whether the header of a netCDF file in its old form is whole: the library, given a damaged one,
 * may take all memory. Not installed. */
#ifndef HX_NETCDF_CHECK_H
#define HX_NETCDF_CHECK_H

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HX_EINPUT: it is not, or the file cannot be opened. Of HDF5 nothing is looked at. O(header). */
int hx_netcdf_check(const char *path);

#ifdef __cplusplus
}
#endif

#endif
