/* A job's own code and data between two events: they push out of the caches what an event left. */
#ifndef SEEP_TESTS_WORKING_SET_H
#define SEEP_TESTS_WORKING_SET_H

#include <stddef.h>
#include <stdint.h>

enum { WORKING_SET_LINE = 64 };

/* 32 KiB of code that does nothing. */
#ifdef __x86_64__
#define WORKING_SET_CODE ".rept 4096\n\t.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\t.endr" /* nops */
#else
#define WORKING_SET_CODE ".rept 8192\n\tnop\n\t.endr"
#endif

struct working_set {
    const char *data;
    size_t bytes, at;
    uint64_t sum;
};

/* Runs 32 KiB of code, and reads the next 96 KiB of the set: with 64 MB, 5 us from event to event,
 * as in a training. Without a set it does nothing. */
__attribute__((noipa)) static void use_working_set(struct working_set *set)
{
    enum { LINES = 1536 };
    if (!set->bytes)
        return;
    __asm__ volatile(WORKING_SET_CODE);
    for (int i = 0; i < LINES; i++) {
        set->sum += *(const volatile uint64_t *)(set->data + set->at);
        set->at += WORKING_SET_LINE;
        if (set->at == set->bytes)
            set->at = 0;
    }
}

#endif
