/* `seep digest` and `seep merge`: one bounded summary of any number of processes. */
#include "libprof/read/part_folders.h"
#include "viewer/digest/digest_files.h"
#include "viewer/options/options.h"
#include "viewer/viewer.h"

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

/* Adds what a name stands for: itself, or the folders in it. Each is summed up by itself, so that a
 * job of any number of machines takes the memory of one. Returns how many were added, or
 * -SEEP_ENOMEM. */
static int add_name(struct seep_digest *all, const char *name, const char *roles)
{
    struct seep_part_folders parts;
    int added = 0, rc = seep_part_folders_find(&name, 1, &parts);

    for (size_t i = 0; i < parts.n && rc >= 0; i++) {
        rc = seep_digest_add_file(all, parts.dirs[i], roles);
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
        status = seep_digest_output(&all, o->out);
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
