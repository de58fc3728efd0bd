/* What `--serve ADDR:PORT` says. */
#include <check.h>

#include "tests/suite.h"
#include "viewer/serve/serve_address.h"

static struct seep_serve_address a;

TEST(nothing_is_this_machine_and_any_port)
{
    ck_assert(seep_serve_address_parse(NULL, &a));
    ck_assert_str_eq(a.host, "127.0.0.1");
    ck_assert_uint_eq(seep_serve_port(&a), 0);
    ck_assert(a.loopback && !a.wildcard);
}

TEST(an_address_is_read)
{
    static const struct {
        const char *text, *host;
        unsigned port;
        bool loopback, wildcard;
    } rows[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080, true, false},
        {"127.1.2.3:1", "127.1.2.3", 1, true, false},
        {"localhost:8080", "127.0.0.1", 8080, true, false},
        {"LocalHost", "127.0.0.1", 0, true, false},
        {":8080", "127.0.0.1", 8080, true, false},
        {"8080", "127.0.0.1", 8080, true, false},
        {"0", "127.0.0.1", 0, true, false},
        {"192.168.1.5:65535", "192.168.1.5", 65535, false, false},
        {"192.168.1.5", "192.168.1.5", 0, false, false},
        {"128.0.0.1:80", "128.0.0.1", 80, false, false},
        {"0.0.0.0:80", "0.0.0.0", 80, false, true},
        {"[::1]:8080", "[::1]", 8080, true, false},
        {"[::1]", "[::1]", 0, true, false},
        {"[::]:80", "[::]", 80, false, true},
        {"[2001:DB8:0:0::1]:80", "[2001:db8::1]", 80, false, false},
        {"[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]", 80, false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(seep_serve_address_parse(rows[i].text, &a), "%s", rows[i].text);
        ck_assert_str_eq(a.host, rows[i].host);
        ck_assert_uint_eq(seep_serve_port(&a), rows[i].port);
        ck_assert_msg(a.loopback == rows[i].loopback, "%s", rows[i].text);
        ck_assert_msg(a.wildcard == rows[i].wildcard, "%s", rows[i].text);
        ck_assert_msg(seep_serve_is_address(rows[i].text), "%s", rows[i].text);
    }
}

TEST(what_is_none_is_refused)
{
    static const char *const texts[] = {
        "",
        ":",
        "x",
        "host:80",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "65536",
        "99999999",
        "-1",
        "127.0.0.1:-1",
        "127.0.0.1:8 ",
        "1.2.3:80",
        "1.2.3.4.5:80",
        "::1",
        "::1:80",
        "[::1",
        "[::1]80",
        "[::1]:",
        "[]:80",
        "[1.2.3.4]:80",
        "[fe80::1%eth0]:80",
        "127.0.0.1:80:80",
        "[::1]:80]",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:80",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!seep_serve_address_parse(texts[i], &a), "%s", texts[i]);
}

/* Such a word is meant as an address, and if it is none it is said so; others are folders. */
TEST(a_folder_is_told_from_an_address)
{
    static const char *const meant[] = {"8080", "99999999", "host:80", ":80", "1.2.3:80", "::1"};
    static const char *const folders[] = {
        "profile.d", "./8080", "a:b", "dir/host:80", "1.2.3", "host:", "seep.train.12.d", ""};

    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        ck_assert_msg(seep_serve_is_address(meant[i]), "%s", meant[i]);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        ck_assert_msg(!seep_serve_is_address(folders[i]), "%s", folders[i]);
}

SUITE("serve: where")
