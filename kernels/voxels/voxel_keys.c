#include "kernels/voxels/voxel_keys.h"

#include "kernels/compute/cpu_levels.h"

#include <string.h>
#include <sys/auxv.h>

#if SEEP_ARCH_AVX
#include <immintrin.h>
#endif

/* Odd, with no pattern in its bits: the first 64 bits of the golden ratio. */
static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

struct seep_voxel_box seep_voxel_box_empty(void)
{
    return (struct seep_voxel_box){{INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX},
                                   {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}};
}

void seep_voxel_box_add(struct seep_voxel_box *box, const struct seep_voxel_box *other)
{
    for (int d = 0; d < 4; d++) {
        box->lo[d] = other->lo[d] < box->lo[d] ? other->lo[d] : box->lo[d];
        box->hi[d] = other->hi[d] > box->hi[d] ? other->hi[d] : box->hi[d];
    }
}

static void box_plain(const int32_t (*coords)[4], size_t n, struct seep_voxel_box *box)
{
    for (size_t i = 0; i < n; i++) {
        struct seep_voxel_box one;
        if (coords[i][0] < 0)
            continue;
        for (int d = 0; d < 4; d++)
            one.lo[d] = one.hi[d] = coords[i][d];
        seep_voxel_box_add(box, &one);
    }
}

static void keys_plain(const struct seep_voxel_key *key, const int32_t (*coords)[4], size_t n,
                       uint64_t *keys)
{
    unsigned shift = 32 - key->partition_bits;

    for (size_t i = 0; i < n; i++) {
        uint64_t sum = key->sum;
        for (int d = 0; d < 4; d++)
            sum += (uint64_t)(int64_t)coords[i][d] * key->factor[d];
        keys[i] = coords[i][0] < 0 ? UINT64_MAX : sum >> shift;
    }
}

#if SEEP_ARCH_AVX

/* Two points per register. */
__attribute__((target("avx2"))) static void box_avx2(const int32_t (*coords)[4], size_t n,
                                                     struct seep_voxel_box *box)
{
    const __m256i highest = _mm256_set1_epi32(INT32_MAX), lowest = _mm256_set1_epi32(INT32_MIN);
    __m256i lo = highest, hi = lowest;
    struct seep_voxel_box halves[2];
    size_t i;

    for (i = 0; i + 2 <= n; i += 2) {
        __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)coords[i]);
        __m256i refused = _mm256_shuffle_epi32(_mm256_srai_epi32(c, 31), 0);
        lo = _mm256_min_epi32(lo, _mm256_blendv_epi8(c, highest, refused));
        hi = _mm256_max_epi32(hi, _mm256_blendv_epi8(c, lowest, refused));
    }
    for (int half = 0; half < 2; half++) {
        __m128i l = half ? _mm256_extracti128_si256(lo, 1) : _mm256_castsi256_si128(lo);
        __m128i h = half ? _mm256_extracti128_si256(hi, 1) : _mm256_castsi256_si128(hi);
        _mm_storeu_si128((__m128i *)(void *)halves[half].lo, l);
        _mm_storeu_si128((__m128i *)(void *)halves[half].hi, h);
        seep_voxel_box_add(box, &halves[half]);
    }
    box_plain(coords + i, n - i, box);
}

/* c × factor modulo 2^64 for the even 32-bit lanes of c; the factor is in two signed halves. */
__attribute__((target("avx2"), always_inline)) static inline __m256i times(__m256i c, __m256i low,
                                                                           __m256i high)
{
    return _mm256_add_epi64(_mm256_mul_epi32(c, low),
                            _mm256_slli_epi64(_mm256_mul_epi32(c, high), 32));
}

__attribute__((target("avx2"))) static void
keys_avx2(const struct seep_voxel_key *key, const int32_t (*coords)[4], size_t n, uint64_t *keys)
{
    int64_t low[4], high[4];
    size_t i;

    for (int d = 0; d < 4; d++) {
        low[d] = (int32_t)key->factor[d];
        high[d] = (int64_t)(key->factor[d] - (uint64_t)low[d]) >> 32;
    }
    const __m256i low_by = _mm256_setr_epi64x(low[0], low[2], low[0], low[2]);
    const __m256i high_by = _mm256_setr_epi64x(high[0], high[2], high[0], high[2]);
    const __m256i low_xz = _mm256_setr_epi64x(low[1], low[3], low[1], low[3]);
    const __m256i high_xz = _mm256_setr_epi64x(high[1], high[3], high[1], high[3]);
    const __m256i start = _mm256_set1_epi64x((int64_t)key->sum);
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - key->partition_bits));

    for (i = 0; i + 4 <= n; i += 4) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)coords[i]);
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)coords[i + 2]);
        __m256i sum_a = _mm256_add_epi64(times(a, low_by, high_by),
                                         times(_mm256_srli_epi64(a, 32), low_xz, high_xz));
        __m256i sum_b = _mm256_add_epi64(times(b, low_by, high_by),
                                         times(_mm256_srli_epi64(b, 32), low_xz, high_xz));
        __m256i sum = _mm256_add_epi64(_mm256_unpacklo_epi64(sum_a, sum_b),
                                       _mm256_unpackhi_epi64(sum_a, sum_b));
        __m256i refused = _mm256_unpacklo_epi64(_mm256_shuffle_epi32(_mm256_srai_epi32(a, 31), 0),
                                                _mm256_shuffle_epi32(_mm256_srai_epi32(b, 31), 0));
        __m256i k = _mm256_srl_epi64(_mm256_add_epi64(sum, start), shift);
        k = _mm256_permute4x64_epi64(_mm256_or_si256(k, refused), 0xd8);
        _mm256_storeu_si256((__m256i *)(void *)(keys + i), k);
    }
    keys_plain(key, coords + i, n - i, keys + i);
}

#endif

void seep_voxel_box_of(const int32_t (*coords)[4], size_t n, struct seep_voxel_box *box)
{
    *box = seep_voxel_box_empty();
#if SEEP_ARCH_AVX
    if (seep_cpu_level() >= SEEP_CPU_AVX2) {
        box_avx2(coords, n, box);
        return;
    }
#endif
    box_plain(coords, n, box);
}

void seep_voxel_keys(const struct seep_voxel_key *key, const int32_t (*coords)[4], size_t n,
                     uint64_t *keys)
{
#if SEEP_ARCH_AVX
    if (seep_cpu_level() >= SEEP_CPU_AVX2) {
        keys_avx2(key, coords, n, keys);
        return;
    }
#endif
    keys_plain(key, coords, n, keys);
}

static uint64_t extent(const struct seep_voxel_box *box, int d)
{
    return box->lo[d] > box->hi[d] ? 1 : (uint64_t)((int64_t)box->hi[d] - box->lo[d]) + 1;
}

uint64_t seep_voxel_box_cells(const struct seep_voxel_box *box)
{
    uint64_t cells = 1;

    for (int d = 0; d < 4; d++) {
        if (extent(box, d) > UINT64_MAX / cells)
            return UINT64_MAX;
        cells *= extent(box, d);
    }
    return cells;
}

/* Factors for keys that are a cell's number in the box × `times`; start_at_corner() makes numbers
 * begin at 0. */
static void number_cells(const struct seep_voxel_box *box, uint64_t times,
                         struct seep_voxel_key *key)
{
    uint64_t cells = 1;

    for (int d = 3; d >= 0; d--) {
        key->factor[d] = cells * times;
        cells *= extent(box, d);
    }
}

static void start_at_corner(const struct seep_voxel_box *box, struct seep_voxel_key *key)
{
    for (int d = 0; d < 4; d++)
        key->sum -= (uint64_t)(int64_t)box->lo[d] * key->factor[d];
}

struct seep_voxel_key seep_voxel_key_of_cells(const struct seep_voxel_box *box)
{
    struct seep_voxel_key key = {.exact = true};

    number_cells(box, UINT64_C(1) << 32, &key);
    start_at_corner(box, &key);
    return key;
}

/* From the 16 random bytes that the kernel gives each process (getauxval(3)): needs no system call
 * and no state. */
struct seep_chance seep_voxel_chance(void)
{
    const void *given = (const void *)getauxval(AT_RANDOM);
    struct seep_chance chance = {0};

    if (given)
        memcpy(&chance.state, given, sizeof chance.state);
    chance.state = seep_chance_next(&chance);
    return chance;
}

static void draw_factors(struct seep_voxel_key *key)
{
    struct seep_chance chance = seep_voxel_chance();

    for (int d = 0; d < 4; d++)
        key->factor[d] = seep_chance_next(&chance) | 1;
}

struct seep_voxel_key seep_voxel_key_drawn(void)
{
    struct seep_voxel_key key = {.partition_bits = 32};

    draw_factors(&key);
    return key;
}

struct seep_voxel_key seep_voxel_key_for(const struct seep_voxel_box *box, unsigned partition_bits)
{
    struct seep_voxel_key key = {.partition_bits = partition_bits};

    key.exact = seep_voxel_box_cells(box) <= UINT64_C(1) << (32 + partition_bits);
    if (key.exact) /* the number is in the top bits: modulo 2^(32 + partition_bits) */
        number_cells(box, golden << (32 - partition_bits), &key);
    else
        draw_factors(&key);
    start_at_corner(box, &key);
    return key;
}
