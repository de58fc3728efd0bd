#include "viewer/mpi/mpi_share.h"

#include "libprof/base/text.h"
#include "libprof/read/part_folders.h"
#include "viewer/viewer.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names one after the other, each with its NUL. */
struct packed {
    char *bytes;
    size_t n, capacity;
    bool failed;
};

static void pack(struct packed *p, const char *name)
{
    const size_t n = strlen(name) + 1;

    if (p->failed || p->n + n > INT_MAX) {
        p->failed = true;
        return;
    }
    if (p->n + n > p->capacity) {
        const size_t capacity = 2 * (p->n + n);
        char *bytes = realloc(p->bytes, capacity);
        if (!bytes) {
            p->failed = true;
            return;
        }
        p->bytes = bytes;
        p->capacity = capacity;
    }
    memcpy(p->bytes + p->n, name, n);
    p->n += n;
}

/* What the given names stand for: themselves, or the folders in them. */
static void pack_all(struct packed *p, char **given, int n_given)
{
    for (int i = 0; i < n_given; i++) {
        const char *name = given[i];
        struct seep_part_folders parts;
        if (seep_part_folders_find(&name, 1, &parts))
            p->failed = true;
        for (size_t k = 0; k < parts.n; k++)
            pack(p, parts.dirs[k]);
        if (parts.more)
            seep_complain("%s has more folders than are taken: name them, or merge their digests",
                          name);
        seep_part_folders_fini(&parts);
    }
}

static int unpack(struct seep_mpi *m, size_t n)
{
    size_t count = 0, at = 0;

    for (size_t i = 0; i < n; i++)
        count += !m->name_bytes[i];
    m->names = calloc(count + 1, sizeof *m->names);
    if (!m->names)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        m->names[i] = m->name_bytes + at;
        at += strlen(m->names[i]) + 1;
    }
    m->me.n_names = (int32_t)count;
    return 0;
}

/* Fills `names` from the first rank of `near`. */
static int spread_names(struct seep_mpi *m, MPI_Comm near, char **given, int n_given)
{
    struct packed p = {0};
    int length;

    if (m->me.place == 0)
        pack_all(&p, given, n_given);
    length = p.failed ? -1 : (int)p.n;
    MPI_Bcast(&length, 1, MPI_INT, 0, near);
    if (length < 0) {
        free(p.bytes);
        return -SEEP_ENOMEM;
    }
    m->name_bytes = m->me.place == 0 ? p.bytes : malloc((size_t)length + 1);
    if (!m->name_bytes && length)
        return -SEEP_ENOMEM;
    MPI_Bcast(m->name_bytes, length, MPI_BYTE, 0, near);
    return unpack(m, (size_t)length);
}

static void name_host(struct seep_mpi_rank *me)
{
    char host[HOST_NAME_MAX + 1] = "";

    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    snprintf(me->host, sizeof me->host, "%s", host);
    seep_text_clean_in_place(me->host, strlen(me->host));
}

int seep_mpi_share_init(struct seep_mpi *m, char **given, int n_given)
{
    MPI_Comm near = MPI_COMM_WORLD;
    int place = m->rank, n = m->size, node = m->rank;

    if (m->options->own)
        near = MPI_COMM_SELF;
    else if (m->options->local)
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, m->rank, MPI_INFO_NULL, &near);
    MPI_Comm_rank(near, &place);
    MPI_Comm_size(near, &n);
    MPI_Bcast(&node, 1, MPI_INT, 0, near);
    m->me = (struct seep_mpi_rank){.node = node, .place = place, .n = n};
    name_host(&m->me);
    if (spread_names(m, near, given, n_given))
        return -SEEP_ENOMEM;
    if (m->options->local && !m->options->own)
        MPI_Comm_free(&near);
    if (m->rank == 0)
        m->ranks = calloc((size_t)m->size, sizeof *m->ranks);
    if (m->rank == 0 && !m->ranks)
        return -SEEP_ENOMEM;
    MPI_Gather(&m->me, sizeof m->me, MPI_BYTE, m->ranks, sizeof m->me, MPI_BYTE, 0, MPI_COMM_WORLD);
    return 0;
}

void seep_mpi_share_fini(struct seep_mpi *m)
{
    free(m->names);
    free(m->name_bytes);
    free(m->ranks);
}
