#include "viewer/mpi/mpi_rest.h"

#include "libprof/digest/digest_fit.h"
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

/* Rank 0 is taken for dead when it was silent for this many times the patience. */
enum { SILENCES = 10 };
enum { NO_ANSWER = INT_MIN };

/* ---- rank 0 ------------------------------------------------------------------------------ */

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

/* ---- the others -------------------------------------------------------------------------- */

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
