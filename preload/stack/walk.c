#include "preload/stack/walk.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "libprof/runtime/store/os.h"
#include "preload/objects/modules.h"
#include "preload/python/pyframe.h"
#include "preload/stack/cfi.h"

/* Shared by all threads and written without a lock: the key is the address ^ the rule's word, so a
 * key and a word from two writers do not form a rule for either's address. */
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
    ROOM = 12, /* in a shape: the most that one step takes */
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

/* Of code that is in no known file: it may be an address of anything, at the end of a page, or
 * none. */
static bool is_sigreturn(uintptr_t address)
{
    uint8_t code[SEEP_ARCH_SIGRETURN_BYTES];
    return seep_os_read_memory(address, code, sizeof(code)) == sizeof(code) &&
           seep_arch_is_sigreturn(code);
}

static struct seep_cfi_rule rule_make(uintptr_t address)
{
    struct seep_cfi_rule rule = {.cfa_kind = SEEP_CFA_UNKNOWN};
    struct seep_loaded loaded;
    uintptr_t pc = address - 1;
    if (seep_modules_find(pc, &loaded)) {
        rule = seep_cfi_find(loaded.eh_frame_hdr, pc);
        rule.is_eval =
            __atomic_load_n(&seep_python_ready, __ATOMIC_ACQUIRE) && seep_python_is_eval(pc);
        rule.is_loader = loaded.eh_frame_hdr && loaded.start == loader_start();
    }
    /* The vDSO of 64-bit Arm says nothing of it, and an emulator's code is in no file. */
    if (rule.cfa_kind == SEEP_CFA_UNKNOWN && is_sigreturn(address))
        rule.cfa_kind = SEEP_CFA_SIGNAL;
    if (rule.cfa_kind == SEEP_CFA_UNKNOWN && SEEP_ARCH_FRAME_RECORDS)
        rule.cfa_kind = SEEP_CFA_RECORD;
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
bool seep_walk_many;

void seep_walk_start(void)
{
    uint64_t x = UINT64_C(0x5eedf00dcafe1234); /* splitmix64 */
    if (seep_walk_many)
        seep_os_populate(rules, sizeof(rules));
    for (unsigned i = 0; i < SEEP_HASH_KEYS; i++) {
        uint64_t z = x += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        seep_hash_keys[i] = (z ^ z >> 31) | 1;
    }
}

static inline uintptr_t depth_of(const struct seep_walk *walk, uintptr_t cfa)
{
    return walk->stacks.own.high - cfa;
}

static inline void put_shape(struct seep_shape *set, const struct seep_shape *shape)
{
    set[1] = set[0];
    set[0] = *shape;
}

static inline uint32_t shape_hash_of(uintptr_t depth, uintptr_t ra, uint32_t context)
{
    uintptr_t key = ((depth >> 4) ^ (ra * 5)) * 9 + context;
    return (uint32_t)(key ^ key >> 10);
}

static inline struct seep_shape *shape_set(const struct seep_walk *walk,
                                           const struct seep_regs *regs)
{
    uint32_t hash = shape_hash_of(depth_of(walk, regs->cfa), regs->ra, walk->context);
    return walk->shapes[hash & walk->shape_mask];
}

bool seep_walk_init(struct seep_walk *walk)
{
    walk->shapes = seep_os_pages(SEEP_MIN_SHAPE_SETS * sizeof(*walk->shapes));
    walk->shape_mask = SEEP_MIN_SHAPE_SETS - 1;
    return walk->shapes != NULL;
}

/* The larger table is there before its size: a child may be forked in between, by another thread,
 * and its threads go on with both. */
void seep_walk_grow(struct seep_walk *walk)
{
    const size_t n = walk->shape_mask + 1;
    struct seep_shape(*old)[SEEP_SHAPE_WAYS] = walk->shapes, (*fresh)[SEEP_SHAPE_WAYS];
    if (n >= SEEP_MAX_SHAPE_SETS || !(fresh = seep_os_table(2 * n * sizeof(*fresh))))
        return;
    __atomic_store_n(&walk->shapes, fresh, __ATOMIC_RELEASE);
    __atomic_store_n(&walk->shape_mask, (uint32_t)(2 * n - 1), __ATOMIC_RELEASE);
    for (size_t i = 0; i < n; i++)
        for (unsigned way = SEEP_SHAPE_WAYS; way-- > 0;) {
            const struct seep_shape *shape = &old[i][way];
            if (shape->ra) {
                uint32_t hash = shape_hash_of(shape->depth, shape->ra, shape->context);
                put_shape(fresh[hash & walk->shape_mask], shape);
            }
        }
    seep_os_unmap(old, n * sizeof(*old));
}

static intptr_t far_step(const int8_t *bytes)
{
    return (intptr_t)bytes[2] << 16 | (uint8_t)bytes[1] << 8 | (uint8_t)bytes[0];
}

/* The multilinear hash of (word + distance) over all words that the walk depends on; the part that
 * the shape alone decides is already summed. */
static inline uint64_t shape_finish(const struct seep_shape *shape, uint64_t words, uintptr_t fp)
{
    if (shape->uses_fp)
        words += fp * seep_hash_keys[SEEP_MAX_SHAPE + 1];
    return seep_hash_finish(shape->places + words);
}

/* Reads words anywhere on the stack, including those that a sanitizer has poisoned. */
#define READS_STACK __attribute__((no_sanitize("address")))

/* Sums from the first far step on: usually the last few frames, because main() has large ones. */
static SEEP_EACH_EVENT READS_STACK __attribute__((noinline)) uint64_t
far_words(const struct seep_shape *shape, const uintptr_t *word)
{
    uint64_t sum = 0;
    for (unsigned i = shape->first_far, key; i < shape->n; i++) {
        key = i;
        if (shape->steps[i] == SEEP_SHAPE_FAR) {
            word += far_step(&shape->steps[i + 1]);
            i += 3;
        } else {
            word += shape->steps[i];
        }
        sum += *word * seep_hash_keys[key];
    }
    return sum;
}

static inline SEEP_EACH_EVENT READS_STACK uint64_t shape_hash(const struct seep_shape *shape,
                                                              const struct seep_regs *regs)
{
    const uintptr_t *word = (const uintptr_t *)regs->cfa - 1;
    const int8_t *step = shape->steps;
    const unsigned n = shape->first_far;
    uint64_t sum = 0, other = 0;
    unsigned i = 0;
    for (; i + 4 <= n; i += 4) {
        sum += *(word += step[i]) * seep_hash_keys[i];
        other += *(word += step[i + 1]) * seep_hash_keys[i + 1];
        sum += *(word += step[i + 2]) * seep_hash_keys[i + 2];
        other += *(word += step[i + 3]) * seep_hash_keys[i + 3];
    }
    for (; i < n; i++)
        sum += *(word += step[i]) * seep_hash_keys[i];
    if (__builtin_expect(n < shape->n, 0))
        other += far_words(shape, word);
    return shape_finish(shape, sum + other, regs->fp);
}

/* Computes where the next shape begins. */
static inline READS_STACK struct seep_regs shape_end(const struct seep_shape *shape,
                                                     const struct seep_regs *regs)
{
    const uintptr_t *stack = (const uintptr_t *)regs->cfa - 1;
    return (struct seep_regs){
        .cfa = regs->cfa + shape->reach * UINT64_C(8),
        .ra = seep_arch_code_address(
            stack[shape->reach - (SEEP_ARCH_RA_ON_STACK ? 0 : shape->ra_below)]),
        .fp = shape->fp_at == UINT32_MAX ? regs->fp : stack[shape->fp_at],
    };
}

static inline uint64_t hash_on(uint64_t hash, uint64_t next)
{
    return seep_hash_finish(hash * 7 + next);
}

static inline bool fits(const struct seep_walk *walk, const struct seep_shape *shape,
                        const struct seep_regs *regs, bool stop_at_eval)
{
    if (shape->depth != depth_of(walk, regs->cfa) || shape->ra != regs->ra ||
        shape->context != walk->context || shape->stop_at_eval != stop_at_eval)
        return false;
    uintptr_t end = regs->cfa + shape->reach * UINT64_C(8);
    return __builtin_expect(regs->cfa >= walk->stacks.own.low && end <= walk->stacks.own.high, 1) ||
           seep_stack_range_holds(&walk->stacks, regs->cfa, end);
}

/* Does the same for a stack of several shapes. */
static __attribute__((noinline)) bool guess_long(const struct seep_walk *walk,
                                                 const struct seep_shape *shape,
                                                 const struct seep_regs *regs, bool stop_at_eval,
                                                 unsigned way, uint64_t *hash)
{
    struct seep_regs at = *regs;
    *hash = shape_hash(shape, regs);
    while (shape->goes_on) {
        at = shape_end(shape, &at);
        const struct seep_shape *set = shape_set(walk, &at);
        shape = &set[way];
        if (!fits(walk, shape, &at, stop_at_eval) &&
            !fits(walk, shape = &set[!way], &at, stop_at_eval))
            return false;
        *hash = hash_on(*hash, shape_hash(shape, &at));
    }
    return true;
}

SEEP_EACH_EVENT bool seep_walk_guess(const struct seep_walk *walk, const struct seep_regs *regs,
                                     bool stop_at_eval, unsigned guess, uint64_t *hash)
{
    const struct seep_shape *shape = shape_set(walk, regs) + guess % SEEP_SHAPE_WAYS;
    if (!fits(walk, shape, regs, stop_at_eval))
        return false;
    if (__builtin_expect(shape->goes_on, 0))
        return guess_long(walk, shape, regs, stop_at_eval, guess / SEEP_SHAPE_WAYS, hash);
    if (guess >= SEEP_SHAPE_WAYS) /* none follows */
        return false;
    *hash = shape_hash(shape, regs);
    return true;
}

/* The walk as it goes: what it depends on. */
struct trail {
    struct seep_shape *shape;
    struct seep_regs regs; /* where the shape begins */
    uintptr_t base;
    intptr_t last;     /* distance of the word noted last */
    uintptr_t fp_from; /* where the frame pointer was loaded from; 0: initial; 1: already noted */
    uintptr_t fp_at;   /* the same, unaffected by notes */
    uintptr_t ra_at;   /* where the return address was loaded from */
    uint64_t words;    /* sum over the words noted, each with its key */
    uint64_t hash;     /* of the previous shapes */
    bool first;        /* no shape precedes this one */
    bool whole;
};

static __attribute__((noinline)) void note_far(struct trail *trail, intptr_t by)
{
    enum { FARTHEST = 1 << 23, FAR_BYTES = 4 };
    struct seep_shape *shape = trail->shape;
    trail->whole =
        trail->whole && shape->n + FAR_BYTES <= SEEP_MAX_SHAPE && by < FARTHEST && by >= -FARTHEST;
    if (!trail->whole)
        return;
    if (shape->first_far == UINT8_MAX)
        shape->first_far = shape->n;
    shape->steps[shape->n++] = SEEP_SHAPE_FAR;
    for (unsigned shift = 0; shift < 24; shift += 8)
        shape->steps[shape->n++] = (int8_t)(by >> shift);
}

static inline READS_STACK void depend(struct trail *trail, uintptr_t address)
{
    struct seep_shape *shape = trail->shape;
    intptr_t distance = (intptr_t)(address - trail->base) / 8, by = distance - trail->last;
    trail->last = distance;
    const uint64_t key = seep_hash_keys[shape->n];
    trail->words += *(const uintptr_t *)address * key;
    shape->places += (uintptr_t)distance * key;
    if (__builtin_expect(by > INT8_MIN && by <= INT8_MAX && shape->n < SEEP_MAX_SHAPE, 1))
        shape->steps[shape->n++] = (int8_t)by;
    else
        note_far(trail, by);
    if (distance > shape->reach)
        shape->reach = (uint32_t)distance;
    else if (__builtin_expect(distance < 0 && !trail->first, 0)) /* not part of this shape */
        trail->whole = false;
}

/* The shape takes in the stack up to this address. */
static inline void reach_to(struct trail *trail, uintptr_t address)
{
    const intptr_t distance = (intptr_t)(address - trail->base) / 8;
    if (distance > trail->shape->reach)
        trail->shape->reach = (uint32_t)distance;
}

static inline void depend_on_fp(struct trail *trail)
{
    if (trail->fp_from == 0)
        trail->shape->uses_fp = true;
    else if (trail->fp_from != 1)
        depend(trail, trail->fp_from);
    trail->fp_from = 1;
}

struct position {
    uintptr_t cfa, ra, fp;
    uintptr_t link;      /* the link register of code that a signal interrupted; 0: not known */
    uintptr_t low, high; /* the first and the last word that may be read */
    bool is_sp_unknown;  /* the stack pointer is above cfa, nobody knows how far */
};

static inline bool is_within(const struct position *at, uintptr_t address)
{
    return address >= at->low && address <= at->high && (address & 7) == 0;
}

static inline uintptr_t words_from(uintptr_t address, int32_t n)
{
    return address + (uintptr_t)((intptr_t)n * 8);
}

/* Takes the return address of the frame that ends at `next`. */
static inline READS_STACK bool take_return(struct position *at, struct seep_cfi_rule rule,
                                           uintptr_t next, struct trail *trail)
{
    const uintptr_t from = SEEP_ARCH_RA_ON_STACK ? next - 8 : words_from(next, rule.ra_offset);

    if (!SEEP_ARCH_RA_ON_STACK && rule.ra_offset == SEEP_RA_IN_LINK) {
        at->ra = seep_arch_code_address(at->link);
    } else if (SEEP_ARCH_RA_ON_STACK || is_within(at, from)) {
        at->ra = seep_arch_code_address(*(uintptr_t *)from);
        depend(trail, from);
        if (!SEEP_ARCH_RA_ON_STACK) {
            reach_to(trail, next - 8);
            trail->ra_at = from;
        }
    } else {
        return false;
    }
    if (!SEEP_ARCH_RA_ON_STACK)
        at->link = 0;
    return at->ra != 0;
}

/* The rule by which to leave a function that says nothing of its frame, or whose stack pointer is
 * not known, because it called such a one: by the record that the frame pointer leads to. Of a
 * function without a record the caller is passed over. */
static struct seep_cfi_rule rule_by_record(struct position *at, struct seep_cfi_rule rule)
{
    const bool has_record = rule.fp_kind == SEEP_FP_AT_CFA && rule.ra_offset == rule.fp_offset + 1;

    at->is_sp_unknown = rule.cfa_kind == SEEP_CFA_SP || rule.cfa_kind == SEEP_CFA_RECORD;
    if (!at->is_sp_unknown)
        return rule;
    if (rule.fp_kind && !has_record) /* it uses the register otherwise */
        return (struct seep_cfi_rule){.cfa_kind = SEEP_CFA_NONE};
    return (struct seep_cfi_rule){.cfa_kind = SEEP_CFA_FP,
                                  .cfa_offset = 2,
                                  .fp_kind = SEEP_FP_AT_CFA,
                                  .fp_offset = -2,
                                  .ra_offset = -1};
}

/* Code may be built to use the frame pointer for anything: what looks like a record is one if the
 * code before the return address is a call. */
static bool is_after_call(uintptr_t address)
{
    uint32_t code;
    return address % sizeof(code) == 0 &&
           seep_os_read_memory(address - sizeof(code), &code, sizeof(code)) == sizeof(code) &&
           seep_arch_is_call(code);
}

/* Goes to the caller's frame. False: there is none, or it cannot be reached. */
static inline READS_STACK bool step(struct position *at, struct seep_cfi_rule rule,
                                    struct trail *trail)
{
    uintptr_t next;
    if (SEEP_ARCH_FRAME_RECORDS &&
        __builtin_expect(at->is_sp_unknown | (rule.cfa_kind == SEEP_CFA_RECORD), 0))
        rule = rule_by_record(at, rule);
    if (__builtin_expect(rule.cfa_kind == SEEP_CFA_SP, 1)) {
        next = words_from(at->cfa, rule.cfa_offset);
    } else if (rule.cfa_kind == SEEP_CFA_FP) {
        depend_on_fp(trail);
        next = words_from(at->fp, rule.cfa_offset);
    } else if (rule.cfa_kind == SEEP_CFA_FP_DEREF) {
        uintptr_t from = words_from(at->fp, rule.cfa_offset);
        if (!is_within(at, from))
            return false;
        depend_on_fp(trail);
        depend(trail, from);
        next = *(uintptr_t *)from;
    } else {
        return false;
    }
    /* Only where nothing is pushed by a call a frame may be empty: once, as its caller has one. */
    const uintptr_t least = at->cfa + (SEEP_ARCH_RA_ON_STACK || !at->link);
    if (__builtin_expect(next < least || next > at->high + 8 || (next & 7), 0))
        return false;
    if (rule.fp_kind) {
        uintptr_t from = next;
        if (rule.fp_kind == SEEP_FP_AT_FP) {
            depend_on_fp(trail);
            from = at->fp;
        }
        from = words_from(from, rule.fp_offset);
        if (__builtin_expect(!is_within(at, from), 0))
            return false;
        at->fp = *(uintptr_t *)from;
        trail->fp_from = trail->fp_at = from;
    }
    at->cfa = next;
    if (!take_return(at, rule, next, trail))
        return false;
    if (SEEP_ARCH_FRAME_RECORDS && __builtin_expect(at->is_sp_unknown, 0) &&
        !is_after_call(at->ra)) {
        trail->whole = false; /* what it is may change with any event */
        return false;
    }
    return true;
}

static void begin_shape(struct seep_walk *walk, struct trail *trail, const struct position *at,
                        bool stop_at_eval)
{
    trail->regs = (struct seep_regs){at->cfa, at->ra, at->fp};
    trail->base = at->cfa - 8;
    trail->last = 0;
    trail->fp_from = trail->fp_at = 0;
    struct seep_shape *shape = trail->shape;
    shape->depth = depth_of(walk, at->cfa);
    shape->ra = at->ra;
    shape->context = walk->context;
    shape->n = 0;
    shape->reach = 0;
    shape->uses_fp = false;
    shape->stop_at_eval = stop_at_eval;
    shape->goes_on = false;
    shape->first_far = UINT8_MAX;
    shape->places = at->ra * seep_hash_keys[SEEP_MAX_SHAPE] + stop_at_eval;
    trail->words = 0;
    shape->fp_at = UINT32_MAX;
}

/* The shape is complete: it becomes the latest of its set. */
static void end_shape(struct seep_walk *walk, struct trail *trail)
{
    struct seep_shape *made = trail->shape;
    const size_t bytes = offsetof(struct seep_shape, steps) + made->n;
    struct seep_shape *set = shape_set(walk, &trail->regs);
    made->places += made->n;
    if (made->first_far > made->n)
        made->first_far = made->n;
    uint64_t hash = shape_finish(made, trail->words, trail->regs.fp);
    trail->hash = trail->first ? hash : hash_on(trail->hash, hash);
    trail->first = false;
    if (memcmp(&set[0], made, bytes) != 0)
        put_shape(set, made);
}

/* Called when little room is left: ends the shape before the frame at `at`, if it can end there,
 * and begins the next. */
static __attribute__((noinline)) void next_shape(struct seep_walk *walk, struct trail *trail,
                                                 const struct position *at)
{
    struct seep_shape *shape = trail->shape;
    uintptr_t fp_at = trail->fp_at ? (trail->fp_at - trail->base) / 8 : UINT32_MAX;
    uintptr_t ra_below = SEEP_ARCH_RA_ON_STACK ? 0 : (at->cfa - 8 - trail->ra_at) / 8;
    if (!trail->whole || at->cfa != trail->regs.cfa + shape->reach * UINT64_C(8) ||
        ra_below > UINT8_MAX || (trail->fp_at && fp_at > shape->reach))
        return;
    shape->goes_on = true;
    shape->fp_at = (uint32_t)fp_at;
    shape->ra_below = (uint8_t)ra_below;
    end_shape(walk, trail);
    begin_shape(walk, trail, at, shape->stop_at_eval);
}

/* Goes to the code that the signal interrupted, on this stack or, from an alternate stack, on
 * another. Its program counter is not a return address: adding one makes it look like one. */
static READS_STACK bool step_over_signal(struct position *at, struct seep_stacks *stacks)
{
    const uintptr_t context = at->cfa + SEEP_ARCH_CONTEXT_AT;
    if (at->is_sp_unknown || (context & 7) || context + sizeof(ucontext_t) > at->high)
        return false;
    const struct seep_arch_frame frame = seep_arch_interrupted((const ucontext_t *)context);
    at->ra = frame.pc + 1;
    at->fp = frame.fp;
    at->cfa = frame.sp;
    at->link = frame.link;
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
    struct position at = {
        .cfa = regs->cfa, .ra = regs->ra, .fp = regs->fp, .low = regs->cfa - 16, .high = high - 8};
    struct seep_shape made = {0};
    struct trail trail = {.shape = &made, .first = true, .whole = true};
    begin_shape(walk, &trail, &at, stop_at_eval);
    unsigned n = 0;
    while (n < capacity) {
        struct seep_cfi_rule rule = rule_of(at.ra);
        if (__builtin_expect(rule.is_eval | rule.is_loader, 0)) {
            if (rule.is_eval && stop_at_eval)
                break;
            /* The loader calls initialisers: of the frames inside, only which initialiser it is
             * matters. Operator libraries make half a million stacks there, once each. */
            if (rule.is_loader && n > 1) {
                addresses[0] = addresses[n - 1];
                n = 1;
            }
        }
        addresses[n++] = at.ra;
        if (__builtin_expect(rule.cfa_kind == SEEP_CFA_SIGNAL, 0)) {
            trail.whole = false;
            if (!step_over_signal(&at, &walk->stacks))
                break;
        } else {
            if (__builtin_expect(made.n > SEEP_MAX_SHAPE - ROOM, 0))
                next_shape(walk, &trail, &at);
            if (!step(&at, rule, &trail))
                break;
        }
    }
    if (trail.whole) {
        end_shape(walk, &trail);
        *hash = trail.hash;
        return n;
    }
    /* no guessing here */
    uint64_t sum = n;
    for (unsigned i = 0; i < n; i++)
        sum += addresses[i] * seep_hash_keys[2 * SEEP_MAX_SHAPE + i];
    *hash = seep_hash_finish(sum);
    return n;
}
