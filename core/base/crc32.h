/* The check sum of zip archives (CRC-32 of ISO 3309), also of pieces that are joined. */
#ifndef HX_CRC32_H
#define HX_CRC32_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of `before`'s bytes followed by these; before = 0: of these alone. Any thread. */
uint32_t hx_crc32(uint32_t before, const void *bytes, size_t n);

/* Of a text of sum `first` followed by n bytes of sum `second`. O(log n). */
uint32_t hx_crc32_join(uint32_t first, uint32_t second, uint64_t n);

#ifdef __cplusplus
}
#endif

#endif
