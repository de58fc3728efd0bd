#include "kernels/lab/scenarios/ranks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How many of its values a rank shares at a time. */
enum { WINDOW_FLOATS = 16384, ALIGNMENT = 64 };

struct seep_ranks {
    unsigned n;
    size_t bytes; /* of the whole mapping */
    pthread_barrier_t meeting;
    struct seep_error errors[SEEP_MAX_RANKS];
    int codes[SEEP_MAX_RANKS];
    float windows[SEEP_MAX_RANKS][WINDOW_FLOATS];
    _Alignas(ALIGNMENT) unsigned char results[]; /* [n][result_bytes] */
};

static struct seep_ranks *ranks_map(unsigned n, size_t result_bytes)
{
    pthread_barrierattr_t shared;
    size_t bytes = sizeof(struct seep_ranks) + n * result_bytes;
    struct seep_ranks *ranks =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (ranks == MAP_FAILED)
        return NULL;
    ranks->n = n;
    ranks->bytes = bytes;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&ranks->meeting, &shared, n);
    pthread_barrierattr_destroy(&shared);
    return ranks;
}

static pid_t start_rank(struct seep_ranks *ranks, unsigned rank, seep_rank_work *work, void *arg,
                        size_t result_bytes)
{
    char text[16];

    /* Before the fork: a watcher reads the environment as the child begins. */
    snprintf(text, sizeof text, "%u", rank);
    setenv("RANK", text, 1);
    snprintf(text, sizeof text, "%u", ranks->n);
    setenv("WORLD_SIZE", text, 1);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        /* A rank on its own would wait for the others for ever. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(EXIT_FAILURE);
        int rc = work(ranks, rank, arg, ranks->results + rank * result_bytes, &ranks->errors[rank]);
        ranks->codes[rank] = rc;
        exit(rc ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    return pid;
}

static void end_all(const pid_t *pids, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
    }
}

/* When a rank fails the others are ended, since they would wait for it. */
static int wait_for_all(struct seep_ranks *ranks, pid_t *pids, unsigned n, struct seep_error *err)
{
    int rc = 0, status;

    for (unsigned left = n; left;) {
        pid_t pid = wait(&status);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            return seep_error_set(err, SEEP_EIO, "", 0, "cannot wait for a rank: %s",
                                  strerror(errno));
        for (unsigned i = 0; i < n; i++) {
            if (pids[i] != pid)
                continue;
            pids[i] = 0;
            left--;
            if (status == 0 || rc)
                break;
            rc = ranks->codes[i] ? ranks->codes[i] : -SEEP_EIO;
            if (err && ranks->errors[i].text[0])
                *err = ranks->errors[i];
            seep_error_set(err, -rc, "", 0, "rank %u ended with wait status %d", i, status);
            end_all(pids, n);
        }
    }
    return rc;
}

int seep_ranks_run(unsigned n, seep_rank_work *work, void *arg, void *results, size_t result_bytes,
                   struct seep_error *err)
{
    pid_t pids[SEEP_MAX_RANKS] = {0};
    int rc = 0;

    if (n < 1 || n > SEEP_MAX_RANKS)
        return -SEEP_EINVAL;
    struct seep_ranks *ranks = ranks_map(n, result_bytes);
    if (!ranks)
        return -SEEP_ENOMEM;
    unsigned started = 0;
    for (; started < n && !rc; started++) {
        pids[started] = start_rank(ranks, started, work, arg, result_bytes);
        if (pids[started] < 0)
            rc = seep_error_set(err, SEEP_EIO, "", 0, "cannot fork a rank: %s", strerror(errno));
    }
    if (rc)
        end_all(pids, --started);
    int ended = wait_for_all(ranks, pids, started, err);
    if (!rc)
        rc = ended;
    memcpy(results, ranks->results, n * result_bytes);
    munmap(ranks, ranks->bytes);
    return rc;
}

void seep_ranks_mean(struct seep_ranks *ranks, unsigned rank, float *values, size_t n)
{
    for (size_t at = 0; at < n; at += WINDOW_FLOATS) {
        size_t count = n - at < WINDOW_FLOATS ? n - at : WINDOW_FLOATS;
        memcpy(ranks->windows[rank], values + at, count * sizeof *values);
        pthread_barrier_wait(&ranks->meeting);
        for (size_t i = 0; i < count; i++) {
            float sum = 0;
            for (unsigned r = 0; r < ranks->n; r++)
                sum += ranks->windows[r][i];
            values[at + i] = sum / (float)ranks->n;
        }
        pthread_barrier_wait(&ranks->meeting);
    }
}
