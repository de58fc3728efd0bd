/* What a report of a large job costs. Makes up profiles of PROCESSES processes with SITES sites
 * each, like ranks that run the same program: all stacks but one in fifty are common, one site in a
 * hundred holds much, one in thirty is active in many steps. Times `seep report` and `seep view` on
 * them and measures their memory.
 *   report [PROCESSES [SITES]]    default 64 and 100000 */
#include "tests/profile_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { START = 1000000000, FIRST = 10, STEPS = 500, LAST = FIRST + STEPS, FILES = 100, DEPTH = 6 };

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* A tree of Python calls, then one line a site; every second site has a native frame below it. */
static void add_sites(struct builder *b, unsigned process, unsigned n)
{
    uint32_t stacks[FILES][DEPTH] = {{0}}, native[FILES];
    char file[64];

    for (unsigned f = 0; f < FILES; f++) {
        snprintf(file, sizeof file, "/home/user/project/module_%u.py", f);
        for (unsigned d = 0; d < DEPTH; d++)
            stacks[f][d] =
                builder_stack(b, d ? stacks[f][d - 1] : 0, builder_python(b, file, "call", 10 + d));
        native[f] = builder_native(b, "/usr/lib/libtorch_cpu.so", NULL, 64 + 16 * f);
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned f = i % FILES, line = i % 50 ? i : process * n + i;
        snprintf(file, sizeof file, "/home/user/project/module_%u.py", f);
        uint32_t stack =
            builder_stack(b, stacks[f][i / FILES % DEPTH], builder_python(b, file, "line", line));
        if (i % 2)
            stack = builder_stack(b, stack, native[f]);
        uint64_t count = 2 + next_random() % 20,
                 size = 16 + next_random() % (i % 100 ? 256 : 65536);
        uint32_t site = builder_site(b, stack, 0, count, count * size, count / 2, count / 2 * size,
                                     1 + next_random() % LAST);
        if (i % 30 == 0) { /* those that matter over the steps */
            struct seep_point points[60];
            for (uint32_t p = 0; p < 60; p++)
                points[p] = (struct seep_point){FIRST + 8 * p, p % 7 + 1, (p % 7 + 1) * size};
            builder_detail(b, site, points, 60);
            ((struct seep_site *)builder_at(b, site))->last_period = LAST;
        }
    }
}

static void write_process(const char *folder, unsigned i, unsigned n_sites)
{
    struct builder b;
    char name[64];

    builder_init(&b, 100 + i, START + i);
    builder_header(&b)->process_plus_1 = i + 1;
    builder_header(&b)->ppid = i ? 100 : 1;
    add_sites(&b, i, n_sites);
    builder_timeline(&b, LAST, UINT64_C(1) << 30);
    snprintf(name, sizeof name, "%u-%x.seep", 100 + i, START + i);
    if (builder_write(&b, folder, name)) {
        perror(folder);
        exit(1);
    }
    builder_fini(&b);
}

static void time_command(const char *command, const char *folder)
{
    struct timespec from, to;
    struct rusage usage;
    int status;

    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t pid = fork();
    if (pid == 0) {
        execl(SEEP_PATH, "seep", command, "-o", "/dev/null", folder, NULL);
        _exit(127);
    }
    wait4(pid, &status, 0, &usage);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    printf("seep %s: %.2f s, %ld MiB resident at most, status %d\n", command, seconds,
           usage.ru_maxrss / 1024, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    unsigned processes = argc > 1 ? (unsigned)atoi(argv[1]) : 64;
    unsigned sites = argc > 2 ? (unsigned)atoi(argv[2]) : 100000;
    char folder[] = "/tmp/seep-bench-XXXXXX", command[64];

    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    struct seep_job *job = builder_job(100, START, STEPS, FIRST);
    job->n_processes = processes;
    for (unsigned i = 1; i < processes && i < SEEP_MAX_PROCESSES; i++)
        job->processes[i] =
            (struct seep_process){.pid = 100 + i, .ppid = 100, .start_ns = START + i, .follows = 1};
    if (builder_write_job(job, folder))
        perror(folder);
    free(job);
    for (unsigned i = 0; i < processes; i++)
        write_process(folder, i, sites);
    printf("%u processes with %u sites each\n", processes, sites);
    fflush(stdout);
    time_command("report", folder);
    time_command("view", folder);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return getenv("KEEP") ? puts(folder) < 0 : system(command) != 0;
}
