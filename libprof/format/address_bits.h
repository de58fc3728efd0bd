/* How far the addresses of a program reach. */
#ifndef SEEP_LIBPROF_FORMAT_ADDRESS_BITS_H
#define SEEP_LIBPROF_FORMAT_ADDRESS_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Linux gives programs 47 bits on x86-64 and 48 on 64-bit Arm, and more only to those who ask for
 * an address beyond. */
enum { SEEP_ADDRESS_BITS = 48 };

static inline bool seep_is_address(uint64_t address)
{
    return address >> SEEP_ADDRESS_BITS == 0;
}

#endif
