/* Loader workers: forked, with their results in shared memory. */
#include "kernels/lab/scenarios/worker_queue.h"
#include "tests/suite.h"

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 16, SECONDS = 10 };

/* What workers and test share. */
struct notes {
    pid_t pids[MAX_WORKERS];
    uint64_t made;     /* tasks, by all workers */
    uint64_t fails_at; /* this task's make() fails */
    uint64_t dies_at;  /* … ends the process */
    unsigned refuses;  /* this worker's begin() fails */
    uint64_t largest;  /* bytes of a result, which are its task's number mod 251 */
};

static struct notes *notes;

static void setup(void)
{
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(notes, MAP_FAILED);
    *notes = (struct notes){
        .fails_at = UINT64_MAX, .dies_at = UINT64_MAX, .refuses = UINT32_MAX, .largest = 5000};
}

static void teardown(void)
{
    munmap(notes, sizeof *notes);
}

static int begin(void *arg, unsigned worker, struct seep_error *err)
{
    struct notes *n = arg;

    n->pids[worker] = getpid();
    return worker == n->refuses ? seep_error_set(err, SEEP_ENODATA, "scenes", 7, "no scenes") : 0;
}

static size_t size_of(uint64_t task)
{
    return 1 + (size_t)(task * 977 % notes->largest);
}

static int make(void *arg, uint64_t task, struct seep_parcel *out, struct seep_error *err)
{
    struct notes *n = arg;

    __atomic_fetch_add(&n->made, 1, __ATOMIC_SEQ_CST);
    if (task == n->dies_at)
        raise(SIGKILL);
    if (task == n->fails_at)
        return seep_error_set(err, SEEP_EFORMAT, "scene.ply", 12, "no vertices");
    int rc = seep_parcel_alloc(size_of(task), out);
    if (!rc)
        memset(out->bytes, (int)(task % 251), out->n);
    return rc;
}

static struct seep_worker_queue *start(unsigned n_workers, unsigned depth)
{
    struct seep_worker_job job = {.arg = notes, .begin = begin, .make = make};
    struct seep_worker_queue *queue;

    ck_assert_int_eq(seep_worker_queue_create(&job, n_workers, depth, &queue, NULL), 0);
    return queue;
}

static bool is_filled(const struct seep_parcel *parcel)
{
    const uint8_t *bytes = parcel->bytes;
    size_t i = 0;

    while (i < parcel->n && bytes[i] == parcel->task % 251)
        i++;
    return i == parcel->n;
}

/* Takes parcels until there is an error, at most `most`; how many there were. */
static uint64_t take_all(struct seep_worker_queue *queue, uint64_t most, int *rc,
                         struct seep_error *err)
{
    struct seep_parcel parcel;
    uint64_t n = 0;

    *rc = 0;
    while (n < most && !(*rc = seep_worker_queue_take(queue, &parcel, err))) {
        ck_assert_uint_eq(parcel.task, n);
        ck_assert_uint_eq(parcel.n, size_of(n));
        ck_assert_msg(is_filled(&parcel), "task %d has bytes of another", (int)n);
        seep_worker_queue_release(queue, &parcel);
        n++;
    }
    return n;
}

TEST(batches_come_whole_and_in_order_from_any_number_of_workers, .to = 5)
{
    static const unsigned shapes[][2] = {{1, 1}, {1, 3}, {2, 1}, {3, 2}, {MAX_WORKERS, 2}};
    struct seep_worker_queue *queue = start(shapes[_i][0], shapes[_i][1]);
    int rc;

    ck_assert_uint_eq(take_all(queue, 100, &rc, NULL), 100);
    seep_worker_queue_destroy(queue);
}

/* Waits until that many tasks were made, and for more that must not come. */
static uint64_t settled(uint64_t n)
{
    for (int tries = SECONDS * 1000; tries && __atomic_load_n(&notes->made, __ATOMIC_SEQ_CST) < n;
         tries--)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    return __atomic_load_n(&notes->made, __ATOMIC_SEQ_CST);
}

TEST(workers_fill_the_queue_and_run_no_further_ahead)
{
    struct seep_worker_queue *queue = start(3, 2);
    struct seep_parcel parcel;

    ck_assert_uint_eq(settled(6), 6);
    ck_assert_int_eq(seep_worker_queue_take(queue, &parcel, NULL), 0);
    ck_assert_uint_eq(settled(7), 7);
    seep_worker_queue_release(queue, &parcel);
    ck_assert_uint_eq(settled(7), 7);
    seep_worker_queue_destroy(queue);
}

static unsigned maps_of_parcels(pid_t pid)
{
    char path[64], line[512];
    unsigned n = 0;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "seep-lab parcel") != NULL;
    fclose(f);
    return n;
}

/* Waits until the process has that many maps of parcels (a task counts as made before it has its
   own), and for a change that must not come. */
static void expect_maps(pid_t pid, unsigned n)
{
    for (int tries = SECONDS * 1000; tries && maps_of_parcels(pid) != n; tries--)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    ck_assert_uint_eq(maps_of_parcels(pid), n);
}

TEST(shared_memory_of_a_batch_is_given_back_once_it_is_released)
{
    struct seep_worker_queue *queue = start(2, 2);
    struct seep_parcel parcel;
    int rc;

    ck_assert_uint_eq(take_all(queue, 50, &rc, NULL), 50);
    settled(54);
    expect_maps(notes->pids[0], 2);
    expect_maps(notes->pids[1], 2);
    expect_maps(getpid(), 0);
    ck_assert_int_eq(seep_worker_queue_take(queue, &parcel, NULL), 0);
    settled(55);
    expect_maps(notes->pids[0], 3);
    expect_maps(getpid(), 1);
    seep_worker_queue_release(queue, &parcel);
    seep_worker_queue_destroy(queue);
}

TEST(a_batch_still_in_use_is_not_overtaken)
{
    struct seep_worker_queue *queue = start(1, 1);
    struct seep_parcel parcel, other;

    ck_assert_int_eq(seep_worker_queue_take(queue, &parcel, NULL), 0);
    ck_assert_int_eq(seep_worker_queue_take(queue, &other, NULL), -SEEP_EINVAL);
    seep_worker_queue_release(queue, &parcel);
    ck_assert_int_eq(seep_worker_queue_take(queue, &other, NULL), 0);
    ck_assert_uint_eq(other.task, 1);
    seep_worker_queue_release(queue, &other);
    seep_worker_queue_destroy(queue);
}

TEST(an_error_in_a_worker_reaches_the_trainer_with_its_words)
{
    struct seep_error err = {0};
    int rc;

    notes->fails_at = 11;
    struct seep_worker_queue *queue = start(4, 2);
    ck_assert_uint_eq(take_all(queue, 100, &rc, &err), 11);
    ck_assert_int_eq(rc, -SEEP_EFORMAT);
    ck_assert_str_eq(err.file, "scene.ply");
    ck_assert_uint_eq(err.offset, 12);
    ck_assert_str_eq(err.text, "no vertices");
    seep_worker_queue_destroy(queue);
}

TEST(a_worker_that_cannot_begin_says_why)
{
    struct seep_error err = {0};
    int rc;

    notes->refuses = 2;
    struct seep_worker_queue *queue = start(4, 2);
    ck_assert_uint_eq(take_all(queue, 100, &rc, &err), 2);
    ck_assert_int_eq(rc, -SEEP_ENODATA);
    ck_assert_str_eq(err.text, "no scenes");
    seep_worker_queue_destroy(queue);
}

TEST(a_pass_has_a_first_task_and_a_last, .to = 4)
{
    static const uint64_t ends[] = {8, 9, 13, 50}; /* fewer than the queue holds, and more */
    struct seep_worker_job job = {
        .arg = notes, .first = 7, .end = ends[_i], .begin = begin, .make = make};
    struct seep_worker_queue *queue;
    struct seep_parcel parcel;

    ck_assert_int_eq(seep_worker_queue_create(&job, 3, 2, &queue, NULL), 0);
    for (uint64_t task = 7; task < ends[_i]; task++) {
        ck_assert_int_eq(seep_worker_queue_take(queue, &parcel, NULL), 0);
        ck_assert_uint_eq(parcel.task, task);
        ck_assert(is_filled(&parcel));
        seep_worker_queue_release(queue, &parcel);
    }
    ck_assert_int_eq(seep_worker_queue_take(queue, &parcel, NULL), -SEEP_EINVAL);
    ck_assert_uint_eq(settled(ends[_i] - 7), ends[_i] - 7);
    seep_worker_queue_destroy(queue);
}

TEST(a_killed_worker_is_an_error_and_no_hang)
{
    struct seep_error err = {0};
    int rc;

    notes->dies_at = 9;
    struct seep_worker_queue *queue = start(4, 2);
    ck_assert_uint_eq(take_all(queue, 100, &rc, &err), 9);
    ck_assert_int_eq(rc, -SEEP_EIO);
    ck_assert_str_eq(err.text, "loader worker 1 is gone");
    seep_worker_queue_destroy(queue);
}

/* Those whose parent has gone are nobody's children, and stay zombies where nobody reaps them. */
static bool is_gone(pid_t pid)
{
    char path[64], state = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return true;
    bool known = fscanf(f, "%*d (%*[^)]) %c", &state) == 1;
    fclose(f);
    return known && (state == 'Z' || state == 'X');
}

TEST(a_killed_trainer_leaves_no_workers_behind)
{
    pid_t trainer = fork();
    if (trainer == 0) {
        struct seep_worker_queue *queue = start(3, 2);
        (void)queue;
        for (;;)
            pause();
    }
    ck_assert_uint_eq(settled(6), 6);
    ck_assert_int_eq(kill(trainer, SIGKILL), 0);
    ck_assert_int_eq(waitpid(trainer, NULL, 0), trainer);
    for (unsigned i = 0; i < 3; i++) {
        int tries = SECONDS * 100;
        while (!is_gone(notes->pids[i]) && tries--)
            nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
        ck_assert_msg(tries > 0, "worker %u lives on", i);
    }
}

TEST(sizes_that_make_no_sense_are_refused)
{
    struct seep_worker_job job = {.arg = notes, .make = make};
    struct seep_worker_queue *queue;
    struct seep_parcel parcel;

    ck_assert_int_eq(seep_worker_queue_create(&job, 0, 1, &queue, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_worker_queue_create(&job, 1, 0, &queue, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(
        seep_worker_queue_create(&job, SEEP_WORKER_QUEUE_MAX_WORKERS + 1, 1, &queue, NULL),
        -SEEP_EINVAL);
    ck_assert_int_eq(
        seep_worker_queue_create(&job, 1, SEEP_WORKER_QUEUE_MAX_DEPTH + 1, &queue, NULL),
        -SEEP_EINVAL);
    job.first = job.end = 5;
    ck_assert_int_eq(seep_worker_queue_create(&job, 1, 1, &queue, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_parcel_alloc(0, &parcel), -SEEP_EINVAL);
    ck_assert_int_ne(seep_parcel_alloc(SIZE_MAX / 2, &parcel), 0);
    seep_parcel_drop(&parcel);
    seep_worker_queue_destroy(NULL);
}

SUITE("worker_queue", .setup = setup, .teardown = teardown, .timeout_s = 3 * SECONDS)
