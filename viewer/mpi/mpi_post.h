/* Messages between ranks, any of which may be dead or hang: nothing waits without an end. */
#ifndef SEEP_VIEWER_MPI_MPI_POST_H
#define SEEP_VIEWER_MPI_MPI_POST_H

#include "viewer/mpi/mpi_merge.h"

enum seep_mpi_tag {
    SEEP_MPI_PART = 1, /* child to parent: the digest of a part of the tree */
    SEEP_MPI_SIGN,     /* "I am alive": empty */
    SEEP_MPI_WORD,     /* from rank 0, or passed on by a parent: struct seep_mpi_word */
    SEEP_MPI_ANSWER,   /* to rank 0: the digest that it asked for; empty: it cannot be read */
};

enum seep_mpi_say {
    SEEP_MPI_SAY_HERE, /* are you there? give a sign to rank 0 */
    SEEP_MPI_SAY_READ, /* send the digest of names[name] to rank 0 */
    SEEP_MPI_SAY_DONE, /* pass it on to those whose digests you took, and end */
    SEEP_MPI_SAY_QUIT, /* end at once: some do not answer, and MPI_Finalize() would wait for them */
};

struct seep_mpi_word {
    int32_t say, name;
};

double seep_mpi_now_s(void);

/* Sends bytes[n], which it takes over, and returns at once. A message that never leaves costs its
 * memory. */
void seep_mpi_send(struct seep_mpi *m, int to, enum seep_mpi_tag tag, void *bytes, size_t n);
void seep_mpi_send_word(struct seep_mpi *m, int to, enum seep_mpi_say say, int name);

/* Waits until what was sent has left, at most for the patience. */
void seep_mpi_drain(struct seep_mpi *m);

/* Takes a message of at most `most` bytes if one is there. Returns 1 and *bytes to free() with a
 * NUL behind its n bytes; 0 if there is none; −1 if there was one and it is lost. */
int seep_mpi_take(struct seep_mpi *m, int from, enum seep_mpi_tag tag, size_t most, char **bytes,
                  size_t *n);

/* Takes an empty message if one is there. */
bool seep_mpi_took_sign(struct seep_mpi *m, int from);

/* Tells the open links that this rank is alive, if it is time for it. Between two long things. */
void seep_mpi_tell(struct seep_mpi *m);

/* The same, and sleeps for a moment: ranks may be more than CPUs. */
void seep_mpi_pause(struct seep_mpi *m);

#endif
