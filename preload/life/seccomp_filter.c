#include "preload/life/seccomp_filter.h"

#include <stdint.h>
#include <string.h>

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
    const struct seccomp_data *call;
};

static bool load(struct machine *m, const struct sock_filter *i, uint32_t *to)
{
    switch (BPF_MODE(i->code)) {
    case BPF_ABS:
        if (i->k & 3 || i->k > sizeof(*m->call) - sizeof(*to))
            return false;
        memcpy(to, (const char *)m->call + i->k, sizeof(*to));
        return true;
    case BPF_IMM:
        *to = i->k;
        return true;
    case BPF_LEN:
        *to = sizeof(*m->call);
        return true;
    case BPF_MEM:
        if (i->k < BPF_MEMWORDS)
            *to = m->memory[i->k];
        return i->k < BPF_MEMWORDS;
    default:
        return false;
    }
}

static bool store(struct machine *m, const struct sock_filter *i, uint32_t value)
{
    if (i->k >= BPF_MEMWORDS)
        return false;
    m->memory[i->k] = value;
    return true;
}

static bool compute(struct machine *m, const struct sock_filter *i)
{
    const uint32_t by = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
    switch (BPF_OP(i->code)) {
    case BPF_ADD:
        m->a += by;
        return true;
    case BPF_SUB:
        m->a -= by;
        return true;
    case BPF_MUL:
        m->a *= by;
        return true;
    case BPF_DIV:
        m->a = by ? m->a / by : 0;
        return by;
    case BPF_OR:
        m->a |= by;
        return true;
    case BPF_AND:
        m->a &= by;
        return true;
    case BPF_XOR:
        m->a ^= by;
        return true;
    case BPF_LSH:
        m->a = by < 32 ? m->a << by : 0;
        return true;
    case BPF_RSH:
        m->a = by < 32 ? m->a >> by : 0;
        return true;
    case BPF_NEG:
        m->a = -m->a;
        return true;
    default:
        return false;
    }
}

/* How many instructions to skip. */
static uint32_t jump(const struct machine *m, const struct sock_filter *i)
{
    const uint32_t with = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
    switch (BPF_OP(i->code)) {
    case BPF_JA:
        return i->k;
    case BPF_JEQ:
        return m->a == with ? i->jt : i->jf;
    case BPF_JGT:
        return m->a > with ? i->jt : i->jf;
    case BPF_JGE:
        return m->a >= with ? i->jt : i->jf;
    case BPF_JSET:
        return m->a & with ? i->jt : i->jf;
    default:
        return UINT32_MAX; /* beyond the end */
    }
}

/* An instruction that neither jumps nor returns. */
static bool step(struct machine *m, const struct sock_filter *i)
{
    switch (BPF_CLASS(i->code)) {
    case BPF_LD:
        return load(m, i, &m->a);
    case BPF_LDX:
        return load(m, i, &m->x);
    case BPF_ST:
        return store(m, i, m->a);
    case BPF_STX:
        return store(m, i, m->x);
    case BPF_ALU:
        return compute(m, i);
    case BPF_MISC:
        *(BPF_MISCOP(i->code) == BPF_TAX ? &m->x : &m->a) =
            BPF_MISCOP(i->code) == BPF_TAX ? m->a : m->x;
        return true;
    default:
        return false;
    }
}

bool seep_filter_allows(const struct sock_filter *program, size_t n,
                        const struct seccomp_data *call)
{
    struct machine m = {.call = call};
    for (size_t at = 0; at < n; at++) { /* every jump leads forward, so it ends */
        const struct sock_filter *i = &program[at];
        if (BPF_CLASS(i->code) == BPF_RET)
            return ((BPF_RVAL(i->code) == BPF_A ? m.a : i->k) & SECCOMP_RET_ACTION_FULL) ==
                   SECCOMP_RET_ALLOW;
        if (BPF_CLASS(i->code) == BPF_JMP)
            at += jump(&m, i);
        else if (!step(&m, i))
            return false;
    }
    return false;
}
