/* The library is tried on the smallest program at hand: seep itself. */
#include "libprof/format/profile_format.h"
#include "viewer/doctor.h"
#include "viewer/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_SECONDS = 20 };

/* Whether the profile's header is complete and has counted something. */
static bool is_good_profile(int dir_fd, const char *name)
{
    struct seep_header *header = malloc(sizeof *header);
    bool good = false;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    if (header && fd >= 0 && pread(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header)
        good = header->magic == SEEP_PROFILE_MAGIC && header->version == SEEP_FORMAT_VERSION &&
               header->check == seep_header_check(header) && header->n_chunks > 0;
    if (fd >= 0)
        close(fd);
    free(header);
    return good;
}

/* Looks for a good profile, and empties the folder as it goes. */
static bool take_profile(const char *folder)
{
    static const char suffix[] = SEEP_PROFILE_SUFFIX;
    bool good = false;
    DIR *d = opendir(folder);

    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > sizeof suffix - 1 && strcmp(e->d_name + n - (sizeof suffix - 1), suffix) == 0)
            good |= is_good_profile(dirfd(d), e->d_name);
        if (e->d_name[0] != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    return good;
}

static void show_crash(const char *shim, int signal)
{
    struct utsname kernel = {0};

    (void)uname(&kernel);
    seep_doctor_line("libseep.so", SEEP_DOCTOR_MISSING,
                     "a program with %s crashed (signal %d) on %s %s: `seep run` runs jobs without "
                     "seep here; report this line",
                     shim, signal, kernel.sysname, kernel.release);
}

static void try_shim(const char *shim, const char *folder)
{
    char preload[SEEP_PATH_BYTES + 16], out[SEEP_PATH_BYTES], self[] = "/proc/self/exe";
    char name[] = "version", said[64];
    char *argv[] = {self, name, NULL}, *environment[] = {preload, out, NULL};

    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", shim);
    snprintf(out, sizeof out, "SEEP_OUT=%s", folder);
    int status = seep_doctor_spawn(argv, environment, PROBE_SECONDS, said, sizeof said);
    bool recorded = take_profile(folder);
    if (status == 0 && strncmp(said, "seep ", 5) == 0 && recorded)
        seep_doctor_line("libseep.so", SEEP_DOCTOR_OK, "%s; a test profile was written and read",
                         shim);
    else if (status == 0)
        seep_doctor_line(
            "libseep.so", SEEP_DOCTOR_MISSING,
            "%s wrote no profile to %s: check that LD_PRELOAD works here and the disk has space",
            shim, folder);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
        show_crash(shim, WTERMSIG(status));
    else
        seep_doctor_line("libseep.so", SEEP_DOCTOR_MISSING,
                         "a program with %s %s: build or install seep again", shim,
                         WIFSIGNALED(status) ? "did not end" : "failed");
}

void seep_doctor_shim(void)
{
    struct seep_error err = {0};
    char shim[SEEP_PATH_BYTES], folder[512];
    const char *tmp = getenv("TMPDIR");

    if (seep_program_part(SEEP_PART_SHIM, shim, sizeof shim, &err) < 0) {
        seep_doctor_line("libseep.so", SEEP_DOCTOR_MISSING, "%s: %s: install seep again", err.file,
                         err.text);
        return;
    }
    snprintf(folder, sizeof folder, "%.400s/seep-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        seep_doctor_line("libseep.so", SEEP_DOCTOR_MISSING, "no test folder in %s (%s): set TMPDIR",
                         folder, strerror(errno));
        return;
    }
    try_shim(shim, folder);
    rmdir(folder);
}
