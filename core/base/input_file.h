/* Files that are read: regular ones. A folder, a pipe, a device or a file of the kernel's (/proc),
 * which may have no end or wait for ever, is refused here, once for all readers. */
#ifndef HX_INPUT_FILE_H
#define HX_INPUT_FILE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens path for reading bytes. NULL: *why := what is wrong, in words that stand behind "cannot
 * read it: " (valid until the next call that fails), and errno is set; why may be NULL. Never
 * waits. */
FILE *hx_input_open(const char *path, const char **why);

#ifdef __cplusplus
}
#endif

#endif
