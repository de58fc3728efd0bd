#include "libprof/words/python_file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* …/lib/pythonX.Y/ and its variants: lib64, zipped. */
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

bool seep_python_file_calls_c(const char *path)
{
    return strncmp(path, "<frozen ", 8) == 0 || strstr(path, "/ctypes/");
}

bool seep_python_file_package(const char *path, char *package, size_t n)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    const size_t bytes = strlen(path);
    const char *at = NULL;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *found = strstr(path, folders[i]);
        at = found ? found + strlen(folders[i]) : at;
    }
    if (at)
        snprintf(package, n, "%.*s", (int)strcspn(at, "/."), at);
    else if (strstr(path, "/lib-dynload/") || (bytes > 3 && strcmp(path + bytes - 3, ".py") == 0 &&
                                               seep_python_file_is_library(path)))
        snprintf(package, n, "Python");
    else
        return false;
    return true;
}
