/* Gives one more user rights to a file, by a POSIX access control list: a child that changes its
 * uid needs them to go on writing its profile. Raw system calls; the stack only. */
#ifndef SEEP_PRELOAD_LIFE_ACL_H
#define SEEP_PRELOAD_LIFE_ACL_H

#include <stddef.h>
#include <stdint.h>

enum {
    SEEP_ACL_READ = 4,
    SEEP_ACL_WRITE = 2,
    SEEP_ACL_SEARCH = 1, /* of a folder */
    SEEP_ACL_ENTRIES = 64,
};

/* The form in which the kernel takes it from user space: struct posix_acl_xattr_header and its
 * entries. */
struct seep_acl {
    uint32_t version;
    struct seep_acl_entry {
        uint16_t tag, permissions;
        uint32_t id;
    } entries[SEEP_ACL_ENTRIES];
};

/* Gives `uid` these rights in a list of *n entries (SEEP_ACL_…; 0: takes its entry out), and nobody
 * else any that they did not have: where the mask becomes wider, what it hid is taken away. Returns
 * 1, 0 where nothing had to change, or a negative errno (no room, not a list). */
int seep_acl_edit(struct seep_acl *acl, size_t *n, uint32_t uid, unsigned permissions);

/* The same for an open file or folder. -EOPNOTSUPP: its file system has no lists. */
int seep_acl_grant(int fd, uint32_t uid, unsigned permissions);

#endif
