/* Which part of a launch a process is, by made-up environments, and the folder of a part. */
#include "libprof/runtime/program/cluster.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

#define TORCH(rank, local) "RANK=" rank, "LOCAL_RANK=" local, "WORLD_SIZE=8", "LOCAL_WORLD_SIZE=4"
#define TASK(rank, local, n)                                                                       \
    "SLURM_PROCID=" rank, "SLURM_LOCALID=" local, "SLURM_NODEID=1", "SLURM_STEP_NUM_TASKS=" n,     \
        "SLURM_JOB_ID=4711"
#define MPI(rank, local, n)                                                                        \
    "OMPI_COMM_WORLD_RANK=" rank, "OMPI_COMM_WORLD_LOCAL_RANK=" local, "OMPI_COMM_WORLD_SIZE=" n

static const struct {
    const char *what;
    const char *variables[16];
    int32_t rank, local_rank, node, world_size, part;
    const char *job_id;
} places[] = {
    {"nothing", {NULL}, -1, -1, -1, -1, -1, NULL},
    {"a rank of torchrun", {TORCH("5", "1"), "GROUP_RANK=1"}, 5, 1, 1, 8, 1, NULL},
    {"torchrun in a task", {TORCH("5", "1"), TASK("1", "0", "2")}, 5, 1, 1, 8, 1, "4711"},
    {"a rank of the job's own", {"RANK=5", TASK("1", "0", "2")}, 5, -1, 1, -1, 0, "4711"},
    {"a task", {TASK("3", "1", "4")}, 3, 1, 1, 4, 1, "4711"},
    {"a task alone", {TASK("0", "0", "1")}, 0, 0, 1, 1, -1, "4711"},
    {"a batch script",
     {"SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=8"},
     0,
     0,
     -1,
     -1,
     -1,
     NULL},
    {"a task with PMI 2", {"PMI_RANK=3", "PMI_SIZE=4", TASK("3", "1", "4")}, 3, 1, 1, 4, 1, "4711"},
    {"a task with PMIx",
     {"PMIX_RANK=3", "PMIX_NAMESPACE=slurm.4711.0", TASK("3", "1", "4")},
     3,
     1,
     1,
     4,
     1,
     "4711"},
    {"a task alone with PMIx", {"PMIX_RANK=0", TASK("0", "0", "1")}, 0, 0, 1, 1, -1, "4711"},
    {"PMIx alone", {"PMIX_RANK=3", "PMIX_NAMESPACE=x@1"}, 3, -1, -1, -1, 3, "x@1"},
    {"Open MPI on another node than its own",
     {MPI("5", "1", "8"), TASK("1", "0", "2")},
     5,
     1,
     -1,
     8,
     1,
     "4711"},
    {"Open MPI with one rank in each task",
     {MPI("0", "0", "1"), TASK("3", "1", "4")},
     0,
     0,
     -1,
     1,
     1,
     "4711"},
    {"Hydra", {"PMI_RANK=3", "PMI_SIZE=4", "MPI_LOCALRANKID=1"}, 3, 1, -1, 4, 1, NULL},
    {"a PMI without local ranks", {"PMI_RANK=3", "PMI_SIZE=4"}, 3, -1, -1, 4, 3, NULL},
    {"an indexed pod", {"JOB_COMPLETION_INDEX=2"}, 2, -1, 2, -1, 2, NULL},
    {"torchrun without a name", {"RANK=0", "TORCHELASTIC_RUN_ID=none"}, 0, -1, -1, -1, -1, NULL},
    {"no numbers", {"RANK=x", "WORLD_SIZE=", "SLURM_PROCID=-1"}, -1, -1, -1, -1, -1, NULL},
    {"a number that fits nowhere", {"RANK=99999999999"}, -1, -1, -1, -1, -1, NULL},
};

static const char *const *variables;

static const char *get(const char *name)
{
    const size_t n = strlen(name);

    for (const char *const *at = variables; *at; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}

TEST(a_process_is_the_part_that_its_launchers_say, .to = N(places))
{
    struct seep_cluster c;

    variables = places[_i].variables;
    seep_cluster_read(get, &c);
    ck_assert_msg(c.rank == places[_i].rank && c.local_rank == places[_i].local_rank &&
                      c.node == places[_i].node && c.world_size == places[_i].world_size &&
                      c.part == places[_i].part,
                  "%s: rank %d, local %d, node %d, of %d, part %d", places[_i].what, c.rank,
                  c.local_rank, c.node, c.world_size, c.part);
    ck_assert_pstr_eq(c.job_id, places[_i].job_id);
}

TEST(what_is_unknown_is_zero_in_a_profile_and_0_is_not)
{
    const struct seep_cluster none = {-1, -1, -1, -1, -1, -1, NULL, NULL, -1};
    const struct seep_cluster first = {.job_id = "a b\x80\n"};
    struct seep_rank_notes notes, empty = {0};

    memset(&notes, 0, sizeof notes);
    seep_cluster_note(&none, &notes);
    ck_assert_mem_eq(&notes, &empty, sizeof notes);
    seep_cluster_note(&first, &notes);
    ck_assert_uint_eq(notes.local_rank_plus_1, 1);
    ck_assert_uint_eq(notes.node_plus_1, 1);
    ck_assert_uint_eq(notes.restart_plus_1, 1);
    ck_assert_str_eq(notes.job_id, "a_b__");
    seep_cluster_note(&none, &notes);
    ck_assert_mem_eq(&notes, &empty, sizeof notes);
}

TEST(a_long_job_id_is_cut)
{
    char id[2 * SEEP_JOB_ID_BYTES];
    struct seep_rank_notes notes = {0};

    memset(id, 'x', sizeof id);
    id[sizeof id - 1] = '\0';
    const struct seep_cluster c = {.job_id = id};
    seep_cluster_note(&c, &notes);
    ck_assert_uint_eq(strlen(notes.job_id), SEEP_JOB_ID_BYTES - 1);
}

static const struct {
    const char *host;
    int32_t part;
    const char *name;
} names[] = {
    {"node17", 0, "node17-0"},
    {"node17.cluster.local", 107, "node17.cluster.local-107"},
    {"node17", -1, "node17"},
    {"../../etc", 1, "_._.._etc-1"},
    {"", 2147483647, "_-2147483647"},
    {"a b\xc3\xa4", 3, "a_b__-3"},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 4,
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-4"},
};

TEST(a_folder_is_named_after_the_host_and_the_part, .to = N(names))
{
    char name[SEEP_CLUSTER_FOLDER_BYTES];

    seep_cluster_folder(names[_i].host, names[_i].part, name);
    ck_assert_str_eq(name, names[_i].name);
}

SUITE("cluster")
