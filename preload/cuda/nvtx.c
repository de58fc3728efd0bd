/* NVTX: marks and ranges by which a program says what it does, for tools. The program's side of it
 * loads the library that NVTX_INJECTION64_PATH names, at its first mark, and calls the function
 * below with a table of slots: what a tool stores there is called at each mark from then on. This
 * is the interface of NVTX 3 for tools (nvtxTypes.h, nvtx3/nvtxDetail), which NVTX 2 has too.
 *
 * With --step-nvtx a step ends at each mark, and at the end of each range, whose message matches.
 * What is returned is what a program gets that no tool looks at, but for handles, which say whether
 * the message matched: so there is nothing to remember. Messages of wide characters match nothing.
 */
#include <errno.h>

#include "libprof/runtime/regex/regex.h"
#include "preload/life/run_settings.h"
#include "preload/objects/real.h"
#include "preload/record/steps.h"

enum { CALLBACKS = 1 };         /* of the tables that a program exports, … */
enum { CORE = 1, DOMAINS = 5 }; /* … and of the modules of this one */

enum core { MARK_EX = 1, MARK, START_EX = 4, START, END = 7, PUSH_EX, PUSH, POP = 11 };

enum domains {
    DOMAIN_MARK = 1,
    DOMAIN_START,
    DOMAIN_END,
    DOMAIN_PUSH,
    DOMAIN_POP,
    DOMAIN_REGISTER = 10,
    DOMAIN_CREATE = 12,
    DOMAIN_CREATE_WIDE,
};

enum { NOT_TRACKED = -2 }; /* no tool returns this from a push or pop */

struct callbacks {
    size_t bytes;
    int (*slots_of)(int module, void ****slots, unsigned *n);
};

struct attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

enum { ASCII = 1, REGISTERED = 3 };
enum { NO_MATCH = 1, MATCH = 2 }; /* handles of registered messages */

/* ---- steps ----------------------------------------------------------------------------------- */

static void step_ended(void)
{
    if (!seep_enter())
        return;
    const int saved_errno = errno;
    seep_steps_user_step(seep_tls.thread, SEEP_STEP_NVTX);
    errno = saved_errno;
    seep_leave();
}

static bool is_wanted(const char *message)
{
    return message && seep_regex_matches(&seep_run_settings.step_nvtx, message);
}

static bool are_wanted(const struct attributes *a)
{
    if (!a || a->bytes < sizeof(*a))
        return false;
    if (a->message_type == REGISTERED)
        return (uintptr_t)a->message == MATCH;
    return a->message_type == ASCII && is_wanted(a->message);
}

/* Nested ranges of a thread and domain: which of them are wanted. Domains and depths without a
 * place here are not. */
enum { PLACES = 16, DEEPEST = 64 };

static __thread struct {
    uint64_t wanted;
    uint32_t depth;
} nested[PLACES];

static int push(uintptr_t domain, bool is_one)
{
    if (domain >= PLACES)
        return NOT_TRACKED;
    const uint32_t depth = nested[domain].depth++;
    const uint64_t bit = depth < DEEPEST ? UINT64_C(1) << depth : 0;
    nested[domain].wanted = is_one ? nested[domain].wanted | bit : nested[domain].wanted & ~bit;
    return NOT_TRACKED;
}

static int pop(uintptr_t domain)
{
    if (domain >= PLACES || !nested[domain].depth)
        return NOT_TRACKED;
    const uint32_t depth = --nested[domain].depth;
    if (depth < DEEPEST && (nested[domain].wanted >> depth & 1))
        step_ended();
    return NOT_TRACKED;
}

/* ---- what is called -------------------------------------------------------------------------- */

static void mark_ex(const struct attributes *a)
{
    if (are_wanted(a))
        step_ended();
}

static void mark(const char *message)
{
    if (is_wanted(message))
        step_ended();
}

static uint64_t start_ex(const struct attributes *a)
{
    return are_wanted(a);
}

static uint64_t start(const char *message)
{
    return is_wanted(message);
}

static void end(uint64_t range)
{
    if (range)
        step_ended();
}

static int push_ex(const struct attributes *a)
{
    return push(0, are_wanted(a));
}

static int push_text(const char *message)
{
    return push(0, is_wanted(message));
}

static int pop_any(void)
{
    return pop(0);
}

static void domain_mark(uintptr_t domain, const struct attributes *a)
{
    (void)domain;
    mark_ex(a);
}

static uint64_t domain_start(uintptr_t domain, const struct attributes *a)
{
    (void)domain;
    return are_wanted(a);
}

static void domain_end(uintptr_t domain, uint64_t range)
{
    (void)domain;
    end(range);
}

static int domain_push(uintptr_t domain, const struct attributes *a)
{
    return push(domain, are_wanted(a));
}

static uintptr_t domain_register(uintptr_t domain, const char *message)
{
    (void)domain;
    return is_wanted(message) ? MATCH : NO_MATCH;
}

/* 0 is the default domain. */
static uintptr_t domain_create(const void *name)
{
    static uintptr_t n;
    (void)name;
    return __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
}

/* ---- the table ------------------------------------------------------------------------------- */

struct slot {
    unsigned at;
    void *function;
};

static const struct slot core_slots[] = {
    {MARK_EX, mark_ex}, {MARK, mark},       {START_EX, start_ex}, {START, start},
    {END, end},         {PUSH_EX, push_ex}, {PUSH, push_text},    {POP, pop_any},
};

static const struct slot domain_slots[] = {
    {DOMAIN_MARK, domain_mark},
    {DOMAIN_START, domain_start},
    {DOMAIN_END, domain_end},
    {DOMAIN_PUSH, domain_push},
    {DOMAIN_POP, pop},
    {DOMAIN_REGISTER, domain_register},
    {DOMAIN_CREATE, domain_create},
    {DOMAIN_CREATE_WIDE, domain_create},
};

static bool fill(const struct callbacks *callbacks, int module, const struct slot *slots, size_t n)
{
    void ***theirs = NULL;
    unsigned n_theirs = 0;
    if (!callbacks->slots_of(module, &theirs, &n_theirs) || !theirs)
        return false;
    for (size_t i = 0; i < n; i++)
        if (slots[i].at < n_theirs && theirs[slots[i].at])
            *theirs[slots[i].at] = slots[i].function;
    return true;
}

/* Each library that contains a copy of NVTX calls this once. Returns whether it could be used. */
SEEP_EXPORT int InitializeInjectionNvtx2(const void *(*table)(uint32_t))
{
    const struct callbacks *callbacks = table ? table(CALLBACKS) : NULL;
    if (!callbacks || callbacks->bytes < sizeof(*callbacks) || !seep_run_settings.step_nvtx.n_codes)
        return 0;
    if (seep_enter()) {
        seep_note_hook(SEEP_HOOK_InitializeInjectionNvtx2);
        seep_leave();
    }
    const bool marks = fill(callbacks, CORE, core_slots, sizeof core_slots / sizeof *core_slots);
    const bool domains =
        fill(callbacks, DOMAINS, domain_slots, sizeof domain_slots / sizeof *domain_slots);
    return marks || domains;
}
