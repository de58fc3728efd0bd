/* Files of installed packages, by what their installers noted beside them. */
#include "libprof/code/packages/distribution.h"
#include "tests/suite.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64], packages[128];

static void write_file(const char *name, const char *bytes)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", packages, name);
    for (char *slash = path + strlen(packages) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fputs(bytes, out);
    ck_assert_int_eq(fclose(out), 0);
}

static void distribution(const char *stem, const char *name, const char *record)
{
    char path[256], text[128];

    snprintf(path, sizeof path, "%s.dist-info/METADATA", stem);
    snprintf(text, sizeof text, "Metadata-Version: 2.1\nName: %s\nVersion: 0\n\nName: no\n", name);
    write_file(path, text);
    snprintf(path, sizeof path, "%s.dist-info/RECORD", stem);
    if (record)
        write_file(path, record);
}

static void setup(void)
{
    strcpy(folder, "/tmp/seep-packages-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(packages, sizeof packages, "%s/lib/python3.12/site-packages", folder);
    char lib[192];
    snprintf(lib, sizeof lib, "mkdir -p %s", packages);
    ck_assert_int_eq(system(lib), 0);
    distribution("protobuf-7.36.2", "protobuf",
                 "google/__pycache__/x,,\ngoogle/protobuf/message.py,sha256=x,1\n");
    distribution("google_pasta-0.2.0", "google-pasta", "pasta/__init__.py,sha256=x,1\n");
    distribution("google_auth-2.0", "google-auth", "google/auth/a.py,sha256=x,1\n");
    distribution("google-1.0", "google", "googlesearch/a.py,sha256=x,1\n");
    distribution("numpy-2.5.5", "numpy",
                 "numpy/x.so,sha256=x,1\nnumpy.libs/libblas.so,sha256=x,1\n");
    distribution("scikit_learn-1.9", "scikit-learn", "sklearn/tree.so,sha256=x,1\n");
    write_file("annoy-1.17.egg-info/top_level.txt", "annoylib\nannoy\n");
    write_file("annoy-1.17.egg-info/PKG-INFO", "Name: annoy\n");
}

static void teardown(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static uint64_t now_ns(void)
{
    return ((uint64_t)time(NULL) + 10) * UINT64_C(1000000000);
}

static const struct {
    const char *file, *name, *version;
} files[] = {
    {"google/protobuf/message.py", "protobuf", "7.36.2"},
    {"google/auth/a.py", "google-auth", "2.0"},
    {"google/other/b.py", "google", ""}, /* nobody noted it */
    {"pasta/__init__.py", "google-pasta", "0.2.0"},
    {"numpy/x.so", "numpy", "2.5.5"},
    {"numpy.libs/libblas.so", "numpy", "2.5.5"},
    {"other/../numpy.libs/libblas.so", "numpy", "2.5.5"},
    {"sklearn/tree.so", "scikit-learn", "1.9"},
    {"annoylib.cpython-312-x86_64-linux-gnu.so", "annoy", "1.17"},
    {"mine/loader.py", "mine", ""},
};

TEST(a_file_belongs_to_the_distribution_that_noted_it, .to = N(files))
{
    struct seep_distribution found;
    char path[512];

    snprintf(path, sizeof path, "%s/%s", packages, files[_i].file);
    ck_assert(seep_distribution_of(path, now_ns(), &found));
    ck_assert_str_eq(found.name, files[_i].name);
    ck_assert_str_eq(found.version, files[_i].version);
}

/* An upgrade after the job says nothing of what the job used. */
TEST(what_came_after_the_job_began_has_no_version)
{
    struct seep_distribution found;
    char path[512];

    snprintf(path, sizeof path, "%s/numpy/x.so", packages);
    ck_assert(seep_distribution_of(path, UINT64_C(1000000000), &found));
    ck_assert_str_eq(found.name, "numpy");
    ck_assert_str_eq(found.version, "");
}

TEST(other_files_belong_to_none)
{
    struct seep_distribution found;

    ck_assert(!seep_distribution_of("/home/user/train.py", now_ns(), &found));
    ck_assert(!seep_distribution_of("", now_ns(), &found));
}

SUITE("distributions", .setup = setup, .teardown = teardown)
