#include "viewer/mpi/mpi_reduce.h"

#include "libprof/digest/digest_fit.h"
#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_write.h"
#include "viewer/digest/digest_files.h"
#include "viewer/mpi/mpi_post.h"
#include "viewer/mpi/mpi_share.h"
#include "viewer/viewer.h"

#include <jansson.h>
#include <limits.h>
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

/* ---- what this rank reads -------------------------------------------------------------------- */

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

/* ---- what a child has ------------------------------------------------------------------------ */

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

/* ---- on to the parent ------------------------------------------------------------------------ */

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

/* Rank 0 is taken for dead when it was silent for this many times the patience. */
enum { SILENCES = 10 };
enum { NO_ANSWER = INT_MIN };

/* ---- what did not reach rank 0 --------------------------------------------------------------- */

/* Parts that come too late leave their sender once they are taken. */
static void discard_late_parts(struct seep_mpi *m, const struct seep_mpi_part *part)
{
    char *bytes = NULL;
    size_t n;

    for (int i = 0; i < m->n_children; i++)
        if (!part->took[i] && seep_mpi_take(m, m->children[i], SEEP_MPI_PART,
                                            2 * SEEP_DIGEST_MAX_BYTES, &bytes, &n) > 0)
            free(bytes);
}

/* Asks each rank that is not covered whether it is there. Sets alive[size]. */
static void call(struct seep_mpi *m, const struct seep_mpi_part *part, bool *alive)
{
    const double until = seep_mpi_now_s() + m->options->patience_s;
    int left = 0;

    for (int r = 0; r < m->size; r++) {
        alive[r] = r == 0 || seep_mpi_is_covered(part, r);
        if (!alive[r]) {
            seep_mpi_send_word(m, r, SEEP_MPI_SAY_HERE, 0);
            left++;
        }
    }
    while (left && seep_mpi_now_s() < until) {
        discard_late_parts(m, part);
        for (int r = 1; r < m->size; r++)
            if (!alive[r] && seep_mpi_took_sign(m, r)) {
                alive[r] = true;
                left--;
            }
        seep_mpi_pause(m);
    }
}

/* Asks a rank for the digest of a name, and waits for the answer. Returns how many were added,
 * -SEEP_ENOMEM, or NO_ANSWER. */
static int ask(struct seep_mpi *m, struct seep_digest *all, int rank, int name)
{
    const double until = seep_mpi_now_s() + m->options->patience_s;
    struct seep_error err = {0};
    struct seep_digest one;
    char *bytes = NULL, called[64];
    size_t n = 0;
    int rc;

    seep_mpi_send_word(m, rank, SEEP_MPI_SAY_READ, name);
    while (!(rc = seep_mpi_take(m, rank, SEEP_MPI_ANSWER, SEEP_DIGEST_MAX_BYTES, &bytes, &n)) &&
           seep_mpi_now_s() < until)
        seep_mpi_pause(m);
    if (rc <= 0)
        return NO_ANSWER;
    snprintf(called, sizeof called, "digest %d of rank %d", name + 1, rank);
    rc = n ? seep_digest_from_bytes(&one, bytes, n, called, &err) : -SEEP_EIO;
    free(bytes);
    if (rc) {
        if (n) /* else the rank has told why */
            seep_complain("%s %s: the digest is of the others", called, err.text);
        seep_digest_add_to(all, SEEP_DIGEST_NUMBER_NOT_MERGED, 1);
        return 0;
    }
    rc = seep_digest_add_once(all, &one, called);
    seep_digest_fini(&one);
    return rc;
}

/* Adds a name that rank `of` should have read. Returns how many were added, -SEEP_ENOMEM, or
 * NO_ANSWER if nobody who sees it is alive. */
static int add_name(struct seep_mpi *m, struct seep_digest *all, int of, int name, bool *alive)
{
    const int node = m->ranks[of].node;

    if (node == m->me.node)
        return seep_digest_add_file(all, m->names[name], m->options->roles);
    for (int i = 0; i < m->size; i++) {
        const int rank = (of + i) % m->size;
        if (m->ranks[rank].node != node || !alive[rank])
            continue;
        int rc = ask(m, all, rank, name);
        if (rc != NO_ANSWER)
            return rc;
        alive[rank] = false;
    }
    return NO_ANSWER;
}

/* Merges the names of one rank. */
static int add_rank(struct seep_mpi *m, struct seep_digest *all, int rank,
                    struct seep_mpi_rest *rest)
{
    const struct seep_mpi_rank *r = &m->ranks[rank];

    for (int i = 0; i < seep_mpi_share_n(r); i++) {
        int rc = add_name(m, all, rank, seep_mpi_share_name(r, i), rest->alive);
        if (rc < 0 && rc != NO_ANSWER)
            return rc;
        rest->missing[rank] += rc == NO_ANSWER;
    }
    seep_digest_add_to(all, SEEP_DIGEST_NUMBER_NOT_MERGED, (uint64_t)rest->missing[rank]);
    return 0;
}

int seep_mpi_merge_rest(struct seep_mpi *m, struct seep_mpi_part *part, struct seep_mpi_rest *rest)
{
    *rest = (struct seep_mpi_rest){.alive = calloc((size_t)m->size, sizeof *rest->alive),
                                   .missing = calloc((size_t)m->size, sizeof *rest->missing)};
    int rc = rest->alive && rest->missing ? 0 : -SEEP_ENOMEM;

    if (!rc)
        call(m, part, rest->alive);
    for (int r = 0; r < m->size && !rc; r++)
        if (!seep_mpi_is_covered(part, r))
            rc = add_rank(m, &part->digest, r, rest);
    rest->all_alive = !rc;
    for (int r = 0; r < m->size && rest->all_alive; r++)
        rest->all_alive = rest->alive[r];
    return rc;
}

void seep_mpi_rest_fini(struct seep_mpi_rest *rest)
{
    free(rest->alive);
    free(rest->missing);
}

void seep_mpi_tell_rest(const struct seep_mpi *m, const struct seep_mpi_part *part,
                        const struct seep_mpi_rest *rest)
{
    for (int r = 0; r < m->size; r++) {
        if (seep_mpi_is_covered(part, r))
            continue;
        if (rest->missing[r])
            seep_complain("rank %d on %s does not answer: %d of its digests are not merged", r,
                          m->ranks[r].host, rest->missing[r]);
        else if (!rest->alive[r])
            seep_complain("rank %d on %s does not answer: others have read its digests", r,
                          m->ranks[r].host);
    }
}

/* Those whose digests were taken get it from who took them. */
static void pass_done_on(struct seep_mpi *m, const struct seep_mpi_part *part)
{
    for (int i = 0; i < m->n_children; i++)
        if (part->took[i])
            seep_mpi_send_word(m, m->children[i], SEEP_MPI_SAY_DONE, 0);
}

void seep_mpi_end_others(struct seep_mpi *m, const struct seep_mpi_part *part,
                         const struct seep_mpi_rest *rest)
{
    for (int r = 1; r < m->size; r++) {
        if (!rest->all_alive && rest->alive[r])
            seep_mpi_send_word(m, r, SEEP_MPI_SAY_QUIT, 0);
        else if (rest->all_alive && !seep_mpi_is_covered(part, r))
            seep_mpi_send_word(m, r, SEEP_MPI_SAY_DONE, 0);
    }
    if (rest->all_alive)
        pass_done_on(m, part);
    seep_mpi_drain(m);
}

/* ---- the others do what rank 0 asks ---------------------------------------------------------- */

static void answer(struct seep_mpi *m, int name)
{
    const bool mine = name >= 0 && name < m->me.n_names;
    struct seep_error err = {0};
    struct seep_digest one;
    char *bytes = NULL;

    if (mine && !seep_digest_of_file(&one, m->names[name], m->options->roles, &err)) {
        json_t *json = seep_digest_json(&one);
        bytes = json ? json_dumps(json, JSON_COMPACT) : NULL;
        json_decref(json);
        seep_digest_fini(&one);
    } else if (mine) {
        seep_complain("%s: %s: the digest is of the others",
                      err.file[0] ? err.file : m->names[name], err.text);
    }
    seep_mpi_send(m, 0, SEEP_MPI_ANSWER, bytes, bytes ? strlen(bytes) : 0);
}

/* Does what a word asks, if there is one. Returns what it was, or −1. */
static int obey(struct seep_mpi *m, int from)
{
    struct seep_mpi_word word = {.say = -1};
    char *bytes = NULL;
    size_t n = 0;

    if (seep_mpi_take(m, from, SEEP_MPI_WORD, sizeof word, &bytes, &n) <= 0)
        return -1;
    if (n == sizeof word)
        memcpy(&word, bytes, n);
    free(bytes);
    if (word.say == SEEP_MPI_SAY_HERE)
        seep_mpi_send(m, 0, SEEP_MPI_SIGN, NULL, 0);
    else if (word.say == SEEP_MPI_SAY_READ)
        answer(m, word.name);
    return word.say;
}

int seep_mpi_serve_rest(struct seep_mpi *m, const struct seep_mpi_part *part)
{
    const int parent = seep_mpi_parent(m->rank);
    double heard = seep_mpi_now_s();

    for (;;) {
        int said = obey(m, 0);
        if (said < 0 && parent)
            said = obey(m, parent);
        if (said == SEEP_MPI_SAY_QUIT)
            return said;
        if (said == SEEP_MPI_SAY_DONE)
            break;
        if (said >= 0 || seep_mpi_took_sign(m, parent))
            heard = seep_mpi_now_s();
        if (seep_mpi_now_s() - heard > SILENCES * m->options->patience_s)
            return -1;
        discard_late_parts(m, part);
        seep_mpi_pause(m);
    }
    pass_done_on(m, part);
    seep_mpi_drain(m);
    return SEEP_MPI_SAY_DONE;
}
