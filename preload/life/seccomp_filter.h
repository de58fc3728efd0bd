/* How a seccomp filter answers a call: its program, run as the kernel runs it. Known are the
 * instructions that libseccomp, Chromium, minijail and Firecracker write: load a word of the call,
 * mask it, compare it with a constant, return a constant. Pure. */
#ifndef SEEP_PRELOAD_LIFE_SECCOMP_FILTER_H
#define SEEP_PRELOAD_LIFE_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* True if the program of `n` instructions answers SECCOMP_RET_ALLOW. What comes to an instruction
 * that is not known, or that the kernel would refuse, is not allowed. */
bool seep_filter_allows(const struct sock_filter *program, size_t n,
                        const struct seccomp_data *call);

#endif
