/* Eight words at once on x86-64 (SSE2). See libprof/arch/eight_words.h. */
#ifndef SEEP_LIBPROF_ARCH_X86_64_EIGHT_WORDS_H
#define SEEP_LIBPROF_ARCH_X86_64_EIGHT_WORDS_H

#include <emmintrin.h>

/* The processor loads each of two words as a whole. The checker of threads does not know that. */
static inline __m128i seep_arch_pair(const uint64_t *words)
{
#ifdef __SANITIZE_THREAD__
    return _mm_set_epi64x((int64_t)__atomic_load_n(&words[1], __ATOMIC_RELAXED),
                          (int64_t)__atomic_load_n(&words[0], __ATOMIC_RELAXED));
#else
    return _mm_load_si128((const __m128i *)(const void *)words);
#endif
}

/* The upper halves of four words. */
static inline __m128i seep_arch_uppers(const uint64_t *words)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(seep_arch_pair(words)),
                                           _mm_castsi128_ps(seep_arch_pair(words + 2)), 0xdd));
}

static inline unsigned seep_arch_look(const uint64_t *line, unsigned shift, unsigned bits)
{
    const __m128i wanted = _mm_set1_epi32((int)bits);
    const __m128i low = _mm_srli_epi32(seep_arch_uppers(line), (int)shift - 32);
    const __m128i high = _mm_srli_epi32(seep_arch_uppers(line + 4), (int)shift - 32);
    const __m128i all =
        _mm_packs_epi32(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(all, _mm_setzero_si128()));
}

#endif
