#include "preload/walk.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "libprof/os.h"
#include "preload/cfi.h"
#include "preload/modules.h"
#include "preload/pyframe.h"
#include "preload/unwind.h"

extern void *__libc_stack_end; /* of the loader: the main thread's stack begins here */

/* Shared by all threads, written without a lock: `address` is cleared first and stored last, and a
 * reader that sees it twice has read the rule in between. */
struct rule {
    uintptr_t address;
    struct seep_cfi_rule rule;
};

enum {
    N_RULES = 1 << 15,
    EVAL = 0x80,   /* in the evaluation loop of Python */
    LOADER = 0x40, /* in the dynamic loader */
};

static struct rule rules[N_RULES];

static inline struct rule *rule_slot(uintptr_t address)
{
    return &rules[(address ^ (address >> 15)) & (N_RULES - 1)];
}

static uintptr_t loader_start(void)
{
    static uintptr_t start;
    if (!start) {
        struct seep_loaded loaded;
        start = seep_modules_find((uintptr_t)getauxval(AT_BASE), &loaded) ? loaded.start : 1;
    }
    return start;
}

static struct seep_cfi_rule rule_make(uintptr_t address)
{
    struct seep_cfi_rule rule = {.cfa_kind = SEEP_CFA_SLOW};
    struct seep_loaded loaded;
    uintptr_t pc = address - 1;
    if (seep_modules_find(pc, &loaded)) {
        rule = seep_cfi_find(loaded.eh_frame_hdr, pc);
        if (seep_python_ready && seep_python_is_eval(pc))
            rule.cfa_kind |= EVAL;
        if (loaded.eh_frame_hdr && loaded.start == loader_start())
            rule.cfa_kind |= LOADER;
    }
    struct rule *slot = rule_slot(address);
    __atomic_store_n(&slot->address, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n((uint64_t *)(void *)&slot->rule, *(uint64_t *)(void *)&rule, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->address, address, __ATOMIC_RELEASE);
    return rule;
}

static inline struct seep_cfi_rule rule_of(uintptr_t address)
{
    struct rule *slot = rule_slot(address);
    if (__builtin_expect(__atomic_load_n(&slot->address, __ATOMIC_ACQUIRE) == address, 1)) {
        union {
            uint64_t word;
            struct seep_cfi_rule rule;
        } u = {.word = __atomic_load_n((uint64_t *)(void *)&slot->rule, __ATOMIC_ACQUIRE)};
        if (__builtin_expect(__atomic_load_n(&slot->address, __ATOMIC_RELAXED) == address, 1))
            return u.rule;
    }
    return rule_make(address);
}

void seep_walk_forget(void)
{
    for (unsigned i = 0; i < N_RULES; i++)
        if (rules[i].address)
            __atomic_store_n(&rules[i].address, 0, __ATOMIC_RELAXED);
}

static uintptr_t parse_hex(const char **at)
{
    uintptr_t value = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* A stack that is neither the main thread's nor one of pthread's: fibres, signal stacks. */
static void bounds_from_maps(struct seep_walk *walk, uintptr_t sp)
{
    char text[4096 + 1];
    size_t kept = 0;
    walk->stack_low = sp;
    walk->stack_high = sp + 16;
    int fd = seep_os_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return;
    for (;;) {
        long n = seep_os_read(fd, text + kept, 4096 - kept);
        if (n <= 0)
            break;
        text[kept + (size_t)n] = '\0';
        char *line = text;
        for (char *newline; (newline = __builtin_strchr(line, '\n')); line = newline + 1) {
            const char *at = line;
            uintptr_t low = parse_hex(&at);
            uintptr_t high = *at == '-' ? (++at, parse_hex(&at)) : 0;
            if (sp >= low && sp < high) {
                walk->stack_low = low;
                walk->stack_high = high;
                seep_os_close(fd);
                return;
            }
        }
        kept = (size_t)(text + kept + (size_t)n - line);
        if (kept >= 4096)
            kept = 0;
        __builtin_memmove(text, line, kept);
    }
    seep_os_close(fd);
}

static void find_bounds(struct seep_walk *walk, uintptr_t sp)
{
    uintptr_t self = (uintptr_t)pthread_self(); /* glibc keeps it at the top of a thread's stack */
    uintptr_t main_end = (uintptr_t)__libc_stack_end;
    struct rlimit64 limit = {0};
    (void)seep_os_call6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
    uint64_t main_size = limit.rlim_cur < (64u << 20) ? limit.rlim_cur : 64u << 20;
    if (sp < main_end && main_end - sp < main_size) {
        walk->stack_low = sp & ~(uintptr_t)4095;
        walk->stack_high = main_end;
    } else if (seep_os_tid() != seep_os_pid() && sp < self && self - sp < (64u << 20)) {
        walk->stack_low = sp & ~(uintptr_t)4095;
        walk->stack_high = self;
    } else {
        bounds_from_maps(walk, sp);
    }
}

static inline uint64_t mix(uint64_t hash, uintptr_t address)
{
    hash = (hash ^ address) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

unsigned seep_walk_native(struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                          uintptr_t *addresses, unsigned capacity)
{
    uintptr_t cfa = regs->cfa, ra = regs->ra, rbp = regs->rbp;
    uint64_t hash = 0;
    unsigned n = 0;
    if (__builtin_expect(cfa < walk->stack_low || cfa >= walk->stack_high, 0))
        find_bounds(walk, cfa);
    const uintptr_t high = walk->stack_high - 8;
    while (n < capacity) {
        struct seep_cfi_rule rule = rule_of(ra);
        if (__builtin_expect(rule.cfa_kind & (EVAL | LOADER), 0)) {
            if ((rule.cfa_kind & EVAL) && stop_at_eval)
                break;
            /* What the loader calls is an initialiser: of what lies inside, only which one it is
             * matters. Libraries of operators make half a million stacks there, once each. */
            if ((rule.cfa_kind & LOADER) && n > 1) {
                addresses[0] = addresses[n - 1];
                n = 1;
                hash = mix(0, addresses[0]);
            }
            rule.cfa_kind &= (uint8_t)~(EVAL | LOADER);
        }
        addresses[n++] = ra;
        hash = mix(hash, ra);
        uintptr_t next;
        if (__builtin_expect(rule.cfa_kind == SEEP_CFA_RSP, 1)) {
            next = cfa + (uintptr_t)(intptr_t)rule.cfa_offset;
        } else if (rule.cfa_kind == SEEP_CFA_RBP) {
            next = rbp + (uintptr_t)(intptr_t)rule.cfa_offset;
        } else if (rule.cfa_kind == SEEP_CFA_RBP_DEREF) {
            uintptr_t at = rbp + (uintptr_t)(intptr_t)rule.cfa_offset;
            if (at < cfa || at > high || (at & 7))
                break;
            next = *(uintptr_t *)at;
        } else if (rule.cfa_kind == SEEP_CFA_SLOW) {
            n = seep_unwind_rest(ra, stop_at_eval, addresses, n, capacity);
            for (unsigned i = 0; i < n; i++)
                hash = mix(hash, addresses[i]);
            break;
        } else {
            break;
        }
        if (__builtin_expect(next <= cfa || next > high || (next & 7), 0))
            break;
        if (rule.rbp_kind) {
            uintptr_t at = (rule.rbp_kind == SEEP_RBP_AT_CFA ? next : rbp) +
                           (uintptr_t)(intptr_t)rule.rbp_offset;
            if (__builtin_expect(at < walk->stack_low || at > high || (at & 7), 0))
                break;
            rbp = *(uintptr_t *)at;
        }
        ra = *(uintptr_t *)(next - 8);
        cfa = next;
        if (!ra)
            break;
    }
    walk->hash = hash;
    return n;
}
