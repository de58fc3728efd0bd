/* A program that uses NVTX: the side of the interface that finds a tool and calls it, after the
 * description of NVTX 3. Prints how many steps it made, as its message "step" does.
 *   usage: nvtx SECTION */
#include "preload/seep.h"
#include "tests/subjects/tally.h"

#include <dlfcn.h>
#include <pthread.h>

enum { STEPS = 20 };

/* ---- the interface --------------------------------------------------------------------------- */

typedef void (*function)(void);

enum { CORE = 1, CORE2 = 5, N_CORE = 16, N_CORE2 = 16 };

static function core[N_CORE], core2[N_CORE2];
static function *core_slots[N_CORE + 1], *core2_slots[N_CORE2 + 1];

static int slots_of(int module, function ***slots, unsigned *n)
{
    if (module != CORE && module != CORE2)
        return 0;
    *slots = module == CORE ? core_slots : core2_slots;
    *n = N_CORE;
    return 1;
}

static const struct {
    size_t bytes;
    int (*slots_of)(int, function ***, unsigned *);
} callbacks = {sizeof callbacks, slots_of};

static const void *table(uint32_t which)
{
    return which == 1 ? &callbacks : NULL;
}

static int found_tool(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    for (int i = 1; i < N_CORE; i++) { /* the first is no function's */
        core_slots[i] = &core[i];
        core2_slots[i] = &core2[i];
    }
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    return initialize && initialize(table);
}

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

static struct attributes attributes(int type, const void *message)
{
    struct attributes a = {.version = 2, .bytes = sizeof a, .message_type = type};
    a.message = message;
    return a;
}

#define CALL(type, slot, parameters, ...)                                                          \
    ((slot) ? ((type(*) parameters)(slot))(__VA_ARGS__) : (type)0)

static void mark(const char *message)
{
    if (core[2])
        ((void (*)(const char *))core[2])(message);
}

static int push(const char *message)
{
    return CALL(int, core[9], (const char *), message);
}

static int pop(void)
{
    return core[11] ? ((int (*)(void))core[11])() : 0;
}

/* ---- sections -------------------------------------------------------------------------------- */

static void *kept[STEPS];

static void work(int i)
{
    kept[i] = malloc(1000);
    MUST(kept[i]);
}

static void section_marks(void)
{
    for (int i = 0; i < STEPS; i++) {
        struct attributes a = attributes(1, "step by attributes"), wide = attributes(2, L"step");
        mark("epoch");
        work(i);
        if (i % 2)
            mark("a step");
        else if (core[1])
            ((void (*)(const struct attributes *))core[1])(&a);
        if (core[1])
            ((void (*)(const struct attributes *))core[1])(&wide);
    }
}

/* Ranges in each other, and pops of what nobody pushed. */
static void section_ranges(void)
{
    int tracked = 0;
    for (int i = 0; i < STEPS; i++) {
        tracked |= pop() >= 0;
        tracked |= push("epoch") >= 0;
        tracked |= push("step") >= 0;
        push("forward");
        work(i);
        pop();
        pop(); /* here the step ends */
        mark("after");
        pop();
    }
    MUST(!tracked || !core[9]);
}

static void *end_range(void *range)
{
    ((void (*)(uint64_t))core[7])(*(uint64_t *)range);
    return NULL;
}

/* A range that is started here and ended by another thread. */
static void section_started(void)
{
    for (int i = 0; core[5] && i < STEPS; i++) {
        uint64_t other = ((uint64_t(*)(const char *))core[5])("forward");
        uint64_t range = ((uint64_t(*)(const char *))core[5])("step");
        pthread_t thread;
        work(i);
        MUST(pthread_create(&thread, NULL, end_range, &range) == 0);
        MUST(pthread_join(thread, NULL) == 0);
        end_range(&other);
    }
}

/* Two domains with ranges of their own, and messages that are registered once. */
static void section_domains(void)
{
    if (!core2[12])
        return;
    uintptr_t (*create)(const char *) = (uintptr_t(*)(const char *))core2[12];
    uintptr_t (*enter)(uintptr_t, const char *) = (uintptr_t(*)(uintptr_t, const char *))core2[10];
    int (*push_in)(uintptr_t, const struct attributes *) =
        (int (*)(uintptr_t, const struct attributes *))core2[4];
    int (*pop_in)(uintptr_t) = (int (*)(uintptr_t))core2[5];
    uintptr_t trainer = create("trainer"), library = create("library");
    struct attributes step = attributes(3, (void *)enter(trainer, "step"));
    struct attributes other = attributes(3, (void *)enter(library, "all-reduce"));
    MUST(trainer && library && trainer != library && step.message && other.message);
    for (int i = 0; i < STEPS; i++) {
        push_in(trainer, &step);
        push_in(library, &other);
        work(i);
        pop_in(trainer); /* not the range that was pushed last, which is another domain's */
        pop_in(library);
    }
}

/* What the job tells by seep.h goes before. */
static void section_told(void)
{
    for (int i = 0; i < STEPS; i++) {
        mark("step");
        work(i);
        if (i >= STEPS / 2)
            seep_step();
        mark("step");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"marks", section_marks},
                    {"ranges", section_ranges},
                    {"started", section_started},
                    {"domains", section_domains},
                    {"told", section_told}};
    MUST(argc == 2);
    char text[32];
    const int n = snprintf(text, sizeof text, "{\"tool\": %d}\n", found_tool());
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(argv[1], sections[i].name) == 0)
            sections[i].run();
    tally_write(text, (size_t)n);
    (void)tally_print, (void)tally_made, (void)tally_gone, (void)tally_shrunk, (void)tally_random;
    return 0;
}
