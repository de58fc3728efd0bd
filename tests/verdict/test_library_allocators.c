/* Which allocator of a library asked for memory: by the package and the names of its functions; and
 * which version of it is installed beside its file. */
#include "libprof/code/packages/library_allocators.h"
#include "tests/verdict/levels.h"

enum { LINE = 77 };

/* Functions with names that allocators have. */
__asm__(".text\n.globl mi_here, duckdb_je_here\n"
        ".type mi_here, @function\nmi_here:\n.skip 64\n.size mi_here, 64\n"
        ".type duckdb_je_here, @function\nduckdb_je_here:\n.skip 64\n.size duckdb_je_here, 64\n");

extern const char __executable_start[], mi_here[], duckdb_je_here[];

static char packages[64]; /* a folder of packages */

static void in_packages(const char *command)
{
    char text[6000];

    snprintf(text, sizeof text, "mkdir -p %s && cd %s && %s", packages, packages, command);
    ck_assert_int_eq(system(text), 0);
}

static void setup_packages(void)
{
    setup();
    snprintf(packages, sizeof packages, "/tmp/seep-%d/site-packages", (int)getpid());
}

static void teardown_packages(void)
{
    in_packages("rm -r -- \"${PWD%/*}\"");
    teardown();
}

/* A map that grows, which a function of a package's file asks for. */
static const json_t *asked_by(const char *file, const char *function, const char *beside)
{
    char path[128], command[5000];

    snprintf(path, sizeof path, "%s/%s", packages, file);
    snprintf(command, sizeof command, "mkdir -p catboost %s && cp %s %s", beside, own_path(), file);
    in_packages(command);
    const uint64_t at = (uint64_t)(function - __executable_start) + 8;
    builder_level(&b, builder_stack(&b, user(LINE), builder_native(&b, path, NULL, at)), MMAP, MIB,
                  LAST, ramp, &(struct ramp){FIRST, UINT32_MAX, 1, UINT32_MAX});
    return json_array_get(findings_with_symbols(), 0);
}

static bool is_said(const json_t *f, const char *what)
{
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    const bool said = evidence && strstr(evidence, what);

    free(evidence);
    return said;
}

static const struct {
    const char *file, *function, *beside, *name; /* NULL: none */
} libraries[] = {
    {"catboost/_catboost.so", mi_here, "catboost-1.2.10.dist-info",
     "(mimalloc) of CatBoost 1.2.10 "},
    {"catboost/_catboost.so", mi_here, "catboost_extra-9.dist-info",
     "(mimalloc) of CatBoost asked"},
    {"catboost/_catboost.so", duckdb_je_here, "catboost-1.2.10.dist-info", NULL},
    {"_duckdb.cpython-311-x86_64-linux-gnu.so", duckdb_je_here, "duckdb-2.0.1.dist-info",
     "(jemalloc) of DuckDB 2.0.1 "},
    {"other.so", mi_here, "catboost-1.2.10.dist-info", NULL},
};

TEST(an_allocator_is_told_by_its_package_and_a_function, .to = N(libraries))
{
    const json_t *f = asked_by(libraries[_i].file, libraries[_i].function, libraries[_i].beside);

    ck_assert_str_eq(text(f, "pattern"), "unbounded-growth");
    ck_assert_int_eq(is_said(f, "own allocator"), libraries[_i].name != NULL);
    ck_assert(!libraries[_i].name || is_said(f, libraries[_i].name));
}

TEST(each_row_says_by_what_it_is_told_and_what_to_do)
{
    static const struct seep_library_allocator list[] = {
#define SEEP_LIBRARY_ALLOCATOR(...) {__VA_ARGS__},
#include "libprof/code/packages/library_allocators.def"
#undef SEEP_LIBRARY_ALLOCATOR
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const struct seep_library_allocator *its = &list[i];
        ck_assert_msg(*its->library && *its->package && *its->function && *its->distribution &&
                          *its->allocator,
                      "%zu", i);
        ck_assert_msg(its->setting[strlen(its->setting) - 1] == '.', "%s", its->library);
    }
}

SUITE("library allocators", .setup = setup_packages, .teardown = teardown_packages)
