/* Tasks, releases and results are messages on one socket for each worker; results carry the memory
 * file's descriptor, as torch.multiprocessing's "file_descriptor" strategy has it. A worker ends
 * when its socket does: no trainer leaves orphans behind, however it ends. */
#include "kernels/lab/scenarios/worker_queue.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct order {
    uint64_t task;
    bool release; /* of the oldest parcel; else a task */
};

struct answer {
    uint64_t task, n;
    int32_t rc;
    struct seep_error err;
};

struct worker {
    pid_t pid;
    int socket;
};

struct seep_worker_queue {
    unsigned n_workers;
    bool is_out;
    uint64_t next_take, next_task, end;
    struct worker workers[];
};

/* ---- parcels ------------------------------------------------------------------------------- */

int seep_parcel_alloc(size_t n, struct seep_parcel *out)
{
    *out = (struct seep_parcel){.fd = -1};
    if (!n || n > PTRDIFF_MAX)
        return -SEEP_EINVAL;
    int fd = memfd_create("seep-lab parcel", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)n))
        goto fail;
    void *bytes = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        goto fail;
    *out = (struct seep_parcel){.bytes = bytes, .n = n, .fd = fd};
    return 0;
fail:
    if (fd >= 0)
        close(fd);
    return -SEEP_ENOMEM;
}

void seep_parcel_drop(struct seep_parcel *parcel)
{
    if (parcel->bytes)
        munmap(parcel->bytes, parcel->n);
    if (parcel->bytes && parcel->fd >= 0)
        close(parcel->fd);
    *parcel = (struct seep_parcel){.fd = -1};
}

/* ---- messages ------------------------------------------------------------------------------ */

union rights {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_whole(int socket, void *message, size_t n, int fd)
{
    struct iovec part = {message, n};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    union rights rights = {0};
    ssize_t sent;

    if (fd >= 0) {
        header.msg_control = rights.bytes;
        header.msg_controllen = sizeof rights.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)n;
}

/* *fd: −1 where none came. False at the other side's end. */
static bool receive_whole(int socket, void *message, size_t n, int *fd)
{
    struct iovec part = {message, n};
    union rights rights = {0};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = rights.bytes,
                            .msg_controllen = sizeof rights.bytes};
    ssize_t got;

    *fd = -1;
    do
        got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    /* A reset is reported once: the other side ended before reading its orders. Its last messages
     * follow. */
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    const struct cmsghdr *c = got < 0 ? NULL : CMSG_FIRSTHDR(&header);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return got == (ssize_t)n;
}

/* ---- the worker ---------------------------------------------------------------------------- */

/* What it has made and the trainer has not released: results made ahead, and the one in use. */
struct made {
    struct seep_parcel parcels[SEEP_WORKER_QUEUE_MAX_DEPTH + 1];
    unsigned first, n;
};

static void drop_oldest(struct made *made)
{
    if (!made->n)
        return;
    seep_parcel_drop(&made->parcels[made->first]);
    made->first = (made->first + 1) % (SEEP_WORKER_QUEUE_MAX_DEPTH + 1);
    made->n--;
}

/* False: the worker ends. */
static bool make_one(const struct seep_worker_job *job, int socket, uint64_t task,
                     struct made *made)
{
    struct answer answer = {.task = task};
    struct seep_parcel parcel = {.fd = -1};

    answer.rc = job->make(job->arg, task, &parcel, &answer.err);
    answer.n = parcel.n;
    bool sent = send_whole(socket, &answer, sizeof answer, answer.rc ? -1 : parcel.fd);
    if (!sent || answer.rc) {
        seep_parcel_drop(&parcel);
        return false;
    }
    /* The descriptor is on its way; the map keeps the memory. */
    close(parcel.fd);
    parcel.fd = -1;
    made->parcels[(made->first + made->n++) % (SEEP_WORKER_QUEUE_MAX_DEPTH + 1)] = parcel;
    return true;
}

/* The name tells a profiler what this process is. Ends by _exit() as torch's workers do: atexit()
 * handlers belong to the trainer. */
static __attribute__((noinline, noreturn)) void worker_loop(const struct seep_worker_job *job,
                                                            unsigned worker, int socket)
{
    struct made made = {0};
    struct answer refusal = {0};
    struct order order;
    int fd;

    if (job->begin)
        refusal.rc = job->begin(job->arg, worker, &refusal.err);
    if (refusal.rc) {
        (void)send_whole(socket, &refusal, sizeof refusal, -1);
        _exit(1);
    }
    while (receive_whole(socket, &order, sizeof order, &fd)) {
        if (order.release)
            drop_oldest(&made);
        else if (!make_one(job, socket, order.task, &made))
            _exit(1);
    }
    _exit(0);
}

/* ---- the trainer --------------------------------------------------------------------------- */

static int start_worker(struct seep_worker_queue *q, const struct seep_worker_job *job,
                        struct seep_error *err)
{
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return seep_error_set(err, SEEP_EIO, "", 0, "cannot open a socket for a worker: %s",
                              strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        /* Otherwise this worker would keep the older ones' sockets open after the trainer has
         * ended. */
        for (unsigned i = 0; i < q->n_workers; i++)
            close(q->workers[i].socket);
        close(sockets[0]);
        worker_loop(job, q->n_workers, sockets[1]);
    }
    close(sockets[1]);
    if (pid < 0) {
        close(sockets[0]);
        return seep_error_set(err, SEEP_EIO, "", 0, "cannot start a worker: %s", strerror(errno));
    }
    q->workers[q->n_workers++] = (struct worker){.pid = pid, .socket = sockets[0]};
    return 0;
}

static bool hand_out(struct seep_worker_queue *q)
{
    struct order order = {.task = q->next_task};

    if (q->end && order.task >= q->end)
        return true;
    if (!send_whole(q->workers[order.task % q->n_workers].socket, &order, sizeof order, -1))
        return false;
    q->next_task++;
    return true;
}

int seep_worker_queue_create(const struct seep_worker_job *job, unsigned n_workers, unsigned depth,
                             struct seep_worker_queue **out, struct seep_error *err)
{
    int rc = 0;

    *out = NULL;
    if (!n_workers || n_workers > SEEP_WORKER_QUEUE_MAX_WORKERS || !depth ||
        depth > SEEP_WORKER_QUEUE_MAX_DEPTH || (job->end && job->end <= job->first))
        return -SEEP_EINVAL;
    struct seep_worker_queue *q = calloc(1, sizeof *q + n_workers * sizeof q->workers[0]);
    if (!q)
        return -SEEP_ENOMEM;
    q->next_take = q->next_task = job->first;
    q->end = job->end;
    while (q->n_workers < n_workers && !rc)
        rc = start_worker(q, job, err);
    /* A worker that ends at once says why at the first take. */
    for (unsigned i = 0; i < n_workers * depth && !rc; i++) {
        if (!hand_out(q))
            break;
    }
    if (rc) {
        seep_worker_queue_destroy(q);
        return rc;
    }
    *out = q;
    return 0;
}

static int map_result(const struct answer *answer, int fd, struct seep_parcel *out)
{
    struct stat st;

    /* If it is shorter than promised, the mapping would end the trainer by SIGBUS. */
    if (fd < 0 || fstat(fd, &st) || st.st_size < 0 || (uint64_t)st.st_size < answer->n)
        return -SEEP_EIO;
    void *bytes = mmap(NULL, answer->n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return -SEEP_ENOMEM;
    *out = (struct seep_parcel){.bytes = bytes, .n = answer->n, .task = answer->task, .fd = -1};
    return 0;
}

int seep_worker_queue_receive(struct seep_worker_queue *q, struct seep_parcel *out,
                              struct seep_error *err)
{
    unsigned at = (unsigned)(q->next_take % q->n_workers);
    struct answer answer;
    int fd, rc;

    *out = (struct seep_parcel){.fd = -1};
    if (q->is_out || (q->end && q->next_take >= q->end))
        return -SEEP_EINVAL;
    if (!receive_whole(q->workers[at].socket, &answer, sizeof answer, &fd))
        rc = seep_error_set(err, SEEP_EIO, "", 0, "loader worker %u is gone", at);
    else if (answer.rc)
        rc = seep_error_set(err, -answer.rc, answer.err.file, answer.err.offset, "%s",
                            answer.err.text);
    else
        rc = map_result(&answer, fd, out);
    if (fd >= 0)
        close(fd);
    if (rc)
        return rc;
    q->is_out = true;
    q->next_take++;
    return 0;
}

void seep_worker_queue_refill(struct seep_worker_queue *q)
{
    (void)hand_out(q); /* a worker that is gone is found when its turn comes */
}

int seep_worker_queue_take(struct seep_worker_queue *q, struct seep_parcel *out,
                           struct seep_error *err)
{
    int rc = seep_worker_queue_receive(q, out, err);

    if (!rc)
        seep_worker_queue_refill(q);
    return rc;
}

void seep_worker_queue_stop(struct seep_worker_queue *q)
{
    for (unsigned i = 0; i < q->n_workers; i++)
        shutdown(q->workers[i].socket, SHUT_RDWR);
}

void seep_worker_queue_release(struct seep_worker_queue *q, struct seep_parcel *parcel)
{
    struct order order = {.release = true};

    if (!q->is_out || !parcel->bytes)
        return;
    (void)send_whole(q->workers[parcel->task % q->n_workers].socket, &order, sizeof order, -1);
    seep_parcel_drop(parcel);
    q->is_out = false;
}

void seep_worker_queue_destroy(struct seep_worker_queue *q)
{
    if (!q)
        return;
    for (unsigned i = 0; i < q->n_workers; i++)
        close(q->workers[i].socket);
    for (unsigned i = 0; i < q->n_workers; i++) {
        while (waitpid(q->workers[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    free(q);
}
