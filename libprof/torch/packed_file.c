#include "libprof/torch/packed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gzFile seep_packed_open(const char *path, struct seep_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    gzFile file = NULL;

    if (fd < 0) {
        seep_error_set(err, SEEP_EIO, path, 0, "cannot open: %s", strerror(errno));
        return NULL;
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        seep_error_set(err, SEEP_EIO, path, 0, "not a regular file");
    else if (!(file = gzdopen(fd, "rb")))
        seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    if (!file)
        close(fd);
    return file;
}
