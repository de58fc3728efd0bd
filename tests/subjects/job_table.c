/* Prints the table of processes in a profile folder, one line each: the source of reports.
 *   usage: job_table DIR */
#include <stdio.h>
#include <stdlib.h>

#include "libprof/format/profile_format.h"

int main(int argc, char **argv)
{
    char path[4096];
    struct seep_job *job = calloc(1, sizeof *job);

    snprintf(path, sizeof path, "%s/%s", argc > 1 ? argv[1] : ".", SEEP_JOB_FILE);
    FILE *f = fopen(path, "rb");
    if (!job || !f || fread(job, 1, sizeof *job, f) != sizeof *job ||
        job->magic != SEEP_JOB_MAGIC || job->version != SEEP_FORMAT_VERSION) {
        fprintf(stderr, "%s is no table of this version\n", path);
        return 1;
    }
    printf("[");
    for (unsigned i = 0, n = 0; i < job->n_processes && i < SEEP_MAX_PROCESSES; i++) {
        const struct seep_process *p = &job->processes[i];
        if (!p->pid)
            continue;
        printf("%s{\"pid\": %u, \"ppid\": %u, \"parent\": %u, \"uid\": %u, \"has_status\": %u, "
               "\"status\": %d, \"trouble\": %u, \"errno\": %d, \"name\": \"%.31s\", "
               "\"path\": \"%.63s\", \"entry\": %u}",
               n++ ? ",\n" : "", p->pid, p->ppid, p->parent_plus_1, p->uid, p->has_status,
               p->wait_status, p->trouble, p->trouble_errno, p->name, p->exec_path, p->exec_entry);
    }
    puts("]");
    fclose(f);
    free(job);
    return 0;
}
