/* What a request to `seep view --serve` may ask for, and which host it may name. */
#include <check.h>

#include "tests/suite.h"
#include "viewer/serve/serve_rules.h"

static const char token[] = "0123456789abcdef";

TEST(there_are_three_paths)
{
    static const char *const others[] = {"",
                                         "/",
                                         "/0123456789abcdef",
                                         "/0123456789abcdee/",
                                         "/0123456789abcdef0/",
                                         "/0123456789ABCDEF/",
                                         "0123456789abcdef/",
                                         "//0123456789abcdef/",
                                         "/0123456789abcdef//",
                                         "/0123456789abcdef/data/",
                                         "/0123456789abcdef/dat",
                                         "/0123456789abcdef/../x",
                                         "/0123456789abcde/",
                                         "/1123456789abcdef/data"};

    ck_assert_int_eq(seep_serve_path_of("/0123456789abcdef/", token, false), SEEP_SERVE_PAGE);
    ck_assert_int_eq(seep_serve_path_of("/0123456789abcdef/data", token, false), SEEP_SERVE_DATA);
    ck_assert_int_eq(seep_serve_path_of("/0123456789abcdef/metrics", token, false),
                     SEEP_SERVE_METRICS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(seep_serve_path_of(others[i], token, true) == SEEP_SERVE_NOTHING, "%s",
                      others[i]);
}

TEST(the_metrics_alone_may_need_no_secret)
{
    ck_assert_int_eq(seep_serve_path_of("/metrics", token, true), SEEP_SERVE_METRICS);
    ck_assert_int_eq(seep_serve_path_of("/metrics", token, false), SEEP_SERVE_NOTHING);
    ck_assert_int_eq(seep_serve_path_of("/data", token, true), SEEP_SERVE_NOTHING);
    ck_assert_int_eq(seep_serve_path_of("/metrics/", token, true), SEEP_SERVE_NOTHING);
}

static bool is_own(const char *bound, const char *host)
{
    struct seep_serve_address address;

    ck_assert_msg(seep_serve_address_parse(bound, &address), "%s", bound);
    return seep_serve_host_is_own(&address, host);
}

TEST(this_machine_has_three_names)
{
    static const char *const bound[] = {"127.0.0.1:8080", "[::1]:8080"};

    for (size_t i = 0; i < 2; i++) {
        ck_assert(is_own(bound[i], "127.0.0.1:8080"));
        ck_assert(is_own(bound[i], "LOCALHOST:8080"));
        ck_assert(is_own(bound[i], "[::1]:8080"));
        ck_assert(!is_own(bound[i], "localhost"));
        ck_assert(!is_own(bound[i], "localhost:80800"));
        ck_assert(!is_own(bound[i], "localhost.evil.example:8080"));
        ck_assert(!is_own(bound[i], "evil.example:8080"));
        ck_assert(!is_own(bound[i], "::1:8080"));
        ck_assert(!is_own(bound[i], ""));
        ck_assert(!is_own(bound[i], NULL));
    }
    ck_assert(is_own("127.0.0.2:8080", "127.0.0.2:8080"));
    ck_assert(is_own("localhost:80", "localhost"));
}

TEST(another_address_has_its_own_name_alone)
{
    ck_assert(is_own("192.168.1.5:8080", "192.168.1.5:8080"));
    ck_assert(!is_own("192.168.1.5:8080", "localhost:8080"));
    ck_assert(!is_own("192.168.1.5:8080", "192.168.1.50:8080"));
    ck_assert(is_own("[2001:db8::1]:8080", "[2001:DB8::1]:8080"));
    ck_assert(!is_own("[2001:db8::1]:8080", "[::1]:8080"));
}

TEST(all_addresses_have_any_name)
{
    ck_assert(is_own("0.0.0.0:8080", "gpu-box:8080"));
    ck_assert(is_own("[::]:8080", "gpu-box"));
    ck_assert(!is_own("0.0.0.0:8080", NULL));
}

TEST(gzip_is_taken_where_it_is_said)
{
    static const char *const yes[] = {"gzip",
                                      "GZIP",
                                      "br, gzip",
                                      "gzip, deflate, br, zstd",
                                      "br;q=0, gzip;q=0.5",
                                      " \tgzip ;q=1",
                                      "gzip;q=0.001,br"};
    static const char *const no[] = {
        "",          "br", "xgzip",       "gzipx",   "x-gzip",   "gzip;q=0", "gzip; q=0.000, br",
        "gzip ;q=0", "*",  "identity,,,", ";q=gzip", ",gzip;q=x"};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(seep_serve_takes_gzip(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!seep_serve_takes_gzip(no[i]), "%s", no[i]);
    ck_assert(!seep_serve_takes_gzip(NULL));
}

TEST(a_version_is_named_by_its_tag)
{
    ck_assert(seep_serve_names_version("W/\"12\"", 12));
    ck_assert(seep_serve_names_version("\"1\", W/\"12\"", 12));
    ck_assert(seep_serve_names_version("*", 12));
    ck_assert(!seep_serve_names_version("W/\"112\", \"120\", 12", 12));
    ck_assert(!seep_serve_names_version("", 12));
    ck_assert(!seep_serve_names_version(NULL, 12));
}

SUITE("serve: what is asked")
