/* `seep digest` and `seep merge`: one bounded summary of any number of processes. */
#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_write.h"
#include "libprof/read/part_folders.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct digest_options {
    const char *out, *roles;
};

static bool take(void *to, const struct seep_option_given *given)
{
    struct digest_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_ROLES:
        return (o->roles = given->value);
    default:
        return false;
    }
}

/* On one line: equal digests are equal bytes. */
static int print(const json_t *digest, FILE *out, bool colour)
{
    (void)colour;
    if (json_dumpf(digest, out, JSON_COMPACT) || fputc('\n', out) == EOF)
        return -SEEP_EIO;
    return 0;
}

static void complain(const char *name, const struct seep_error *err)
{
    seep_complain("%s: %s: the digest is of the others", err->file[0] ? err->file : name,
                  err->text);
}

/* The digest of a recorded folder, or of a file that holds one. */
static int read_one(struct seep_digest *d, const char *name, const char *roles,
                    struct seep_error *err)
{
    const struct seep_analysis_options options = {.roles_file = roles};
    struct stat st;

    if (stat(name, &st) || !S_ISDIR(st.st_mode))
        return seep_digest_read(d, name, err);
    int rc = seep_digest_init(d);
    if (!rc)
        rc = seep_analyse_digest(name, &options, d, err);
    if (rc)
        seep_digest_fini(d);
    return rc;
}

/* Adds one; what cannot be read, or is in it already, is told and counted. Returns how many were
 * added, or -SEEP_ENOMEM. */
static int add_one(struct seep_digest *all, const char *name, const char *roles)
{
    struct seep_error err = {0};
    struct seep_digest one;
    int rc = read_one(&one, name, roles, &err);

    if (rc) {
        complain(name, &err);
        seep_digest_add_to(all, SEEP_DIGEST_NUMBER_NOT_MERGED, 1);
        return 0;
    }
    if (seep_digest_shared(all, &one)) {
        seep_complain("%s is in it already: the digest has it once", name);
        seep_digest_fini(&one);
        return 0;
    }
    rc = seep_digest_merge(all, &one);
    seep_digest_fini(&one);
    return rc ? rc : 1;
}

static int write_digest(const struct seep_digest *d, const char *out)
{
    json_t *json = seep_digest_json(d);

    if (!json) {
        seep_complain("not enough memory to write the digest: end other programs");
        return SEEP_EXIT_UNUSABLE;
    }
    int status = seep_output(json, print, out);
    json_decref(json);
    return status;
}

/* Adds what a name stands for: itself, or the folders in it. Each is summed up by itself, so that a
 * job of any number of machines takes the memory of one. Returns how many were added, or
 * -SEEP_ENOMEM. */
static int add_name(struct seep_digest *all, const char *name, const char *roles)
{
    struct seep_part_folders parts;
    int added = 0, rc = seep_part_folders_find(&name, 1, &parts);

    for (size_t i = 0; i < parts.n && rc >= 0; i++) {
        rc = add_one(all, parts.dirs[i], roles);
        added += rc > 0;
    }
    if (parts.more)
        seep_complain("%s has more folders than are taken: name them, or merge their digests",
                      name);
    seep_part_folders_fini(&parts);
    return rc < 0 ? rc : added;
}

static int digest_of(char **names, size_t n, const struct digest_options *o)
{
    struct seep_digest all;
    int added = 0, rc = seep_digest_init(&all), status = SEEP_EXIT_UNUSABLE;

    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = add_name(&all, names[i], o->roles);
        added += rc > 0 ? rc : 0;
    }
    if (rc < 0)
        seep_complain("not enough memory to merge: end other programs");
    else if (added)
        status = write_digest(&all, o->out);
    else
        seep_complain("nothing is left to make a digest of");
    seep_digest_fini(&all);
    return status;
}

static int run(int argc, char **argv, const char *missing)
{
    struct digest_options o = {0};
    int status = seep_options_read(argc, argv, take, &o);

    if (status >= 0)
        return status;
    if (optind >= argc) {
        seep_complain("%s", missing);
        return SEEP_EXIT_UNUSABLE;
    }
    return digest_of(argv + optind, (size_t)(argc - optind), &o);
}

int seep_digest_main(int argc, char **argv)
{
    return run(argc, argv, "no profile is given: try `seep digest DIR`");
}

int seep_merge_main(int argc, char **argv)
{
    return run(argc, argv, "no digest is given: try `seep merge A B -o C`");
}
