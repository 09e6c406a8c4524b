/* Checks whether the header of a classic netCDF file is complete: on a damaged one, the netCDF
 * library may allocate all memory. Not installed. */
#ifndef HX_NETCDF_CHECK_H
#define HX_NETCDF_CHECK_H

#include "../base/error.h"

/* HX_EINPUT: the header is damaged, or the file cannot be opened. HDF5 files are not checked.
 * O(header). */
int hx_netcdf_check(const char *path);

#endif
