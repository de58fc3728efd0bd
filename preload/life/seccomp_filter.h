/* How a seccomp filter answers a call: its program, run as the kernel runs it. Pure. */
#ifndef SEEP_PRELOAD_LIFE_SECCOMP_FILTER_H
#define SEEP_PRELOAD_LIFE_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* True if the program of `n` instructions answers SECCOMP_RET_ALLOW. A program that the kernel
 * would refuse allows nothing; it need not be checked before. */
bool seep_filter_allows(const struct sock_filter *program, size_t n,
                        const struct seccomp_data *call);

#endif
