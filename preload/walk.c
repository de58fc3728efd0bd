#include "preload/walk.h"

#include <sys/auxv.h>
#include <ucontext.h>

#include "libprof/os.h"
#include "preload/cfi.h"
#include "preload/modules.h"
#include "preload/pyframe.h"

/* Shared by all threads, written without a lock: the key is the address ^ the rule's word, so that
 * a key and a word of two writers do not make a rule of either's address. */
struct rule {
    uint64_t key;
    uint64_t word;
};

union rule_word {
    struct seep_cfi_rule rule;
    uint64_t word;
};
_Static_assert(sizeof(struct seep_cfi_rule) == sizeof(uint64_t), "one word");

enum {
    N_RULES = 1 << 15,
    EVAL = 0x80,   /* in the evaluation loop of Python */
    LOADER = 0x40, /* in the dynamic loader */
};

static SEEP_LARGE struct rule rules[N_RULES];

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
    struct seep_cfi_rule rule = {.cfa_kind = SEEP_CFA_UNKNOWN};
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
    union rule_word u = {.rule = rule};
    __atomic_store_n(&slot->word, u.word, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->key, address ^ u.word, __ATOMIC_RELAXED);
    return rule;
}

static inline struct seep_cfi_rule rule_of(uintptr_t address)
{
    const struct rule *slot = rule_slot(address);
    union rule_word u = {.word = __atomic_load_n(&slot->word, __ATOMIC_RELAXED)};
    if (__builtin_expect((__atomic_load_n(&slot->key, __ATOMIC_RELAXED) ^ u.word) == address, 1))
        return u.rule;
    return rule_make(address);
}

void seep_walk_forget(void)
{
    for (unsigned i = 0; i < N_RULES; i++)
        if (__atomic_load_n(&rules[i].key, __ATOMIC_RELAXED)) {
            __atomic_store_n(&rules[i].key, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&rules[i].word, 0, __ATOMIC_RELAXED);
        }
}

SEEP_LARGE uint64_t seep_hash_keys[SEEP_HASH_KEYS];

void seep_walk_start(void)
{
    uint64_t x = UINT64_C(0x5eedf00dcafe1234); /* splitmix64 */
    for (unsigned i = 0; i < SEEP_HASH_KEYS; i++) {
        uint64_t z = x += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        seep_hash_keys[i] = (z ^ z >> 31) | 1;
    }
}

static inline struct seep_shape *shape_set(const struct seep_walk *walk,
                                           const struct seep_regs *regs)
{
    uintptr_t key = ((regs->cfa >> 4) ^ (regs->ra * 5)) * 9 + walk->context;
    return (struct seep_shape *)walk->shapes[(key ^ key >> 10) % SEEP_SHAPE_SETS];
}

static inline uint64_t shape_hash(const struct seep_shape *shape, const struct seep_regs *regs)
{
    const uintptr_t *stack = (const uintptr_t *)regs->cfa - 1;
    uint64_t sum =
        regs->ra * seep_hash_keys[SEEP_MAX_SHAPE] + (uint64_t)shape->n + shape->stop_at_eval;
    intptr_t at = 0;
    for (unsigned i = 0; i < shape->n; i++) {
        int8_t step = shape->steps[i];
        at += step;
        if (__builtin_expect(step == SEEP_SHAPE_FORTH || step == SEEP_SHAPE_BACK, 0))
            continue;
        sum += (stack[at] ^ (uintptr_t)at) * seep_hash_keys[i];
    }
    if (shape->uses_rbp)
        sum += regs->rbp * seep_hash_keys[SEEP_MAX_SHAPE + 1];
    return seep_hash_finish(sum);
}

bool seep_walk_guess(const struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                     unsigned way, uint64_t *hash)
{
    const struct seep_shape *shape = shape_set(walk, regs) + way;
    if (shape->cfa != regs->cfa || shape->ra != regs->ra || shape->context != walk->context ||
        shape->stop_at_eval != stop_at_eval)
        return false;
    uintptr_t end = regs->cfa + shape->reach * 8u;
    if (__builtin_expect(regs->cfa < walk->stacks.own.low || end > walk->stacks.own.high, 0) &&
        !seep_stack_range_holds(&walk->stacks, regs->cfa, end))
        return false;
    *hash = shape_hash(shape, regs);
    return true;
}

/* The walk as it goes: what it depends on. */
struct trail {
    struct seep_shape *shape;
    uintptr_t base;
    intptr_t last;      /* distance of the word noted last */
    uintptr_t rbp_from; /* where rbp was loaded from; 0: initial; 1: noted already */
    bool whole;
};

static inline void note_step(struct trail *trail, intptr_t step)
{
    struct seep_shape *shape = trail->shape;
    if (shape->n < SEEP_MAX_SHAPE)
        shape->steps[shape->n++] = (int8_t)step;
    else
        trail->whole = false;
    trail->last += step;
}

static inline void depend(struct trail *trail, uintptr_t address)
{
    intptr_t distance = (intptr_t)(address - trail->base) / 8;
    if (distance > UINT16_MAX)
        trail->whole = false;
    while (distance - trail->last >= SEEP_SHAPE_FORTH && trail->whole)
        note_step(trail, SEEP_SHAPE_FORTH);
    while (distance - trail->last <= SEEP_SHAPE_BACK && trail->whole)
        note_step(trail, SEEP_SHAPE_BACK);
    if (!trail->whole)
        return;
    note_step(trail, distance - trail->last);
    if (distance > trail->shape->reach)
        trail->shape->reach = (uint16_t)distance;
}

static inline void depend_on_rbp(struct trail *trail)
{
    if (trail->rbp_from == 0)
        trail->shape->uses_rbp = true;
    else if (trail->rbp_from != 1)
        depend(trail, trail->rbp_from);
    trail->rbp_from = 1;
}

struct position {
    uintptr_t cfa, ra, rbp;
    uintptr_t low, high; /* bounds of what may be read */
};

/* To the caller's frame. False: there is none, or it cannot be. */
static inline bool step(struct position *at, struct seep_cfi_rule rule, struct trail *trail)
{
    uintptr_t next;
    if (__builtin_expect(rule.cfa_kind == SEEP_CFA_RSP, 1)) {
        next = at->cfa + (uintptr_t)(intptr_t)rule.cfa_offset;
    } else if (rule.cfa_kind == SEEP_CFA_RBP) {
        depend_on_rbp(trail);
        next = at->rbp + (uintptr_t)(intptr_t)rule.cfa_offset;
    } else if (rule.cfa_kind == SEEP_CFA_RBP_DEREF) {
        uintptr_t from = at->rbp + (uintptr_t)(intptr_t)rule.cfa_offset;
        if (from < at->low || from > at->high || (from & 7))
            return false;
        depend_on_rbp(trail);
        depend(trail, from);
        next = *(uintptr_t *)from;
    } else {
        return false;
    }
    if (__builtin_expect(next <= at->cfa || next > at->high || (next & 7), 0))
        return false;
    if (rule.rbp_kind) {
        uintptr_t from = next;
        if (rule.rbp_kind == SEEP_RBP_AT_RBP) {
            depend_on_rbp(trail);
            from = at->rbp;
        }
        from += (uintptr_t)(intptr_t)rule.rbp_offset;
        if (__builtin_expect(from < at->low || from > at->high || (from & 7), 0))
            return false;
        at->rbp = *(uintptr_t *)from;
        trail->rbp_from = from;
    }
    at->ra = *(uintptr_t *)(next - 8);
    at->cfa = next;
    depend(trail, next - 8);
    return at->ra != 0;
}

/* To what the signal has interrupted, on this stack or, from an alternate one, on another. There
 * the program counter is no return address: one more makes it look like one. */
static bool step_over_signal(struct position *at, struct seep_stacks *stacks)
{
    const ucontext_t *context = (const ucontext_t *)at->cfa;
    if ((at->cfa & 7) || at->cfa + sizeof(*context) > at->high)
        return false;
    const greg_t *registers = context->uc_mcontext.gregs;
    at->ra = (uintptr_t)registers[REG_RIP] + 1;
    at->rbp = (uintptr_t)registers[REG_RBP];
    at->cfa = (uintptr_t)registers[REG_RSP];
    if (at->cfa < at->low || at->cfa >= at->high) {
        at->low = at->cfa - 16;
        at->high = seep_stack_range_find(stacks, at->cfa).high - 8;
    }
    return true;
}

unsigned seep_walk_native(struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                          uintptr_t *addresses, unsigned capacity, uint64_t *hash)
{
    const struct seep_stack_range *own = &walk->stacks.own;
    uintptr_t high = __builtin_expect(regs->cfa >= own->low && regs->cfa < own->high, 1)
                         ? own->high
                         : seep_stack_range_find(&walk->stacks, regs->cfa).high;
    struct position at = {.cfa = regs->cfa,
                          .ra = regs->ra,
                          .rbp = regs->rbp,
                          .low = regs->cfa - 16,
                          .high = high - 8};
    struct trail trail = {.shape = shape_set(walk, regs), .base = regs->cfa - 8, .whole = true};
    trail.shape[1] = trail.shape[0];
    trail.shape->cfa = regs->cfa;
    trail.shape->ra = regs->ra;
    trail.shape->context = walk->context;
    trail.shape->n = 0;
    trail.shape->reach = 0;
    trail.shape->uses_rbp = false;
    trail.shape->stop_at_eval = stop_at_eval;
    unsigned n = 0;
    while (n < capacity) {
        struct seep_cfi_rule rule = rule_of(at.ra);
        if (__builtin_expect(rule.cfa_kind & (EVAL | LOADER), 0)) {
            if ((rule.cfa_kind & EVAL) && stop_at_eval)
                break;
            /* What the loader calls is an initialiser: of what lies inside, only which one it is
             * matters. Libraries of operators make half a million stacks there, once each. */
            if ((rule.cfa_kind & LOADER) && n > 1) {
                addresses[0] = addresses[n - 1];
                n = 1;
            }
            rule.cfa_kind &= (uint8_t) ~(EVAL | LOADER);
        }
        addresses[n++] = at.ra;
        if (__builtin_expect(rule.cfa_kind == SEEP_CFA_SIGNAL, 0)) {
            trail.whole = false;
            if (!step_over_signal(&at, &walk->stacks))
                break;
        } else if (!step(&at, rule, &trail)) {
            break;
        }
    }
    if (trail.whole) {
        *hash = shape_hash(trail.shape, regs);
        return n;
    }
    trail.shape->cfa = 0; /* no guessing here */
    uint64_t sum = n;
    for (unsigned i = 0; i < n; i++)
        sum += addresses[i] * seep_hash_keys[2 * SEEP_MAX_SHAPE + i];
    *hash = seep_hash_finish(sum);
    return n;
}
