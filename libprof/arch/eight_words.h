/* What differs between processors in looking at eight words at once, a line of the caches. Each
 * processor's header defines
 *
 *   seep_arch_look()   which of the words of a line have these highest bits, from `shift` on, at
 *                      this instant: a bit for each. `shift`: 32 to 63. Other threads may write a
 *                      word meanwhile: it is read as a whole, before or after
 */
#ifndef SEEP_LIBPROF_ARCH_EIGHT_WORDS_H
#define SEEP_LIBPROF_ARCH_EIGHT_WORDS_H

#include "libprof/arch/arch.h"

#include SEEP_ARCH_EIGHT_WORDS

#endif
