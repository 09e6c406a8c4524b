/* The checksum of zip archives (CRC-32 of ISO 3309), which can also be joined from checksums of
 * pieces. */
#ifndef HX_CRC32_H
#define HX_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of the bytes with checksum `before` followed by these n bytes; before = 0
 * starts a new checksum. Thread-safe. */
uint32_t hx_crc32(uint32_t before, const void *bytes, size_t n);

/* Returns the checksum of bytes with checksum `first` followed by n bytes with checksum `second`.
 * O(log n). */
uint32_t hx_crc32_join(uint32_t first, uint32_t second, uint64_t n);

#endif
