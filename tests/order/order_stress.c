/* Order of memory, tried on the processor itself: order-stress [--seconds N] [--torn]
 *
 * A child does what a job's threads do, with the library's own code: it puts blocks into the live
 * set and hands them to other threads that take them, while another walks through it; or it enters
 * names, stacks and sites, and frees blocks in another thread than made them; or it takes samples
 * of RSS; or it lists processes whose entries others have had. The parent has the files mapped, as
 * readers have, and waits for each record: what is published must be whole. One theme at a time, so
 * that writer and reader run at once on two processors, too. A child does not live long, since what
 * the live set once needed it keeps.
 *
 * On x86-64 this tries the code, on 64-bit Arm the order as well. --torn puts one torn state of
 * each kind in by hand, and each must be found. Status: 0: all was whole, or all was found. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libprof/runtime/store/intern.h"
#include "libprof/runtime/store/live_walk.h"
#include "libprof/runtime/store/site_series.h"
#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/record/map_resident.h"
#include "preload/record/rss_look.h"
#include "preload/record/rss_sample.h"

enum {
    MOST_PAIRS = 8, /* threads that put, and as many that take */
    BOX = 8,        /* blocks on their way from one to the other */
    LIFE_MS = 500,
    PROFILE_BYTES = 256 << 20,
    PAGE = 1 << SEEP_PAGE_BITS,
    OF_A_PAGE = 6, /* blocks of each pair in a page, which others use as well */
    FIRST_PID = 1000,
};

/* What a child does. */
enum theme { LIVE_SET, PROFILE, SAMPLES, PROCESSES, N_THEMES };

/* What can be seen torn. */
enum fault { LOST, WORD, SITE, DETAIL, SAMPLE, ENTRY, N_FAULTS };
static const char *const fault_names[] = {"lost", "word", "site", "detail", "sample", "entry"};

/* Shared by parent and child. */
static struct shared {
    uint64_t wrong[N_FAULTS];
    uint64_t taken, walked, sites, details, samples, entries; /* how many were looked at */
    bool ready, over;
} * shared;

static bool tears;
static unsigned n_pairs;

static void note(enum fault fault)
{
    __atomic_fetch_add(&shared->wrong[fault], 1, __ATOMIC_SEQ_CST);
}

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

static bool is_over(void)
{
    return __atomic_load_n(&shared->over, __ATOMIC_SEQ_CST);
}

/* Waits for another thread, which may need this one's processor. */
static void wait_a_little(unsigned *turns)
{
    if (++*turns % 256 == 0)
        sched_yield();
}

static void sleep_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* ---- what a record must be, once it is published ----------------------------------------------
 */

static const void *at(const char *base, uint32_t ref)
{
    return base + (uint64_t)ref * 8;
}

/* A site's stack is one frame, of a line that is also its name, and its number. */
static bool is_whole(const char *base, const struct seep_site *site)
{
    char name[32];

    if (!site->stack)
        return site->slot_plus_1 == SEEP_SLOT_SHARED;
    const struct seep_stack *stack = at(base, site->stack);
    if (!stack->frame)
        return false;
    const struct seep_frame *frame = at(base, stack->frame);
    if (frame->kind != SEEP_FRAME_PYTHON || !frame->source)
        return false;
    const struct seep_code_object *code = at(base, frame->source);
    if (!code->file || code->first_line != frame->where)
        return false;
    const struct seep_string *text = at(base, code->file);
    const int n = snprintf(name, sizeof name, "line %u", code->first_line);
    return text->n_bytes == (uint32_t)n && memcmp(text->text, name, (size_t)n) == 0;
}

static bool is_published(const struct seep_site *site)
{
    return __atomic_load_n(&site->slot_plus_1, __ATOMIC_ACQUIRE) != 0;
}

/* ---- the child: threads that put and take -----------------------------------------------------
 */

struct handed {
    uintptr_t address;
    struct seep_block block;
};

static struct pair {
    struct seep_sites sites, takers_sites;
    struct handed box[BOX];
    uint64_t n_put, n_taken; /* of the box: the job's own lock, so to say */
    unsigned number;
} pairs[MOST_PAIRS];

static uint32_t next_line;
static uintptr_t newest_page = UINT64_C(0x560000000000);

static uint32_t make_site(struct pair *p)
{
    const uint32_t line = __atomic_add_fetch(&next_line, 1, __ATOMIC_SEQ_CST);
    uint32_t file = 0, stack = 0;
    char name[32];

    snprintf(name, sizeof name, "line %u", line);
    if (!seep_os_lock(&seep_arena.lock))
        return 0;
    file = seep_intern_string(name, (uint32_t)strlen(name));
    const uint32_t code =
        file ? seep_intern_code(&(struct seep_code_object){.file = file, .first_line = line}) : 0;
    const uint32_t frame = code ? seep_intern_frame(SEEP_FRAME_PYTHON, code, line) : 0;
    stack = frame ? seep_intern_stack(0, frame) : 0;
    seep_os_unlock(&seep_arena.lock);
    return stack ? seep_site_find(&p->sites, stack, SEEP_SPACE_HOST) : 0;
}

static void hand(struct pair *p, uintptr_t address, const struct seep_block *block)
{

    unsigned turns = 0;
    while (p->n_put - __atomic_load_n(&p->n_taken, __ATOMIC_SEQ_CST) == BOX && !is_over())
        wait_a_little(&turns);
    if (is_over())
        return;
    p->box[p->n_put % BOX] = (struct handed){address, *block};
    __atomic_store_n(&p->n_put, p->n_put + 1, __ATOMIC_SEQ_CST);
}

/* All pairs fill the same pages, so a line gets its table while others put, take and walk. */
static void *put_blocks(void *of)
{
    struct pair *p = of;
    uint32_t period = 1;

    for (uintptr_t page = newest_page; !is_over(); page += PAGE, period++) {
        const uint32_t site = make_site(p);
        __atomic_store_n(&newest_page, page, __ATOMIC_SEQ_CST);
        for (unsigned i = 0; site && i < OF_A_PAGE; i++) {
            const uintptr_t address = page + (i * MOST_PAIRS + p->number) * 64;
            const struct seep_block block = {
                .site = site, .birth = period, .bytes = i % 4 ? 48 : 1 << 20};
            seep_site_allocated(&p->sites, seep_site_at(site), 1, block.bytes, block.bytes, period);
            if (seep_live_put(address, &block))
                hand(p, address, &block);
        }
    }
    return NULL;
}

static void *take_blocks(void *of)
{
    struct pair *p = of;

    for (unsigned turns = 0; !is_over();) {
        if (p->n_taken == __atomic_load_n(&p->n_put, __ATOMIC_SEQ_CST)) {
            wait_a_little(&turns);
            continue;
        }
        const struct handed its = p->box[p->n_taken % BOX];
        struct seep_block block;
        __atomic_store_n(&p->n_taken, p->n_taken + 1, __ATOMIC_SEQ_CST);
        if (!seep_live_take_at(seep_live_page(its.address), its.address, &block) ||
            memcmp(&block, &its.block, sizeof block) != 0)
            note(LOST);
        else
            seep_site_freed(&p->takers_sites, &block, 1, block.bytes, block.birth + 1);
        count(&shared->taken);
    }
    return NULL;
}

/* Beside all others: which word it meets, it meets with its site. */
static void *walk(void *unused)
{
    (void)unused;
    while (!is_over()) {
        const uintptr_t from = __atomic_load_n(&newest_page, __ATOMIC_SEQ_CST);
        for (uintptr_t address = from; address < from + PAGE; address += 64) {
            struct seep_live_page *page = seep_live_page(address);
            const uint64_t word =
                page ? seep_live_search(page, seep_live_granule(address), false, false) : 0;
            if (!word)
                continue;
            if (!is_whole(seep_arena_base, seep_site_at(seep_word_block(word, 0).site)))
                note(WORD);
            count(&shared->walked);
        }
    }
    return NULL;
}

/* ---- the child: samples and processes ---------------------------------------------------------
 */

/* In place of what the library asks of /proc: all is the same number, which rises. */
bool seep_rss_look(uint64_t host_live_bytes, uint64_t about_bytes, struct seep_rss_sample *sample)
{
    static uint64_t n;

    (void)host_live_bytes;
    (void)about_bytes;
    n++;
    sample->period = (uint32_t)n;
    for (uint64_t *field = &sample->rss_bytes; field <= &sample->written_bytes; field++)
        *field = n;
    return true;
}

bool seep_map_any_by_touch(void)
{
    return true;
}

static bool is_one_sample(const struct seep_rss_sample *sample)
{
    for (const uint64_t *field = &sample->rss_bytes; field <= &sample->written_bytes; field++)
        if (*field != sample->rss_bytes)
            return false;
    return sample->period == (uint32_t)sample->rss_bytes;
}

static void *take_samples(void *unused)
{
    (void)unused;
    while (!is_over())
        seep_rss_final(NULL);
    return NULL;
}

/* Of processes that end at once, so when the table is full their entries serve others. */
static void *list_processes(void *unused)
{
    char path[32];

    (void)unused;
    for (int pid = FIRST_PID; !is_over(); pid++) {
        snprintf(path, sizeof path, "/bin/%d", pid);
        if (seep_job_list(pid, pid + 1, path, SEEP_ENTRY_STATIC))
            seep_job_reaped(pid, 0);
    }
    return NULL;
}

/* ---- the child --------------------------------------------------------------------------------
 */

/* One of each kind. The parent looks at these for as long as the child lives. */
static void tear(void)
{
    const struct seep_block nowhere = {.site = 1, .bytes = 1};
    struct seep_block torn = {.bytes = 48, .birth = 1};
    const uint32_t stack = seep_arena_take(SEEP_CHUNK_STACKS, sizeof(struct seep_stack), 8);
    const uint32_t site = seep_arena_take(SEEP_CHUNK_SITES, sizeof(struct seep_site), 64);
    const uint32_t detail = seep_arena_take(SEEP_CHUNK_DETAILS, sizeof(struct seep_detail), 64);
    struct seep_site *its = seep_arena_at(site);
    struct seep_header *header = seep_arena.header;
    struct seep_process *p = seep_job_list(FIRST_PID - 10, FIRST_PID - 9, "/bin/1", SEEP_ENTRY_OK);

    its->stack = stack; /* whose node is empty */
    its->detail = detail;
    its->slot_plus_1 = 1;
    torn.site = site / 8;
    (void)seep_live_put(newest_page + 4032, &torn);
    hand(&pairs[0], UINT64_C(0x550000000000), &nowhere);
    header->rss_peak = (struct seep_rss_sample){.t_ns = 1, .rss_bytes = UINT64_MAX};
    if (p)
        p->exec_path[0] = '\0';
}

static void start(pthread_t *thread, void *(*run)(void *), void *of)
{
    if (pthread_create(thread, NULL, run, of) != 0)
        exit(2);
}

static _Noreturn void be_job(enum theme theme, char *dir, const char *profile)
{
    const struct seep_header constants = {
        .max_bytes = PROFILE_BYTES, .inherited_end = SEEP_HEADER_BYTES, .pid = (uint32_t)getpid()};
    struct seep_job_request want = {
        .dir = dir, .capacity = 64, .host = "", .machine = "", .may_make = true};
    pthread_t threads[2 * MOST_PAIRS + 1], *thread = threads;

    if (seep_arena_create(profile, &constants) < 0)
        exit(2);
    seep_sites_first_own = SEEP_HEADER_BYTES / 64;
    seep_sites_threaded = true;
    seep_job_open(&want);
    if (!seep_job_map)
        exit(2);
    (void)seep_job_enter(1, false);
    for (unsigned i = 0; i < n_pairs; i++) {
        pairs[i].number = i;
        pairs[i].sites.slot = 2 * i;
        pairs[i].takers_sites.slot = 2 * i + 1;
    }
    if (tears) {
        (void)seep_os_lock(&seep_arena.lock);
        tear();
        seep_os_unlock(&seep_arena.lock);
    }
    __atomic_store_n(&shared->ready, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < n_pairs && (tears || theme == LIVE_SET || theme == PROFILE); i++) {
        if (!tears)
            start(thread++, put_blocks, &pairs[i]);
        start(thread++, take_blocks, &pairs[i]);
    }
    if (tears || theme == LIVE_SET)
        start(thread++, walk, NULL);
    if (!tears && theme == SAMPLES)
        start(thread++, take_samples, NULL);
    if (!tears && theme == PROCESSES)
        start(thread++, list_processes, NULL);
    while (thread > threads)
        pthread_join(*--thread, NULL);
    exit(0);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the parent: a reader ---------------------------------------------------------------------
 */

static void look_at_site(const char *base, const struct seep_site *site)
{
    if (!is_whole(base, site))
        note(SITE);
    count(&shared->sites);
}

static void look_at_detail(const char *base, const struct seep_site *site)
{
    const uint32_t ref = __atomic_load_n(&site->detail, __ATOMIC_ACQUIRE);

    if (ref < SEEP_HEADER_BYTES / 8)
        return;
    if (((const struct seep_detail *)at(base, ref))->site * UINT64_C(8) !=
        (uint64_t)((const char *)site - base))
        note(DETAIL);
    count(&shared->details);
}

enum { IN_A_CHUNK = SEEP_CHUNK_BYTES / sizeof(struct seep_site), BEHIND = 4 };

/* Until it is there; meanwhile the sites before it get their details. False: the time is over. */
static bool wait_for(const char *base, const struct seep_site *site,
                     const struct seep_site *before[BEHIND], double end_s)
{
    for (unsigned turns = 0; !is_published(site);) {
        for (unsigned b = 0; b < BEHIND; b++)
            if (before[b])
                look_at_detail(base, before[b]);
        wait_a_little(&turns);
        if (turns % 64 == 0 && now_s() >= end_s)
            return false;
    }
    return true;
}

/* Sites are taken in order: the next one is waited for, and looked at as soon as it is there. */
static void look_at_sites(const char *base, double end_s)
{
    const struct seep_header *header = (const struct seep_header *)base;
    const struct seep_site *before[BEHIND] = {NULL};
    unsigned n = 0;

    for (uint32_t i = 0; i < SEEP_MAX_CHUNKS && now_s() < end_s;) {
        const uint8_t type = __atomic_load_n(&header->chunk_types[i], __ATOMIC_ACQUIRE);
        const struct seep_site *site =
            (const void *)(base + SEEP_HEADER_BYTES + (uint64_t)i * SEEP_CHUNK_BYTES);
        for (uint32_t k = 0; type == SEEP_CHUNK_SITES && k < IN_A_CHUNK; k++, site++) {
            if (!wait_for(base, site, before, end_s))
                return;
            look_at_site(base, site);
            before[n++ % BEHIND] = site;
        }
        i += type != SEEP_CHUNK_FREE;
    }
}

/* As who has it mapped must: the time before and after. */
static void look_at_sample(const struct seep_rss_sample *peak)
{
    const uint64_t before = __atomic_load_n(&peak->t_ns, __ATOMIC_ACQUIRE);
    const struct seep_rss_sample copy = *peak;

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!before || __atomic_load_n(&peak->t_ns, __ATOMIC_RELAXED) != before)
        return;
    if (!is_one_sample(&copy))
        note(SAMPLE);
    count(&shared->samples);
}

static void look_at_processes(const struct seep_job *job)
{
    char path[32];

    for (unsigned i = 1; i < SEEP_MAX_PROCESSES; i++) { /* the first is the child itself */
        const struct seep_process *p = &job->processes[i];
        const uint32_t pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
        const struct seep_process copy = *p;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!pid || __atomic_load_n(&p->pid, __ATOMIC_RELAXED) != pid)
            continue;
        snprintf(path, sizeof path, "/bin/%u", pid);
        if (copy.ppid != pid + 1 || strcmp(copy.exec_path, path) != 0 ||
            copy.exec_entry != SEEP_ENTRY_STATIC)
            note(ENTRY);
        count(&shared->entries);
    }
}

static void *map_file(const char *path, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    return map;
}

/* Until then, beside one child. */
static void look_on(enum theme theme, const char *profile, const char *table, double end_s)
{
    const char *base = map_file(profile, PROFILE_BYTES);
    const struct seep_job *job = map_file(table, sizeof *job);

    do {
        if (tears || theme == PROFILE)
            look_at_sites(base, tears ? now_s() + 0.1 : end_s);
        for (unsigned i = 0; i < 1000 && (tears || theme == SAMPLES); i++)
            look_at_sample(&((const struct seep_header *)base)->rss_peak);
        if (tears || theme == PROCESSES)
            look_at_processes(job);
        if (theme == LIVE_SET)
            sleep_ms(1);
    } while (now_s() < end_s);
    munmap((void *)base, PROFILE_BYTES);
    munmap((void *)job, sizeof *job);
}

/* One child's life. False: it failed. */
static bool try_once(enum theme theme, double end_s)
{
    char dir[64] = "/tmp/seep-order-XXXXXX", profile[96], table[96];
    int status = -1;

    if (!mkdtemp(dir))
        return false;
    snprintf(profile, sizeof profile, "%s/1-1.seep", dir);
    snprintf(table, sizeof table, "%s/" SEEP_JOB_FILE, dir);
    shared->ready = shared->over = false;
    const pid_t child = fork();
    if (child == 0)
        be_job(theme, dir, profile);
    while (!__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) &&
           waitpid(child, &status, WNOHANG) == 0)
        sleep_ms(1);
    const bool began = __atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST);
    if (began)
        look_on(theme, profile, table, end_s);
    __atomic_store_n(&shared->over, true, __ATOMIC_SEQ_CST);
    if (began)
        waitpid(child, &status, 0);
    unlink(profile);
    unlink(table);
    rmdir(dir);
    return began && status == 0;
}

static int conclude(double seconds)
{
    unsigned n_found = 0;

    printf("%.0f s: %llu blocks taken, %llu words, %llu sites, %llu details, %llu samples, %llu "
           "entries seen;",
           seconds, (unsigned long long)shared->taken, (unsigned long long)shared->walked,
           (unsigned long long)shared->sites, (unsigned long long)shared->details,
           (unsigned long long)shared->samples, (unsigned long long)shared->entries);
    for (int i = 0; i < N_FAULTS; i++) {
        printf(" %s %llu", fault_names[i], (unsigned long long)shared->wrong[i]);
        n_found += shared->wrong[i] != 0;
    }
    printf("\n");
    return tears ? n_found != N_FAULTS : n_found != 0;
}

int main(int argc, char **argv)
{
    double seconds = 600;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--torn") == 0)
            tears = true;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else
            return fprintf(stderr, "usage: order-stress [--seconds N] [--torn]\n"), 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    const long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned quarter = n_processors < 4 ? 1 : (unsigned)n_processors / 4;
    n_pairs = quarter < MOST_PAIRS ? quarter : MOST_PAIRS;
    const double end_s = now_s() + seconds;
    unsigned n = 0;
    for (double now = now_s(); now < end_s; now = now_s(), n++) {
        const double then = now + LIFE_MS * 1e-3;
        if (!try_once((enum theme)(n % N_THEMES), then < end_s ? then : end_s)) {
            fprintf(stderr, "order-stress: the child could not begin, or died\n");
            return 2;
        }
    }
    return conclude(seconds);
}
