#include "preload/life/machine.h"

#include <string.h>
#include <sys/utsname.h>

#include "libprof/runtime/program/cluster.h"
#include "libprof/runtime/store/os.h"
#include "preload/job/job.h"
#include "preload/life/run_settings.h"

static uint64_t boot_number(void)
{
    char text[SEEP_BOOT_TEXT];
    return seep_os_read_file(SEEP_BOOT_FILE, text, sizeof(text)) > 0 ? seep_boot_number(text) : 0;
}

void seep_machine_join(bool sandboxed, bool by_wake)
{
    char machine[SEEP_CLUSTER_FOLDER_BYTES], part[SEEP_CLUSTER_FOLDER_BYTES];
    struct utsname names = {0};
    struct seep_cluster cluster;
    seep_cluster_read(seep_run_settings_variable, &cluster);
    if (!sandboxed)
        (void)seep_os_call3(SYS_uname, (long)&names, 0, 0);
    seep_cluster_folder(names.nodename, -1, machine);
    seep_cluster_folder(names.nodename, cluster.part, part);
    struct seep_job_request want = {.dir = seep_run_settings.dir,
                                    .capacity = sizeof(seep_run_settings.dir) - SEEP_NAME_BYTES,
                                    .part = cluster.part >= 0 && !by_wake ? part : NULL,
                                    .machine = machine,
                                    .host = names.nodename,
                                    .boot = boot_number(),
                                    .max_folder_bytes = seep_run_settings.max_folder_bytes,
                                    .may_make = !sandboxed};
    seep_job_open(&want);
}
