/* `seep wake PID`: a process that waits (SEEP_WAIT=1), and its descendants that wait as well, begin
 * to record. Each is told by a file in its own /tmp; nothing else of it is touched. */
#include "libprof/format/profile_format.h"
#include "libprof/format/wake_format.h"
#include "viewer/look/process_stat.h"
#include "viewer/options/options.h"
#include "viewer/program.h"
#include "viewer/viewer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <seep_variables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_PROCESSES = 4096,
    MAX_TEXT = 16 << 20, /* of 65,530 mappings, the most that the kernel allows by itself */
    LABEL_BYTES = 64,
    MAX_WORDS = 64,
    BEGINS_WITHIN_MS = 3000,
    POLL_MS = 50,
    WAKE_PATH = 128,
};

struct waking {
    const char *out; /* the folder that was asked for; NULL: none */
    bool joins;      /* its own folder: others of its job may be recorded there already */
    pid_t pid;
    char folder[SEEP_PATH_BYTES]; /* absolute, as the process sees it */
    size_t n_told;
};

enum state { IS_GONE, IS_NO_LISTENER, IS_WAITING, IS_RECORDING };

/* A file of /proc/PID, with a zero byte behind it; NULL: it cannot be read. free() it. */
static char *proc_text(pid_t pid, const char *name, size_t *n)
{
    char path[64], *text = malloc(MAX_TEXT + 1);

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = text ? fopen(path, "re") : NULL;
    *n = file ? fread(text, 1, MAX_TEXT, file) : 0;
    const bool failed = !file || ferror(file);
    if (file)
        fclose(file);
    if (text)
        text[*n] = '\0';
    if (failed)
        free(text);
    return failed ? NULL : text;
}

/* Of lines that end with zero bytes. */
static const char *variable(const char *environment, size_t n, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = environment; at < environment + n; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static enum state state_of(pid_t pid)
{
    size_t n_maps, n;
    char *maps = proc_text(pid, "maps", &n_maps), *environment = proc_text(pid, "environ", &n);
    enum state state = IS_NO_LISTENER;

    if (!maps || !environment)
        state = IS_GONE;
    else if (strstr(maps, SEEP_PROFILE_SUFFIX "\n"))
        state = IS_RECORDING;
    else if (strstr(maps, "/libseep.so\n") && variable(environment, n, SEEP_VARIABLE_WAIT) &&
             !variable(environment, n, SEEP_VARIABLE_WOKEN))
        state = IS_WAITING;
    free(maps);
    free(environment);
    return state;
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* seep.NAME.PID.d, as `seep run` would name it. */
static void name_folder(pid_t pid, char *name, size_t capacity)
{
    char label[LABEL_BYTES] = "job", *words[MAX_WORDS + 1] = {NULL};
    size_t n, n_words = 0;
    char *command = proc_text(pid, "cmdline", &n);

    for (char *at = command; command && at < command + n && n_words < MAX_WORDS;
         at += strlen(at) + 1)
        words[n_words++] = at;
    if (n_words)
        seep_program_label(words, label, sizeof label);
    snprintf(name, capacity, "seep.%s.%d.d", label, (int)pid);
    free(command);
}

/* SEEP_OUT is relative to where the process began; what is asked for, to where we are. */
static bool choose_folder(struct waking *w)
{
    char name[LABEL_BYTES + 32], cwd[PATH_MAX] = "", link[64];
    size_t n;
    char *environment = proc_text(w->pid, "environ", &n);
    const char *theirs = environment ? variable(environment, n, SEEP_VARIABLE_OUT) : NULL;
    const char *chosen = w->out ? w->out : theirs && *theirs ? theirs : name;
    ssize_t length = 0;

    w->joins = chosen == theirs;
    name_folder(w->pid, name, sizeof name);
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)w->pid);
    if (chosen[0] != '/' && w->joins)
        length = readlink(link, cwd, sizeof cwd - 1);
    else if (chosen[0] != '/' && getcwd(cwd, sizeof cwd))
        length = (ssize_t)strlen(cwd);
    cwd[length > 0 ? length : 0] = '\0';
    const int bytes = snprintf(w->folder, sizeof w->folder, "%s%s%s", cwd, *cwd ? "/" : "", chosen);
    free(environment);
    return w->folder[0] == '/' && !strchr(w->folder, '\n') && bytes > 0 &&
           (size_t)bytes < sizeof w->folder - SEEP_NAME_BYTES;
}

static bool holds_profile(const char *path)
{
    DIR *dir = opendir(path);
    bool found = false;

    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        const char *dot = strrchr(e->d_name, '.');
        found = dot && strcmp(dot, SEEP_PROFILE_SUFFIX) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Makes it for the process's user, and those above it. False after a complaint. */
static bool make_folder(const struct waking *w, uid_t uid, gid_t gid)
{
    char path[SEEP_PATH_BYTES + 64];
    const int root = snprintf(path, sizeof path, "/proc/%d/root%s", (int)w->pid, w->folder) -
                     (int)strlen(w->folder);

    for (char *slash = strchr(path + root + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    if (mkdir(path, 0700) == 0)
        return geteuid() || !uid || chown(path, uid, gid) == 0;
    if (errno != EEXIST) {
        seep_complain("%s cannot be created (%s): choose another folder with -o DIR", w->folder,
                      strerror(errno));
        return false;
    }
    if (!w->joins && holds_profile(path)) {
        seep_complain("%s already holds a profile: choose another folder with -o DIR", w->folder);
        return false;
    }
    return true;
}

/* ---- telling it ------------------------------------------------------------------------------ */

/* Its number and its effective user, as it sees them itself. */
static bool know(pid_t pid, unsigned *number, uid_t *uid, gid_t *gid, unsigned *inside)
{
    size_t n;
    char *status = proc_text(pid, "status", &n), *map = proc_text(pid, "uid_map", &n);
    const char *user = status ? strstr(status, "\nUid:") : NULL;
    const char *group = status ? strstr(status, "\nGid:") : NULL;
    const char *numbers = status ? strstr(status, "\nNSpid:") : NULL;
    bool good = user && group && sscanf(user, "\nUid: %*u %u", uid) == 1 &&
                sscanf(group, "\nGid: %*u %u", gid) == 1;

    *number = (unsigned)pid;
    for (char *at = numbers ? (char *)numbers + 7 : NULL; at && *at && *at != '\n';)
        *number = (unsigned)strtoul(at, &at, 10);
    *inside = good ? *uid : 0;
    for (char *line = map; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "") {
        unsigned first, outside, count;
        if (good && sscanf(line, "%u %u %u", &first, &outside, &count) == 3 && *uid >= outside &&
            *uid - outside < count)
            *inside = first + (*uid - outside);
    }
    free(status);
    free(map);
    return good;
}

static bool write_word(const char *path, const struct waking *w, uid_t uid, gid_t gid)
{
    char fresh[WAKE_PATH + 8];

    snprintf(fresh, sizeof fresh, "%s.new", path);
    (void)unlink(fresh);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const bool good =
        dprintf(fd, "%s\n", w->folder) > 0 && (geteuid() || fchown(fd, uid, gid) == 0);
    return close(fd) == 0 && good && rename(fresh, path) == 0;
}

/* False after a complaint about the process that was asked for. */
static bool tell(struct waking *w, pid_t pid)
{
    char path[WAKE_PATH];
    unsigned number, inside;
    uid_t uid;
    gid_t gid;

    if (!know(pid, &number, &uid, &gid, &inside)) {
        if (pid == w->pid)
            seep_complain("process %d cannot be read any more: see whether it still runs",
                          (int)pid);
        return false;
    }
    if (pid == w->pid && !make_folder(w, uid, gid))
        return false;
    snprintf(path, sizeof path, "/proc/%d/root" SEEP_WAKE_FILE "%u-%u", (int)pid, inside, number);
    if (write_word(path, w, uid, gid)) {
        w->n_told++;
        return true;
    }
    if (pid == w->pid)
        seep_complain("process %d cannot be told (%s): run seep as its user, or as root", (int)pid,
                      strerror(errno));
    return false;
}

static bool tell_all(struct waking *w)
{
    struct seep_process_stat *list = calloc(MAX_PROCESSES, sizeof *list);
    bool more = false;
    const size_t n = list ? seep_process_tree(w->pid, list, MAX_PROCESSES, &more) : 0;

    if (!n)
        seep_complain("process %d has ended, or memory is short: see whether it still runs",
                      (int)w->pid);
    if (more)
        seep_complain("process %d has more than %d descendants, some of which were left out: wake "
                      "them by their own numbers",
                      (int)w->pid, (int)MAX_PROCESSES);
    for (size_t i = 0; i < n; i++)
        if (state_of(list[i].pid) == IS_WAITING && !tell(w, list[i].pid) && list[i].pid == w->pid)
            break;
    free(list);
    return w->n_told > 0;
}

static void say_how_it_went(const struct waking *w)
{
    const struct timespec gap = {.tv_nsec = POLL_MS * 1000 * 1000};
    enum state state = IS_WAITING;
    char children[64] = "";

    for (int ms = 0; ms < BEGINS_WITHIN_MS && state == IS_WAITING; ms += POLL_MS) {
        nanosleep(&gap, NULL);
        state = state_of(w->pid);
    }
    if (w->n_told > 1)
        snprintf(children, sizeof children, " and %zu of its children that waited", w->n_told - 1);
    if (state == IS_RECORDING)
        printf("process %d%s: recorded in %s\n", (int)w->pid, children, w->folder);
    else if (state == IS_WAITING)
        printf("process %d%s: will be recorded in %s, from the next allocations on\n", (int)w->pid,
               children, w->folder);
    else
        printf("process %d has ended meanwhile\n", (int)w->pid);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool take_option(void *to, const struct seep_option_given *given)
{
    struct waking *w = to;

    w->out = given->value;
    return given->option == SEEP_OPTION_WAKE_OUTPUT;
}

static bool take_pid(struct waking *w, const char *word)
{
    char *end;
    const long number = strtol(word, &end, 10);

    w->pid = (pid_t)number;
    if (end > word && !*end && number >= 1 && number <= INT32_MAX)
        return true;
    seep_complain("\"%s\" is no number of a process: try `seep wake PID`", word);
    return false;
}

static bool check(const struct waking *w)
{
    const enum state state = state_of(w->pid);

    if (state == IS_GONE)
        seep_complain("process %d cannot be read (%s): check its number, and run seep as its user",
                      (int)w->pid, strerror(errno));
    else if (state == IS_RECORDING)
        seep_complain("process %d is recorded already: try `seep top` or `seep report`",
                      (int)w->pid);
    else if (state == IS_NO_LISTENER)
        seep_complain("process %d does not wait for seep: start it with libseep.so in LD_PRELOAD "
                      "and SEEP_WAIT=1, or try `seep look %d`",
                      (int)w->pid, (int)w->pid);
    return state == IS_WAITING;
}

int seep_wake_main(int argc, char **argv)
{
    struct waking w = {0};
    const int status = seep_options_read(argc, argv, take_option, &w);

    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        seep_complain("%s: try `seep wake PID`",
                      optind == argc ? "no process is given" : "only one process can be woken");
        return SEEP_EXIT_UNUSABLE;
    }
    if (!take_pid(&w, argv[optind]) || !check(&w))
        return SEEP_EXIT_UNUSABLE;
    if (!choose_folder(&w)) {
        seep_complain("the folder's path is too long, or no path: choose another with -o DIR");
        return SEEP_EXIT_UNUSABLE;
    }
    if (!tell_all(&w))
        return SEEP_EXIT_UNUSABLE;
    say_how_it_went(&w);
    return fflush(stdout) ? SEEP_EXIT_UNUSABLE : 0;
}
