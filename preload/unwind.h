/* libunwind, for the frames that the fast walk cannot step over: signal frames, odd call-frame
 * information, code without an entry. The only file that knows libunwind is unwind.c. */
#ifndef SEEP_PRELOAD_UNWIND_H
#define SEEP_PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* addresses[0 … n) has been walked and addresses[n − 1] could not be stepped over: appends what lies
 * outside of it. Returns the new count (n when nothing more is known). Microseconds. */
unsigned seep_unwind_rest(uintptr_t from, bool stop_at_eval, uintptr_t *addresses, unsigned n,
                          unsigned capacity);

/* Once, from the constructor: opens the library and makes it load what it needs. */
void seep_unwind_start(void);

bool seep_unwind_available(void);

#endif
