#include "viewer/mpi/mpi_post.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIGNS = 4 }; /* within the patience of those who wait for one */

/* What is on its way. */
struct sent {
    struct sent *next;
    MPI_Request request;
    void *bytes;
};

static struct sent *all_sent;
static MPI_Request sign_requests[SEEP_MPI_CHILDREN + 1];

double seep_mpi_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_over(MPI_Request *request)
{
    int over = 0;

    return MPI_Test(request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS || over;
}

/* Frees what has left. Returns whether all has. */
static bool sweep(void)
{
    for (struct sent **at = &all_sent; *at;) {
        struct sent *one = *at;
        if (is_over(&one->request)) {
            *at = one->next;
            free(one->bytes);
            free(one);
        } else {
            at = &one->next;
        }
    }
    return !all_sent;
}

void seep_mpi_send(struct seep_mpi *m, int to, enum seep_mpi_tag tag, void *bytes, size_t n)
{
    struct sent *one = n <= INT_MAX ? malloc(sizeof *one) : NULL;

    if (!one || MPI_Isend(bytes, (int)n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &one->request)) {
        free(one);
        free(bytes);
        return;
    }
    one->bytes = bytes;
    one->next = all_sent;
    all_sent = one;
    m->sent_bytes += n;
    sweep();
}

void seep_mpi_send_word(struct seep_mpi *m, int to, enum seep_mpi_say say, int name)
{
    struct seep_mpi_word *word = malloc(sizeof *word);

    if (!word)
        return;
    *word = (struct seep_mpi_word){.say = say, .name = name};
    seep_mpi_send(m, to, SEEP_MPI_WORD, word, sizeof *word);
}

void seep_mpi_drain(struct seep_mpi *m)
{
    const double until = seep_mpi_now_s() + m->options->patience_s;

    while (!sweep() && seep_mpi_now_s() < until)
        seep_mpi_pause(m);
}

/* Receives a message that has been seen. */
static int receive(struct seep_mpi *m, int from, enum seep_mpi_tag tag, char *to, int n)
{
    const double until = seep_mpi_now_s() + m->options->patience_s;
    MPI_Request request;

    if (MPI_Irecv(to, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request))
        return -1;
    for (;;) {
        int over = 0;
        if (MPI_Test(&request, &over, MPI_STATUS_IGNORE))
            return -1;
        if (over)
            return 0;
        if (seep_mpi_now_s() >= until)
            return -1;
        seep_mpi_pause(m);
    }
}

int seep_mpi_take(struct seep_mpi *m, int from, enum seep_mpi_tag tag, size_t most, char **bytes,
                  size_t *n)
{
    MPI_Status status;
    int there = 0, length = 0;

    if (MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status) || !there)
        return 0;
    if (MPI_Get_count(&status, MPI_BYTE, &length) || length < 0 || (size_t)length > most)
        return -1;
    *bytes = malloc((size_t)length + 1);
    if (!*bytes)
        return -1;
    /* One that is given up is not freed: the library may still write to it. */
    if (receive(m, from, tag, *bytes, length))
        return -1;
    (*bytes)[length] = '\0';
    *n = (size_t)length;
    m->received_bytes += *n;
    return 1;
}

bool seep_mpi_took_sign(struct seep_mpi *m, int from)
{
    char *bytes = NULL;
    size_t n;
    bool took = false;

    while (seep_mpi_take(m, from, SEEP_MPI_SIGN, 0, &bytes, &n) > 0) {
        free(bytes);
        took = true;
    }
    return took;
}

void seep_mpi_tell(struct seep_mpi *m)
{
    const double now = seep_mpi_now_s();

    if (now - m->told_s < m->options->patience_s / SIGNS)
        return;
    m->told_s = now;
    for (int i = 0; i <= m->n_children; i++) {
        struct seep_mpi_link *link = &m->links[i];
        if (link->sending && is_over(&sign_requests[i]))
            link->sending = false;
        if (link->open && !link->sending)
            link->sending = MPI_Isend(NULL, 0, MPI_BYTE, link->rank, SEEP_MPI_SIGN, MPI_COMM_WORLD,
                                      &sign_requests[i]) == MPI_SUCCESS;
    }
}

void seep_mpi_pause(struct seep_mpi *m)
{
    seep_mpi_tell(m);
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}
