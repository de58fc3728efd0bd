/* One user's rights beside the owner's, and nobody else's. */
#include "preload/life/acl.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OWNER = 1, USER = 2, GROUP_OWNER = 4, GROUP = 8, MASK = 16, OTHERS = 32 };
#define NO_ID UINT32_MAX

static struct seep_acl acl;
static size_t n;

static void begin(unsigned mode)
{
    memset(&acl, 0, sizeof acl);
    acl.version = 2;
    n = 0;
    acl.entries[n++] = (struct seep_acl_entry){OWNER, (uint16_t)(mode >> 6 & 7), NO_ID};
    acl.entries[n++] = (struct seep_acl_entry){GROUP_OWNER, (uint16_t)(mode >> 3 & 7), NO_ID};
    acl.entries[n++] = (struct seep_acl_entry){OTHERS, (uint16_t)(mode & 7), NO_ID};
}

static void expect(size_t i, unsigned tag, unsigned permissions, uint32_t id)
{
    ck_assert_uint_lt(i, n);
    ck_assert_uint_eq(acl.entries[i].tag, tag);
    ck_assert_uint_eq(acl.entries[i].permissions, permissions);
    ck_assert_uint_eq(acl.entries[i].id, id);
}

TEST(one_user_is_let_in_and_taken_out_again)
{
    begin(0700);
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 7), 1);
    ck_assert_uint_eq(n, 5);
    expect(0, OWNER, 7, NO_ID);
    expect(1, USER, 7, 65534);
    expect(2, GROUP_OWNER, 0, NO_ID);
    expect(3, MASK, 7, NO_ID);
    expect(4, OTHERS, 0, NO_ID);
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 6), 0); /* it may already */
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 33, 6), 1);
    ck_assert_uint_eq(n, 6);
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 0), 1);
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 33, 0), 1);
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 33, 0), 0);
    expect(2, MASK, 0, NO_ID); /* as the group's bits were */
}

TEST(what_a_mask_hides_stays_hidden)
{
    begin(0770);
    acl.entries[2] = (struct seep_acl_entry){GROUP, 7, 100};
    acl.entries[3] = (struct seep_acl_entry){MASK, 4, NO_ID};
    acl.entries[4] = (struct seep_acl_entry){OTHERS, 0, NO_ID};
    n = 5;
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 7), 1);
    expect(1, USER, 7, 65534);
    expect(2, GROUP_OWNER, 4, NO_ID);
    expect(3, GROUP, 4, 100);
    expect(4, MASK, 7, NO_ID);
}

TEST(a_list_that_is_full_or_none_is_refused)
{
    begin(0600);
    for (uint32_t uid = 1000; n < SEEP_ACL_ENTRIES; uid++)
        ck_assert_int_eq(seep_acl_edit(&acl, &n, uid, 6), 1);
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 6), -ENOSPC);
    begin(0600);
    acl.version = 1;
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 6), -EINVAL);
    begin(0600);
    n = 2;
    ck_assert_int_eq(seep_acl_edit(&acl, &n, 65534, 6), -EINVAL);
}

TEST(files_are_granted_and_closed_again)
{
    char path[] = "/tmp/seep-acl-XXXXXX";
    struct stat st;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    int r = seep_acl_grant(fd, 65534, 6);
    if (r == -EOPNOTSUPP) {
        ck_assert_int_eq(unlink(path), 0);
        SKIP("no lists of who may what in /tmp");
    }
    ck_assert_int_eq(r, 1);
    ck_assert_int_eq(seep_acl_grant(fd, 65534, 6), 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0660); /* the mask shows where the group's bits do */
    ck_assert_int_eq(seep_acl_grant(fd, 65534, 0), 1);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_int_eq(seep_acl_grant(-1, 65534, 6), -EBADF);
    close(fd);
    unlink(path);
}

SUITE("acl")
