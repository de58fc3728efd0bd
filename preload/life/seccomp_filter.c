#include "preload/life/seccomp_filter.h"

#include <stdint.h>
#include <string.h>

bool seep_filter_allows(const struct sock_filter *program, size_t n,
                        const struct seccomp_data *call)
{
    uint32_t word = 0;
    for (size_t at = 0; at < n; at++) { /* every jump leads forward, so it ends */
        const struct sock_filter *i = &program[at];
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (i->k & 3 || i->k > sizeof(*call) - sizeof(word))
                return false;
            memcpy(&word, (const char *)call + i->k, sizeof(word));
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            word &= i->k;
            break;
        case BPF_JMP | BPF_JA:
            at += i->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += word == i->k ? i->jt : i->jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            at += word > i->k ? i->jt : i->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += word >= i->k ? i->jt : i->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            at += word & i->k ? i->jt : i->jf;
            break;
        case BPF_RET | BPF_K:
            return (i->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
        default:
            return false;
        }
    }
    return false;
}
