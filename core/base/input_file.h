/* Input files: only regular files are opened. A folder, a pipe, a device or a file of the kernel
 * (/proc), which may have no end or block forever, is refused here for all readers. */
#ifndef HX_INPUT_FILE_H
#define HX_INPUT_FILE_H

#include <stdio.h>

/* Opens a file for reading bytes, without ever blocking. On failure returns NULL with errno set and
 * *why := the reason, worded to follow "cannot read it: " and valid until the next failed call. why
 * may be NULL. */
FILE *hx_input_open(const char *path, const char **why);

#endif
