/* Random numbers of the samples, the same in every run. */
#include "core/base/random.h"
#include "selftest_sample.h"

double hx_sample_random(uint64_t seed, int64_t index, double low, double high)
{
    const uint64_t bits = hx_random_mix(((uint64_t)index + 1) * HX_RANDOM_STEP + seed);
    return low + (high - low) * hx_random_unit(hx_random_mix(bits));
}
