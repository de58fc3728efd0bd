/* Reads call-frame information byte by byte; reading past the end sets `bad`. */
#ifndef SEEP_PRELOAD_STACK_CFI_CURSOR_H
#define SEEP_PRELOAD_STACK_CFI_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct seep_cursor {
    const uint8_t *at, *end;
    bool bad; /* sticky */
};

/* 0 if fewer bytes are left. */
static inline uint64_t seep_cursor_take(struct seep_cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static inline uint64_t seep_cursor_uleb(struct seep_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = (uint8_t)seep_cursor_take(c, 1);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static inline int64_t seep_cursor_sleb(struct seep_cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while ((byte & 0x80) && shift < 64) {
        byte = (uint8_t)seep_cursor_take(c, 1);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if ((byte & 0x40) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static inline void seep_cursor_skip(struct seep_cursor *c, uint64_t bytes)
{
    if ((uint64_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
    } else {
        c->at += bytes;
    }
}

#endif
