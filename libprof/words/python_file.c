#include "libprof/words/python_file.h"

#include <ctype.h>
#include <string.h>

/* …/lib/pythonX.Y/ and what replaces it: lib64, zipped. */
static bool in_python_library(const char *path)
{
    for (const char *at = path; (at = strstr(at, "/python")); at += 7) {
        const char *digit = at + 7;
        if (!isdigit((unsigned char)*digit))
            continue;
        while (isdigit((unsigned char)*digit) || *digit == '.')
            digit++;
        bool below_lib = at - path >= 4 && (strncmp(at - 4, "/lib", 4) == 0 ||
                                            (at - path >= 6 && strncmp(at - 6, "/lib64", 6) == 0));
        if (*digit == 't') /* free-threaded builds */
            digit++;
        if (below_lib && (*digit == '/' || strncmp(digit, "zip/", 4) == 0))
            return true;
    }
    return false;
}

bool seep_python_file_is_library(const char *path)
{
    return strncmp(path, "<frozen ", 8) == 0 || strstr(path, "/site-packages/") ||
           strstr(path, "/dist-packages/") || in_python_library(path);
}
