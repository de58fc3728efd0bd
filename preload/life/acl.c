#include "preload/life/acl.h"

#include <string.h>

#include "libprof/runtime/store/os.h"

enum { VERSION = 2, HEAD_BYTES = offsetof(struct seep_acl, entries) };
enum { OWNER = 0x01, USER = 0x02, GROUP_OWNER = 0x04, GROUP = 0x08, MASK = 0x10, OTHERS = 0x20 };

static const char attribute[] = "system.posix_acl_access";

static struct seep_acl_entry *find(struct seep_acl *acl, size_t n, unsigned tag, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (acl->entries[i].tag == tag && (tag != USER || acl->entries[i].id == id))
            return &acl->entries[i];
    return NULL;
}

/* Entries are ordered by their tags. */
static struct seep_acl_entry *insert(struct seep_acl *acl, size_t *n, unsigned tag, uint32_t id)
{
    size_t at = 0;

    if (*n == SEEP_ACL_ENTRIES)
        return NULL;
    while (at < *n && acl->entries[at].tag <= tag)
        at++;
    memmove(&acl->entries[at + 1], &acl->entries[at], (*n - at) * sizeof *acl->entries);
    ++*n;
    acl->entries[at] = (struct seep_acl_entry){.tag = (uint16_t)tag, .id = id};
    return &acl->entries[at];
}

static bool is_masked(const struct seep_acl_entry *e)
{
    return e->tag == USER || e->tag == GROUP_OWNER || e->tag == GROUP;
}

/* Permissions that the mask hides are removed before it becomes wider. */
static void apply_mask(struct seep_acl *acl, size_t n)
{
    const struct seep_acl_entry *mask = find(acl, n, MASK, 0);

    for (size_t i = 0; mask && i < n; i++)
        if (is_masked(&acl->entries[i]))
            acl->entries[i].permissions &= mask->permissions;
}

static int widen_mask(struct seep_acl *acl, size_t *n)
{
    struct seep_acl_entry *mask = find(acl, *n, MASK, 0);

    if (!mask && !(mask = insert(acl, n, MASK, UINT32_MAX)))
        return -ENOSPC;
    mask->permissions = 0;
    for (size_t i = 0; i < *n; i++)
        if (is_masked(&acl->entries[i]))
            mask->permissions |= acl->entries[i].permissions;
    return 1;
}

int seep_acl_edit(struct seep_acl *acl, size_t *n, uint32_t uid, unsigned permissions)
{
    if (acl->version != VERSION || *n > SEEP_ACL_ENTRIES || !find(acl, *n, OWNER, 0) ||
        !find(acl, *n, GROUP_OWNER, 0) || !find(acl, *n, OTHERS, 0))
        return -EINVAL;
    apply_mask(acl, *n);
    struct seep_acl_entry *own = find(acl, *n, USER, uid);
    if (!permissions) {
        if (!own)
            return 0;
        size_t after = (size_t)(acl->entries + *n - (own + 1));
        memmove(own, own + 1, after * sizeof *own);
        --*n;
        return widen_mask(acl, n);
    }
    if (own && (own->permissions & permissions) == permissions)
        return 0;
    if (!own && !(own = insert(acl, n, USER, uid)))
        return -ENOSPC;
    own->permissions |= (uint16_t)permissions;
    return widen_mask(acl, n);
}

/* The access list equivalent to a plain mode. */
static size_t from_mode(struct seep_acl *acl, unsigned mode)
{
    acl->version = VERSION;
    acl->entries[0] = (struct seep_acl_entry){OWNER, mode >> 6 & 7, UINT32_MAX};
    acl->entries[1] = (struct seep_acl_entry){GROUP_OWNER, mode >> 3 & 7, UINT32_MAX};
    acl->entries[2] = (struct seep_acl_entry){OTHERS, mode & 7, UINT32_MAX};
    return 3;
}

int seep_acl_grant(int fd, uint32_t uid, unsigned permissions)
{
    struct seep_acl acl;
    struct stat st;
    size_t n;

    long r = seep_os_call6(SYS_fgetxattr, fd, (long)attribute, (long)&acl, sizeof acl, 0, 0);
    if (r == -ENODATA) {
        r = seep_os_call3(SYS_fstat, fd, (long)&st, 0);
        if (r < 0)
            return (int)r;
        n = from_mode(&acl, st.st_mode);
    } else if (r < HEAD_BYTES || (r - HEAD_BYTES) % (long)sizeof *acl.entries) {
        return r < 0 ? (int)r : -EINVAL;
    } else {
        n = (size_t)(r - HEAD_BYTES) / sizeof *acl.entries;
    }
    int changed = seep_acl_edit(&acl, &n, uid, permissions);
    if (changed <= 0)
        return changed;
    r = seep_os_call6(SYS_fsetxattr, fd, (long)attribute, (long)&acl,
                      (long)(HEAD_BYTES + n * sizeof *acl.entries), 0, 0);
    return r < 0 ? (int)r : 1;
}
