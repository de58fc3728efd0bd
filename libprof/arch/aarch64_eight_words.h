/* Eight words at once on 64-bit Arm (Advanced SIMD, which all have). See
 * libprof/arch/eight_words.h. */
#ifndef SEEP_LIBPROF_ARCH_AARCH64_EIGHT_WORDS_H
#define SEEP_LIBPROF_ARCH_AARCH64_EIGHT_WORDS_H

#include <arm_neon.h>

/* ld1 of two words loads each as a whole (Arm ARM, B2.2.1). */
static inline uint32x4_t seep_arch_pair(const uint64_t *words)
{
#ifdef __SANITIZE_THREAD__
    const uint64_t both[2] = {__atomic_load_n(&words[0], __ATOMIC_RELAXED),
                              __atomic_load_n(&words[1], __ATOMIC_RELAXED)};
    return vreinterpretq_u32_u64(vld1q_u64(both));
#else
    return vreinterpretq_u32_u64(vld1q_u64(words));
#endif
}

/* Which of four words have the bits: each of the upper halves all ones or 0. */
static inline uint16x4_t seep_arch_equal(const uint64_t *words, int32x4_t by, uint32x4_t wanted)
{
    const uint32x4_t uppers = vuzp2q_u32(seep_arch_pair(words), seep_arch_pair(words + 2));
    return vmovn_u32(vceqq_u32(vshlq_u32(uppers, by), wanted));
}

static inline unsigned seep_arch_look(const uint64_t *line, unsigned shift, unsigned bits)
{
    static const uint16_t each[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint32x4_t wanted = vdupq_n_u32(bits);
    const int32x4_t by = vdupq_n_s32(32 - (int)shift);
    const uint16x8_t all =
        vcombine_u16(seep_arch_equal(line, by, wanted), seep_arch_equal(line + 4, by, wanted));
    return vaddvq_u16(vandq_u16(all, vld1q_u16(each)));
}

#endif
