#include "libprof/who/find/profile_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_ANCESTORS = 64 };

static int open_one(const char *dir, const char *name, struct seep_profile **out,
                    struct seep_error *err)
{
    char path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int rc = seep_profile_open(path, out, err);
    if (rc)
        return rc;
    rc = seep_profile_load(*out, err);
    if (rc) {
        seep_profile_close(*out);
        *out = NULL;
    }
    return rc;
}

/* If an ancestor is missing, the stacks inherited from it stay unknown. A parent began earlier than
 * its child, so no circle of names is followed. */
static void open_ancestors(const char *dir, struct seep_profile *profile)
{
    for (int i = 0; i < MAX_ANCESTORS; i++) {
        struct seep_error ignored = {0};
        struct seep_profile *parent = NULL;
        const char *name = seep_profile_parent_name(profile);
        if (!name || open_one(dir, name, &parent, &ignored))
            return;
        if (parent->header->start_ns >= profile->header->start_ns) {
            seep_profile_close(parent);
            return;
        }
        profile->parent = parent;
        profile = parent;
    }
}

static void name_profile(char name[SEEP_NAME_BYTES], uint32_t pid, uint64_t start_ns)
{
    snprintf(name, SEEP_NAME_BYTES, "%" PRIu32 "-%" PRIx64 SEEP_PROFILE_SUFFIX, pid, start_ns);
}

uint64_t seep_profile_chain_bytes(const char *dir, uint32_t pid, uint64_t start_ns)
{
    char name[SEEP_NAME_BYTES], path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];
    struct stat st;

    name_profile(name, pid, start_ns);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

int seep_profile_chain_open(const char *dir, uint32_t pid, uint64_t start_ns,
                            struct seep_profile **out, struct seep_error *err)
{
    char name[SEEP_NAME_BYTES];

    name_profile(name, pid, start_ns);
    int rc = open_one(dir, name, out, err);
    if (!rc)
        open_ancestors(dir, *out);
    return rc;
}

void seep_profile_chain_close(struct seep_profile *profile)
{
    while (profile) {
        struct seep_profile *parent = profile->parent;
        seep_profile_close(profile);
        profile = parent;
    }
}
