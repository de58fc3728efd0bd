#include "viewer/mpi/mpi_reduce.h"

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_write.h"
#include "viewer/digest/digest_files.h"
#include "viewer/mpi/mpi_post.h"
#include "viewer/mpi/mpi_share.h"
#include "viewer/viewer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t covered_bytes(const struct seep_mpi *m)
{
    return ((size_t)m->size + 7) / 8;
}

static uint64_t us_since(double begin_s)
{
    return (uint64_t)(1e6 * (seep_mpi_now_s() - begin_s));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_counts(struct seep_mpi_counts *to, const struct seep_mpi_counts *more)
{
    to->sent_bytes += more->sent_bytes;
    to->received_bytes += more->received_bytes;
    to->merge_us += more->merge_us;
    to->sent_most_bytes = larger(to->sent_most_bytes, more->sent_most_bytes);
    to->received_most_bytes = larger(to->received_most_bytes, more->received_most_bytes);
    to->read_most_us = larger(to->read_most_us, more->read_most_us);
    to->merge_most_us = larger(to->merge_most_us, more->merge_most_us);
}

/* ---- what this rank reads ---------------------------------------------------------------- */

static int read_own(struct seep_mpi *m, struct seep_digest *all)
{
    const double begin = seep_mpi_now_s();

    for (int i = 0; i < seep_mpi_share_n(&m->me); i++) {
        const char *name = m->names[seep_mpi_share_name(&m->me, i)];
        if (seep_digest_add_file(all, name, m->options->roles) < 0)
            return -SEEP_ENOMEM;
        seep_mpi_tell(m);
    }
    m->read_us = us_since(begin);
    return 0;
}

/* ---- what a child has -------------------------------------------------------------------- */

/* Returns 0 if it is in `part` now; -SEEP_EINVAL if it is left out, -SEEP_ENOMEM. */
static int merge_child(struct seep_mpi *m, struct seep_mpi_part *part, int child, const char *bytes,
                       size_t n)
{
    const size_t head = sizeof(struct seep_mpi_counts), bits = covered_bytes(m);
    struct seep_mpi_counts counts;
    struct seep_digest one;
    struct seep_error err = {0};
    char name[64];

    if (n < head + bits)
        return -SEEP_EINVAL;
    snprintf(name, sizeof name, "what rank %d has", child);
    memcpy(&counts, bytes, head);
    if (seep_digest_from_bytes(&one, bytes + head + bits, n - head - bits, name, &err)) {
        seep_complain("%s %s", name, err.text);
        return -SEEP_EINVAL;
    }
    int rc = seep_digest_shared(&part->digest, &one) ? -SEEP_EINVAL
                                                     : seep_digest_merge(&part->digest, &one);
    seep_digest_fini(&one);
    for (size_t i = 0; i < bits && !rc; i++)
        part->covered[i] |= (uint8_t)bytes[head + i];
    if (!rc)
        add_counts(&m->counts, &counts);
    return rc;
}

/* Returns 1 while the child may still come. */
static int look_for_child(struct seep_mpi *m, struct seep_mpi_part *part, int i, double *heard_s)
{
    const size_t most = sizeof(struct seep_mpi_counts) + covered_bytes(m) + SEEP_DIGEST_MAX_BYTES;
    const int child = m->children[i];
    char *bytes = NULL;
    size_t n = 0;
    int rc = seep_mpi_take(m, child, SEEP_MPI_PART, most, &bytes, &n);

    if (rc > 0) {
        const double begin = seep_mpi_now_s();
        rc = merge_child(m, part, child, bytes, n);
        m->merge_us += us_since(begin);
        free(bytes);
        part->took[i] = rc == 0;
        m->links[1 + i] = (struct seep_mpi_link){.rank = child, .open = true};
        return rc == -SEEP_ENOMEM ? rc : 0;
    }
    if (rc < 0)
        return 0;
    if (seep_mpi_took_sign(m, child))
        *heard_s = seep_mpi_now_s();
    return seep_mpi_now_s() - *heard_s < m->options->patience_s;
}

static int wait_for_children(struct seep_mpi *m, struct seep_mpi_part *part)
{
    double heard_s[SEEP_MPI_CHILDREN];
    bool waits[SEEP_MPI_CHILDREN];
    int left = m->n_children;

    for (int i = 0; i < m->n_children; i++) {
        heard_s[i] = seep_mpi_now_s();
        waits[i] = true;
    }
    while (left) {
        for (int i = 0; i < m->n_children; i++) {
            int rc = waits[i] ? look_for_child(m, part, i, &heard_s[i]) : 1;
            if (rc < 0)
                return rc;
            left -= rc == 0;
            waits[i] = waits[i] && rc;
        }
        if (left)
            seep_mpi_pause(m);
    }
    return 0;
}

int seep_mpi_reduce(struct seep_mpi *m, struct seep_mpi_part *part)
{
    *part = (struct seep_mpi_part){.covered = calloc(covered_bytes(m), 1)};
    int rc = seep_digest_init(&part->digest);

    if (!part->covered)
        return -SEEP_ENOMEM;
    if (!rc)
        rc = read_own(m, &part->digest);
    if (!rc) {
        part->covered[m->rank / 8] |= (uint8_t)(1 << m->rank % 8);
        rc = wait_for_children(m, part);
    }
    if (rc) {
        seep_complain("rank %d has not enough memory to merge: end other programs", m->rank);
        memset(part->covered, 0, covered_bytes(m));
        memset(part->took, 0, sizeof part->took);
    }
    return rc;
}

void seep_mpi_part_fini(struct seep_mpi_part *part)
{
    seep_digest_fini(&part->digest);
    free(part->covered);
}

/* ---- on to the parent -------------------------------------------------------------------- */

void seep_mpi_pass_on(struct seep_mpi *m, const struct seep_mpi_part *part)
{
    const size_t head = sizeof(struct seep_mpi_counts), bits = covered_bytes(m);
    json_t *json = seep_mpi_is_covered(part, m->rank) ? seep_digest_json(&part->digest) : NULL;
    const size_t n = json ? json_dumpb(json, NULL, 0, JSON_COMPACT) : 0;
    char *bytes = n ? malloc(head + bits + n) : NULL;
    const size_t all = bytes ? head + bits + n : 0;

    if (bytes) {
        const uint64_t sent = m->sent_bytes + all;
        struct seep_mpi_counts counts = m->counts;
        add_counts(&counts,
                   &(struct seep_mpi_counts){sent, sent, m->received_bytes, m->received_bytes,
                                             m->read_us, m->merge_us, m->merge_us});
        memcpy(bytes, &counts, head);
        memcpy(bytes + head, part->covered, bits);
        json_dumpb(json, bytes + head + bits, n, JSON_COMPACT);
    }
    json_decref(json);
    seep_mpi_send(m, seep_mpi_parent(m->rank), SEEP_MPI_PART, bytes, all);
    m->links[0].open = false;
}
