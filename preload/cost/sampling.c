#include "preload/cost/sampling.h"

#include "libprof/runtime/store/arena.h"

SEEP_HOT struct seep_sampling seep_sampling;

void seep_sampling_set(unsigned coarseness)
{
    struct seep_header *header = seep_arena.header;
    if (coarseness > __atomic_load_n(&header->coarsest, __ATOMIC_RELAXED))
        __atomic_store_n(&header->coarsest, coarseness, __ATOMIC_RELAXED);
    seep_sampling.has_begun |= coarseness != 0;
    __atomic_store_n(&seep_sampling.coarseness, coarseness, __ATOMIC_RELAXED);
}

/* e^−x for 0 ≤ x < 8, to 1e-9: ten terms at x / 64, squared six times. */
static double exp_minus(double x)
{
    double y = -x / 64, term = 1, sum = 1;
    for (int i = 1; i <= 10; i++) {
        term *= y / i;
        sum += term;
    }
    for (int i = 0; i < 6; i++)
        sum *= sum;
    return sum;
}

uint64_t seep_sampler_random(struct seep_sampler *sampler)
{
    uint64_t x = sampler->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return sampler->random = x;
}

/* −ln(u) for u uniform in (0, 1]: the gap to the next sample in units of the mean. ln by the series
 * of atanh on the mantissa. */
static double exponential(struct seep_sampler *sampler)
{
    uint64_t bits = (seep_sampler_random(sampler) >> 12) | 1;
    unsigned leading = (unsigned)__builtin_clzll(bits) - 12;
    double mantissa = (double)(bits << leading) / 4503599627370496.0; /* [1/2, 1) */
    double z = (mantissa - 1) / (mantissa + 1), z2 = z * z;
    double ln =
        2 * z * (1 + z2 * (1. / 3 + z2 * (1. / 5 + z2 * (1. / 7 + z2 * (1. / 9 + z2 / 11)))));
    return 0.6931471805599453 * leading - ln;
}

/* A gap that was drawn for another mean is drawn anew: what has been walked of it changes nothing,
 * because an exponential distribution has no memory. */
bool seep_sampler_arrives(struct seep_sampler *sampler, uint64_t bytes, uint64_t gap_bytes)
{
    if (!sampler->until || sampler->gap_bytes != gap_bytes)
        sampler->until = 1 + (int64_t)(exponential(sampler) * (double)gap_bytes);
    sampler->gap_bytes = gap_bytes;
    sampler->until -= (int64_t)bytes + 1;
    if (sampler->until > 0)
        return false;
    sampler->until = 0;
    return true;
}

uint64_t seep_sample_weight(uintptr_t block, uint64_t bytes, uint64_t gap_bytes)
{
    if (!gap_bytes || bytes / SEEP_SAMPLE_CERTAIN >= gap_bytes)
        return 1;
    double w = 1 / (1 - exp_minus((double)(bytes + 1) / (double)gap_bytes));
    uint64_t whole = (uint64_t)w;
    double fraction = (double)seep_hash_mix(block >> 4) / 4294967296.0;
    return whole + (fraction < w - (double)whole);
}
