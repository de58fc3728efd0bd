#include "viewer/view/view_look.h"

#include "libprof/digest/digest_read.h"
#include "libprof/page/page_look.h"
#include "libprof/torch/torch_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Sixty-four processes, each with all that it may tell, are some 30 MB. */
enum { MAX_BYTES = 64 << 20 };

bool seep_view_is_look(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !seep_digest_is_at(path) &&
           !seep_torch_is_at(path);
}

static int load(const char *file, json_t **document, struct seep_error *err)
{
    json_error_t why;
    struct stat st;
    FILE *in = fopen(file, "re");

    if (!in || fstat(fileno(in), &st) < 0) {
        const int error = errno;
        if (in)
            fclose(in);
        return seep_error_set(err, SEEP_EIO, file, 0, "cannot be read (%s)", strerror(error));
    }
    *document = st.st_size <= MAX_BYTES ? json_loadf(in, JSON_REJECT_DUPLICATES, &why) : NULL;
    fclose(in);
    if (*document)
        return 0;
    if (st.st_size > MAX_BYTES)
        return seep_error_set(err, SEEP_EFORMAT, file, 0, "too large for a look: more than %d MiB",
                              MAX_BYTES >> 20);
    return seep_error_set(
        err, SEEP_EFORMAT, file, 0,
        "neither a digest nor a document of `seep look --format json`: line %d: %s", why.line,
        why.text);
}

int seep_view_look(const char *file, json_t **page, struct seep_error *err)
{
    json_t *document = NULL;
    int rc = load(file, &document, err);

    if (!rc)
        rc = seep_page_look(document, file, page, err);
    json_decref(document);
    return rc;
}
