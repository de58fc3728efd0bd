/* A folder with files that look like /proc and like the cgroups of memory. */
#ifndef SEEP_TESTS_CGROUP_TREE_H
#define SEEP_TESTS_CGROUP_TREE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char top[32];

static inline void set_up(void)
{
    strcpy(top, "/tmp/seep-room-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
}

static inline void tear_down(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", top);
    ck_assert_int_eq(system(command), 0);
}

static inline void put(const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", top, name);
    for (char *p = path + strlen(top) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static inline void put_mb(const char *folder, const char *file, unsigned mb)
{
    char name[256], text[32];

    snprintf(name, sizeof name, "cg%s/%s", folder, file);
    snprintf(text, sizeof text, "%u000000\n", mb);
    put(name, text);
}

/* A hierarchy is mounted, of which this process sees the part from `root` on. */
static inline void mount_at(int version, const char *root)
{
    char text[512];

    snprintf(text, sizeof text,
             "21 20 0:5 / /proc rw - proc proc rw\n"
             "30 24 0:26 %s %s/cg rw,nosuid - %s cgroup %s\n",
             root, top, version == 2 ? "cgroup2" : "cgroup",
             version == 2 ? "rw,nsdelegate" : "rw,memory");
    put("proc/self/mountinfo", text);
}

static inline void process_is_in(const char *process, const char *lines)
{
    char name[64];

    snprintf(name, sizeof name, "proc/%s/cgroup", process);
    put(name, lines);
}

static inline const char *proc_folder(void)
{
    static char proc[64];

    snprintf(proc, sizeof proc, "%s/proc", top);
    return proc;
}

#endif
