/* CPythons and the PyTorch beside them. Each is queried once, by a script that imports only modules
 * of the standard library. */
#include "viewer/doctor.h"

#include "libprof/format/python_layout.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ASK_SECONDS = 20,
    MAX_PYTHONS = 64,
};

static const char question[] = "import os, sys, sysconfig\n"
                               "print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3],\n"
                               "      sysconfig.get_config_var('Py_GIL_DISABLED') or 0)\n"
                               "for p in sys.path:\n"
                               "    t = os.path.join(p, 'torch')\n"
                               "    if os.path.isfile(os.path.join(t, 'version.py')):\n"
                               "        d = {}\n"
                               "        exec(open(os.path.join(t, 'version.py')).read(), d)\n"
                               "        print(d.get('__version__'), d.get('cuda') or '-', t)\n"
                               "        break\n";

extern char **environ;

static void show_torch(const char *line)
{
    char version[64], cuda[32], folder[PATH_MAX];

    if (sscanf(line, "%63s %31s %4095[^\n]", version, cuda, folder) != 3)
        return;
    if (strcmp(cuda, "-") == 0)
        seep_doctor_line("PyTorch", SEEP_DOCTOR_OK, "%-8s without CUDA, %s", version, folder);
    else
        seep_doctor_line("PyTorch", SEEP_DOCTOR_OK, "%-8s for CUDA %s, %s", version, cuda, folder);
}

static bool ask(const char *path, char *answer, int capacity)
{
    char program[PATH_MAX], option[] = "-c", script[sizeof question];
    char *argv[] = {program, option, script, NULL};

    snprintf(program, sizeof program, "%s", path);
    memcpy(script, question, sizeof question);
    return seep_doctor_spawn(argv, environ, ASK_SECONDS, answer, capacity) == 0;
}

bool seep_doctor_python(const char *path, bool needed)
{
    char answer[PATH_MAX + 256], name[32];
    int major, minor, micro, no_gil;

    if (!ask(path, answer, sizeof answer) ||
        sscanf(answer, "%31s %d.%d.%d %d", name, &major, &minor, &micro, &no_gil) != 5)
        return false;
    if (strcmp(name, "cpython") != 0)
        seep_doctor_line("Python", needed ? SEEP_DOCTOR_MISSING : SEEP_DOCTOR_PARTLY,
                         "%s %d.%d.%d %s: native stacks only; seep reads Python stacks of CPython",
                         name, major, minor, micro, path);
    else if (!seep_python_layout_find((uint32_t)major << 24 | (uint32_t)minor << 16))
        seep_doctor_line(
            "Python", needed ? SEEP_DOCTOR_MISSING : SEEP_DOCTOR_PARTLY,
            "%d.%d.%d %s: native stacks only; seep reads Python stacks of 3.%u to 3.%u", major,
            minor, micro, path, seep_python_layouts[0]->minor,
            seep_python_layouts[SEEP_PYTHON_LAYOUTS - 1]->minor);
    else if (no_gil)
        seep_doctor_line("Python", needed ? SEEP_DOCTOR_MISSING : SEEP_DOCTOR_PARTLY,
                         "%d.%d.%d %s: native stacks only; it has no GIL (free-threaded)", major,
                         minor, micro, path);
    else
        seep_doctor_line("Python", SEEP_DOCTOR_OK, "%d.%d.%d %s", major, minor, micro, path);
    const char *torch = strchr(answer, '\n');
    if (torch && torch[1])
        show_torch(torch + 1);
    return true;
}

struct pythons {
    char *path[MAX_PYTHONS]; /* the path to run */
    char *key[MAX_PYTHONS];  /* resolved folder and file: one entry for python3 and python3.11 */
    int n;
};

/* "python3.13", "python3.14t"; not "python3-config" and others that begin like that. */
static bool is_name(const char *name)
{
    if (strncmp(name, "python", 6) != 0)
        return false;
    name += 6 + strspn(name + 6, "0123456789.");
    return strcmp(name, "") == 0 || strcmp(name, "t") == 0;
}

/* A virtual environment's python links to the system's, but has packages of its own. */
static void add(struct pythons *found, const char *path)
{
    char file[PATH_MAX], folder[PATH_MAX], copy[PATH_MAX], key[2 * PATH_MAX + 2];

    if (found->n == MAX_PYTHONS || strstr(path, "/shims/") || strlen(path) >= sizeof copy ||
        access(path, X_OK) < 0 || !realpath(path, file))
        return;
    const char *name = strrchr(file, '/') + 1;
    if (!is_name(name))
        return;
    strcpy(copy, path);
    *strrchr(copy, '/') = '\0';
    if (!realpath(copy[0] ? copy : "/", folder))
        return;
    snprintf(key, sizeof key, "%s %s", folder, file);
    for (int i = 0; i < found->n; i++) {
        if (strcmp(found->key[i], key) == 0)
            return;
    }
    found->path[found->n] = strdup(path);
    found->key[found->n] = strdup(key);
    if (found->path[found->n] && found->key[found->n])
        found->n++;
}

static void add_pattern(struct pythons *found, const char *folder, const char *pattern)
{
    char full[PATH_MAX];
    glob_t matches;

    if (!*folder || (size_t)snprintf(full, sizeof full, "%s/%s", folder, pattern) >= sizeof full)
        return;
    if (glob(full, 0, NULL, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc; i++)
            add(found, matches.gl_pathv[i]);
        globfree(&matches);
    }
}

static void add_folder(struct pythons *found, const char *folder)
{
    add_pattern(found, folder, "python3");
    add_pattern(found, folder, "python3.[0-9]*");
}

static void search(struct pythons *found)
{
    char folder[PATH_MAX];
    const char *list = getenv("PATH"), *home = getenv("HOME"), *pyenv = getenv("PYENV_ROOT");

    for (const char *p = list ? list : ""; *p; p += strspn(p, ":")) {
        int n = (int)strcspn(p, ":");
        if (n > 0 && n < PATH_MAX) {
            snprintf(folder, sizeof folder, "%.*s", n, p);
            add_folder(found, folder);
        }
        p += n;
    }
    add_folder(found, "/usr/bin");
    add_folder(found, "/usr/local/bin");
    if (pyenv)
        snprintf(folder, sizeof folder, "%s/versions/*/bin", pyenv);
    else
        snprintf(folder, sizeof folder, "%s/.pyenv/versions/*/bin", home ? home : "");
    add_pattern(found, folder, "python3");
}

void seep_doctor_pythons(void)
{
    static struct pythons found;
    int n = 0;

    search(&found);
    for (int i = 0; i < found.n; i++)
        n += seep_doctor_python(found.path[i], false);
    if (n == 0)
        seep_doctor_line("Python", SEEP_DOCTOR_MISSING,
                         "no CPython 3 on PATH, in /usr/bin or in pyenv: install python3");
}
