/* Weight of an element in a partition. */
#include "partition.h"

int hx_partition_weight(const int32_t conn[8])
{
    int corner[8];
    return hx_cell_distinct(conn, corner);
}
