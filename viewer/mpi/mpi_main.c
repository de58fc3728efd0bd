/* `seep-mpi merge`: merges the digests of many nodes where MPI already is. */
#include "viewer/digest/digest_files.h"
#include "viewer/mpi/mpi_post.h"
#include "viewer/mpi/mpi_reduce.h"
#include "viewer/mpi/mpi_share.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Above all that a launcher has opened for a rank. */
enum { LAST_FD = 512 };

static bool take(void *to, const struct seep_option_given *given)
{
    struct seep_mpi_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_LOCAL:
        return (o->local = true);
    case SEEP_OPTION_OWN:
        return (o->own = true);
    case SEEP_OPTION_VERBOSE:
        return (o->verbose = true);
    case SEEP_OPTION_PATIENCE:
        return seep_option_seconds(given, 0.1, 86400, &o->patience_s);
    case SEEP_OPTION_SUMMARY:
        return (o->summary = true);
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_ROLES:
        return (o->roles = given->value);
    default:
        return false;
    }
}

/* Hydra, MPICH's launcher, sends the others SIGUSR1 when a rank dies, and where it has seen a
 * rank's output end before its connection, it ends them all. A descriptor that is closed last
 * prevents this. */
static void outlive_others(void)
{
    signal(SIGUSR1, SIG_IGN);
    if (fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, LAST_FD) < 0 ||
        fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, LAST_FD) < 0)
        return; /* few descriptors are allowed: as it was */
}

/* For tests: "RANK:SIGNAL" lets a rank die, or hang, before it passes on what it has. */
static void crash_for_test(int rank)
{
    const char *asked = getenv("SEEP_MPI_FALL");
    int who, number;

    if (asked && sscanf(asked, "%d:%d", &who, &number) == 2 && who == rank)
        raise(number);
}

static void tell_counts(const struct seep_mpi *m, double begin_s)
{
    const double ranks = m->size, mib = 1 << 20;
    const struct seep_mpi_counts *c = &m->counts;

    seep_complain(
        "ranks: %d; depth of the tree: %d; sent by a rank: %.3f MiB on average, %.3f at "
        "most; received by one: %.3f MiB at most; reading: %.3f s at most; merging: %.3f s "
        "at most; all: %.3f s",
        m->size, seep_mpi_depth(m->size), (double)c->sent_bytes / ranks / mib,
        (double)c->sent_most_bytes / mib,
        fmax((double)m->received_bytes, (double)c->received_most_bytes) / mib,
        fmax((double)m->read_us, (double)c->read_most_us) / 1e6,
        fmax((double)m->merge_us, (double)c->merge_most_us) / 1e6, seep_mpi_now_s() - begin_s);
}

static int output(const struct seep_digest *digest, const struct seep_mpi_options *o)
{
    const struct seep_analysis_options plain = {.roles_file = o->roles};
    int status = seep_digest_output(digest, o->out);
    json_t *report = NULL;

    if (!status && o->summary && o->out && (report = seep_output_report_of(o->out, &plain)))
        seep_output_summary(report, o->out);
    json_decref(report);
    return status;
}

/* ---- rank 0, and the others -------------------------------------------------------------- */

static int lead(struct seep_mpi *m, struct seep_mpi_part *part, double begin_s)
{
    struct seep_mpi_rest rest;
    int status = SEEP_EXIT_UNUSABLE;

    crash_for_test(m->rank);
    if (seep_mpi_merge_rest(m, part, &rest)) {
        seep_complain("not enough memory to merge: end other programs");
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    /* Hydra ends all ranks at the first line that one prints after another has died. */
    if (part->digest.numbers[SEEP_DIGEST_NUMBER_FOLDERS])
        status = output(&part->digest, m->options);
    else
        seep_complain("nothing is left to make a digest of");
    seep_mpi_tell_rest(m, part, &rest);
    if (m->options->verbose)
        tell_counts(m, begin_s);
    seep_mpi_end_others(m, part, &rest);
    fflush(NULL);
    /* One that hangs ends with this only. A launcher may lose what it has not read by then. */
    if (!rest.all_alive)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    if (!rest.all_alive)
        MPI_Abort(MPI_COMM_WORLD, status ? status : 1);
    seep_mpi_rest_fini(&rest);
    return status;
}

static int follow(struct seep_mpi *m, struct seep_mpi_part *part)
{
    crash_for_test(m->rank);
    seep_mpi_pass_on(m, part);
    int said = seep_mpi_serve_rest(m, part);
    if (said == SEEP_MPI_SAY_QUIT)
        _exit(0);
    if (said != SEEP_MPI_SAY_DONE) {
        seep_complain("rank %d hears nothing of rank 0 any more: it ends", m->rank);
        MPI_Abort(MPI_COMM_WORLD, SEEP_EXIT_UNUSABLE);
    }
    return 0;
}

static int merge(const struct seep_mpi_options *options, char **names, int n)
{
    const double begin = seep_mpi_now_s();
    struct seep_mpi m = {.options = options};
    struct seep_mpi_part part;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &m.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m.size);
    if (options->own && m.size == 1) {
        seep_complain(
            "MPI_Init() finds one rank: this seep-mpi is of another MPI than the launcher, "
            "or there is nothing to merge: build it with the launcher's mpicc, or use "
            "`seep merge`");
        return SEEP_EXIT_UNUSABLE;
    }
    m.n_children = seep_mpi_children(m.rank, m.size, m.children);
    m.links[0] = (struct seep_mpi_link){.rank = seep_mpi_parent(m.rank), .open = m.rank > 0};
    m.told_s = begin;
    if (seep_mpi_share_init(&m, names, n)) {
        seep_complain("not enough memory for the names of digests: end other programs");
        MPI_Abort(MPI_COMM_WORLD, SEEP_EXIT_UNUSABLE);
    }
    /* Without memory a rank has nothing, which rank 0 sees; but rank 0 has it all. */
    if (seep_mpi_reduce(&m, &part) && m.rank == 0)
        MPI_Abort(MPI_COMM_WORLD, SEEP_EXIT_UNUSABLE);
    int status = m.rank ? follow(&m, &part) : lead(&m, &part, begin);
    seep_mpi_part_fini(&part);
    seep_mpi_share_fini(&m);
    return status;
}

/* What is wrong with the options is told once. */
static int read_options(int argc, char **argv, struct seep_mpi_options *o)
{
    int rank = 0, quiet = -1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int told = rank ? dup(STDERR_FILENO) : -1;
    if (told >= 0 && (quiet = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0)
        dup2(quiet, STDERR_FILENO);
    int status = seep_options_read(argc, argv, take, o);
    if (status < 0 && optind >= argc && !o->own) {
        seep_complain("no digest is given: try `mpirun -n 8 seep-mpi merge A B -o C`");
        status = SEEP_EXIT_UNUSABLE;
    }
    if (quiet >= 0) {
        dup2(told, STDERR_FILENO);
        close(quiet);
    }
    if (told >= 0)
        close(told);
    return status;
}

/* argv[0] is the name of the page. */
static int run(int argc, char **argv)
{
    struct seep_mpi_options o = {.patience_s = 60};

    outlive_others();
    if (MPI_Init(NULL, NULL)) {
        seep_complain("MPI cannot be used here: merge with `seep merge`");
        return SEEP_EXIT_UNUSABLE;
    }
    signal(SIGUSR1, SIG_IGN);
    int status = read_options(argc, argv, &o);
    if (status < 0)
        status = merge(&o, argv + optind, argc - optind);
    MPI_Finalize();
    return status;
}

/* Help needs no MPI. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static char page[] = "mpi";

    if (asks_for_help(argc, argv))
        return seep_help_print(page);
    if (argc < 2 || strcmp(argv[1], "merge") != 0) {
        seep_complain("seep-mpi can merge: try `mpirun -n 8 seep-mpi merge A B -o C`");
        return SEEP_EXIT_UNUSABLE;
    }
    argv[1] = page;
    return run(argc - 1, argv + 1);
}
