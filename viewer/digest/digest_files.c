#include "viewer/digest/digest_files.h"

#include "libprof/digest/digest_merge.h"
#include "libprof/digest/digest_read.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_write.h"
#include "libprof/foreign/foreign_file.h"
#include "viewer/output.h"
#include "viewer/viewer.h"

#include <sys/stat.h>

/* On one line: equal digests are equal bytes. */
static int print(const json_t *digest, FILE *out, bool colour)
{
    (void)colour;
    if (json_dumpf(digest, out, JSON_COMPACT) || fputc('\n', out) == EOF)
        return -SEEP_EIO;
    return 0;
}

int seep_digest_of_file(struct seep_digest *d, const char *name, const char *roles,
                        struct seep_error *err)
{
    const struct seep_analysis_options options = {.roles_file = roles};
    struct stat st;

    if (stat(name, &st) || (!S_ISDIR(st.st_mode) && !seep_foreign_is_at(name)))
        return seep_digest_read(d, name, err);
    int rc = seep_digest_init(d);
    if (!rc)
        rc = seep_analyse_digest(name, &options, d, err);
    if (rc)
        seep_digest_fini(d);
    return rc;
}

int seep_digest_add_once(struct seep_digest *all, const struct seep_digest *one, const char *name)
{
    const size_t shared = seep_digest_shared(all, one);

    if (shared == one->sources.n && shared) {
        seep_complain("%s is in it already: the digest has it once", name);
        return 0;
    }
    if (shared) { /* sums cannot be taken apart again */
        seep_complain(
            "%s shares %zu of its %zu folders with the others: it is left out; merge digests "
            "that have no folder in common",
            name, shared, one->sources.n);
        seep_digest_add_to(all, SEEP_DIGEST_NUMBER_NOT_MERGED, 1);
        return 0;
    }
    int rc = seep_digest_merge(all, one);
    return rc ? rc : 1;
}

int seep_digest_add_file(struct seep_digest *all, const char *name, const char *roles)
{
    struct seep_error err = {0};
    struct seep_digest one;

    if (seep_digest_of_file(&one, name, roles, &err)) {
        seep_complain("%s: %s: the digest is of the others", err.file[0] ? err.file : name,
                      err.text);
        seep_digest_add_to(all, SEEP_DIGEST_NUMBER_NOT_MERGED, 1);
        return 0;
    }
    int added = seep_digest_add_once(all, &one, name);
    seep_digest_fini(&one);
    return added;
}

int seep_digest_output(const struct seep_digest *d, const char *out)
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
