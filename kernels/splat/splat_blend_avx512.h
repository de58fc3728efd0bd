/* blend_batch() of splat_blend.h once more, for AVX-512: two rows of a block in a register, all of
 * the block in ten of them for as long as a batch lasts, and masks where the plain code selects.
 * About half the time of the plain code with AVX2. Every product and sum is rounded as GCC 12
 * rounds those of the plain code (the picture is the same to the last bit), so that the way back,
 * which is plain, decides on a pair at 1/255 as was decided here. */
#ifndef SEEP_KERNELS_SPLAT_BLEND_AVX512_H
#define SEEP_KERNELS_SPLAT_BLEND_AVX512_H

#include "kernels/splat/splat_blend.h"

#include "libprof/arch/arch.h"

#if SEEP_ARCH_AVX
#include <immintrin.h>

#define AVX512        __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#define AVX512_INLINE AVX512 static inline __attribute__((always_inline))

enum { HALVES = 2, HALF = BLOCK_PIXELS / HALVES };
_Static_assert(PIXELS == 8 && HALF == 16 && BATCH == 32, "registers of 16, masks of 32");

struct half_block {
    __m512 through, color[3];
    __m512i last;
};

AVX512_INLINE __m512 exp2_minus_avx512(__m512 q)
{
    const __m512 magic = _mm512_set1_ps(12582912.0f);
    __m512 rounded = _mm512_sub_ps(magic, q);
    __m512 f = _mm512_sub_ps(_mm512_sub_ps(magic, rounded), q), p = _mm512_set1_ps(EXP2_4);

    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_3));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_2));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_1));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_0));
    return _mm512_castsi512_ps(_mm512_add_epi32(
        _mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(rounded), 23)));
}

AVX512_INLINE void blend_half_avx512(struct half_block *t, __m512 adx, __m512 y,
                                     const struct batch *b, int i, int32_t end)
{
    __m512 dy = _mm512_sub_ps(y, _mm512_set1_ps(b->y[i]));
    __m512 v = _mm512_mul_ps(dy, _mm512_set1_ps(b->c[i]));
    /* With a rounding of its own, so that it is not fused: row_exponent()'s is not. */
    __m512 u = _mm512_add_round_ps(adx, _mm512_mul_ps(dy, _mm512_set1_ps(b->b[i])),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 q = _mm512_fmadd_ps(u, u, _mm512_fmadd_ps(v, v, _mm512_set1_ps(b->faint[i])));
    __m512 alpha = _mm512_min_ps(exp2_minus_avx512(q), _mm512_set1_ps(SEEP_SPLAT_MAX_ALPHA));
    __m512 weight = _mm512_mul_ps(alpha, t->through);
    __m512 after = _mm512_sub_ps(t->through, weight);
    __mmask16 drawn = _mm512_cmp_ps_mask(q, _mm512_set1_ps(SEEN_EXPONENT), _CMP_LE_OQ);
    __mmask16 blends = _mm512_mask_cmp_ps_mask(
        drawn, after, _mm512_set1_ps(SEEP_SPLAT_MIN_TRANSMITTANCE), _CMP_GE_OQ);
    for (int e = 0; e < 3; e++)
        t->color[e] =
            _mm512_mask3_fmadd_ps(weight, _mm512_set1_ps(b->color[e][i]), t->color[e], blends);
    /* Drawn but not blended: stops, or has stopped. */
    t->through = _mm512_mask_or_ps(t->through, drawn, t->through, _mm512_set1_ps(-0.0f));
    t->through = _mm512_mask_mov_ps(t->through, blends, after);
    t->last = _mm512_mask_mov_epi32(t->last, blends, _mm512_set1_epi32(end));
}

/* Those of the batch that touch the block, a bit each. */
AVX512_INLINE uint32_t touching_avx512(struct batch *b, int block)
{
    const __m512i *touches = (const __m512i *)b->touches;

    batch_touch(b, block);
    uint32_t low = _mm512_test_epi32_mask(touches[0], touches[0]);
    uint32_t high = _mm512_test_epi32_mask(touches[1], touches[1]);
    return (low | high << 16) & (uint32_t)((UINT64_C(1) << b->n) - 1);
}

/* Whether a pixel of the block has not stopped. */
AVX512_INLINE bool blend_block_avx512(struct block *t, int block, const struct batch *b,
                                      uint32_t touching, int32_t first)
{
    const __m512 column = _mm512_set_ps(7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512 row = _mm512_set_ps(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512 x = _mm512_add_ps(column, _mm512_set1_ps((float)block_left(block)));
    struct half_block half[HALVES];
    __m512 y[HALVES];
    unsigned open = 0;

    for (int h = 0; h < HALVES; h++) {
        y[h] = _mm512_add_ps(row, _mm512_set1_ps((float)(block_top(block) + 2 * h)));
        half[h].through = _mm512_load_ps(t->through + h * HALF);
        half[h].last = _mm512_load_si512(t->last + h * HALF);
        for (int e = 0; e < 3; e++)
            half[h].color[e] = _mm512_load_ps(t->color[e] + h * HALF);
    }
    for (; touching; touching &= touching - 1) {
        int i = __builtin_ctz(touching);
        __m512 adx =
            _mm512_mul_ps(_mm512_sub_ps(x, _mm512_set1_ps(b->x[i])), _mm512_set1_ps(b->a[i]));
        for (int h = 0; h < HALVES; h++)
            blend_half_avx512(&half[h], adx, y[h], b, i, first + i + 1);
    }
    for (int h = 0; h < HALVES; h++) {
        _mm512_store_ps(t->through + h * HALF, half[h].through);
        _mm512_store_si512(t->last + h * HALF, half[h].last);
        for (int e = 0; e < 3; e++)
            _mm512_store_ps(t->color[e] + h * HALF, half[h].color[e]);
        open |= _mm512_cmp_ps_mask(half[h].through, _mm512_setzero_ps(), _CMP_GT_OQ);
    }
    return open != 0;
}

AVX512 static bool blend_batch_avx512(struct block blocks[BLOCKS], struct batch *b, int32_t first)
{
    bool open = false;

    for (int block = 0; block < BLOCKS; block++) {
        if (!blocks[block].open)
            continue;
        blocks[block].open =
            blend_block_avx512(&blocks[block], block, b, touching_avx512(b, block), first);
        open |= blocks[block].open;
    }
    return open;
}

#endif
#endif
