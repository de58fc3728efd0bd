/* Whether a preloaded library gets into a program file, and where execvp would find it. */
#include "libprof/program/program_entry_words.h"
#include "libprof/runtime/program/program_entry.h"
#include "tests/program_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GLIBC PROGRAM_GLIBC
#define MUSL  "/lib/ld-musl-x86_64.so.1"

static char folder[] = "/tmp/seep-entry-XXXXXX";
static struct seep_program_entry entry;
static char line[SEEP_ENTRY_LINE_BYTES];

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    char command[256];

    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "/bin/rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const struct {
    const char *what;
    struct program_parts parts;
    enum seep_entry entry;
    const char *detail;
    bool own_malloc;
} programs[] = {
    {"glibc", {.loader = GLIBC}, SEEP_ENTRY_OK, "", false},
    {"glibc elsewhere",
     {.loader = "/nix/store/x-glibc-2.37/lib/ld-linux-x86-64.so.2"},
     SEEP_ENTRY_OK,
     "",
     false},
    {"LSB", {.loader = "/lib64/ld-lsb-x86-64.so.3"}, SEEP_ENTRY_OK, "", false},
    {"static, static-pie", {.loader = NULL}, SEEP_ENTRY_STATIC, "", false},
    {"the loader by hand", {.soname = "ld-linux-x86-64.so.2"}, SEEP_ENTRY_OK, "", false},
    {"musl", {.loader = MUSL}, SEEP_ENTRY_LIBC, "ld-musl-x86_64.so.1", false},
    {"musl's loader by hand",
     {.soname = "libc.musl-x86_64.so.1"},
     SEEP_ENTRY_LIBC,
     "libc.musl-x86_64.so.1",
     false},
    {"bionic", {.loader = "/system/bin/linker64"}, SEEP_ENTRY_LIBC, "linker64", false},
    {"32 bits",
     {.loader = "/lib/ld-linux.so.2", .class = ELFCLASS32, .machine = EM_386},
     SEEP_ENTRY_MACHINE,
     "",
     false},
    {"x32",
     {.loader = "/libx32/ld-linux-x32.so.2", .class = ELFCLASS32},
     SEEP_ENTRY_MACHINE,
     "",
     false},
    {"riscv64",
     {.loader = "/lib/ld-linux-riscv64-lp64d.so.1", .machine = EM_RISCV},
     SEEP_ENTRY_MACHINE,
     "",
     false},
    {"gcc's ASan",
     {.loader = GLIBC, .needed = {"libasan.so.8", "libc.so.6"}},
     SEEP_ENTRY_SANITIZER,
     "libasan.so.8",
     false},
    {"behind others",
     {.loader = GLIBC, .needed = {"libm.so.6", "libtsan.so.2"}},
     SEEP_ENTRY_SANITIZER,
     "libtsan.so.2",
     false},
    {"clang's ASan",
     {.loader = GLIBC, .needed = {"libclang_rt.asan-x86_64.so"}},
     SEEP_ENTRY_SANITIZER,
     "libclang_rt.asan-x86_64.so",
     false},
    {"by its path",
     {.loader = GLIBC, .needed = {"/opt/gcc/lib/liblsan.so.0"}},
     SEEP_ENTRY_SANITIZER,
     "/opt/gcc/lib/liblsan.so.0",
     false},
    {"UBSan alone", {.loader = GLIBC, .needed = {"libubsan.so.1"}}, SEEP_ENTRY_OK, "", false},
    {"a name like it", {.loader = GLIBC, .needed = {"libasanity.so.1"}}, SEEP_ENTRY_OK, "", false},
    {"linked in",
     {.loader = GLIBC,
      .asked = {"__cxa_finalize", "__sanitizer_symbolize_code"},
      .defined = {"free", "malloc"}},
     SEEP_ENTRY_SANITIZER,
     "",
     true},
    {"UBSan linked in",
     {.loader = GLIBC,
      .asked = {"__sanitizer_symbolize_code", "malloc"},
      .defined = {"__ubsan_on_report"}},
     SEEP_ENTRY_OK,
     "",
     false},
    {"own malloc",
     {.loader = GLIBC, .asked = {"mmap"}, .defined = {"calloc", "malloc", "free"}},
     SEEP_ENTRY_OK,
     "",
     true},
    {"asks for malloc",
     {.loader = GLIBC, .asked = {"malloc"}, .defined = {"mallocs", "xmalloc"}},
     SEEP_ENTRY_OK,
     "",
     false},
};

TEST(programs_are_told_apart_by_their_headers, .to = N(programs))
{
    program_write("program", &programs[_i].parts, 0755);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, "program", &entry, line), 0);
    ck_assert_msg(entry.entry == programs[_i].entry &&
                      entry.own_malloc == programs[_i].own_malloc &&
                      strcmp(entry.detail, programs[_i].detail) == 0,
                  "%s: entry %d, detail \"%s\", own malloc %d", programs[_i].what, (int)entry.entry,
                  entry.detail, entry.own_malloc);
}

TEST(long_names_are_cut)
{
    char loader[301], needed[201];

    memset(loader, 'x', sizeof loader - 1);
    memcpy(loader, "/", 1);
    loader[300] = '\0';
    memset(needed, 'n', sizeof needed - 1);
    needed[200] = '\0';
    program_write("long", &(struct program_parts){.loader = loader}, 0755);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, "long", &entry, line), 0);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_LIBC);
    ck_assert_uint_eq(strlen(entry.detail), SEEP_ENTRY_DETAIL_BYTES - 1);
    program_write("long", &(struct program_parts){.loader = GLIBC, .needed = {needed}}, 0755);
    seep_entry_of_exec(AT_FDCWD, "long", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_OK);
}

TEST(rights_are_told_with_who_would_gain_them)
{
    program_write("suid", &(struct program_parts){.loader = GLIBC}, 04755);
    seep_entry_of_exec(AT_FDCWD, "suid", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_RIGHTS);
    ck_assert_str_eq(entry.detail, "setuid");
    ck_assert(!entry.gains); /* its owner asks */
    program_write("static", &(struct program_parts){.loader = NULL}, 02755);
    seep_entry_of_exec(AT_FDCWD, "static", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_RIGHTS);
    ck_assert_str_eq(entry.detail, "setgid");
    program_write("lock", &(struct program_parts){.loader = GLIBC}, 02755 & ~010);
    seep_entry_of_exec(AT_FDCWD, "lock", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_OK); /* mandatory locking */
    program_write("small", &(struct program_parts){.class = ELFCLASS32}, 04755);
    seep_entry_of_exec(AT_FDCWD, "small", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_MACHINE);
    if (geteuid() != 0 || chown("suid", 65534, 65534) != 0 || chmod("suid", 04755) != 0)
        SKIP("whose a program is cannot be changed here");
    seep_entry_of_exec(AT_FDCWD, "suid", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_RIGHTS);
    ck_assert(entry.gains);
}

TEST(what_is_no_program_is_left_to_the_kernel)
{
    char fifo[] = "fifo";

    ck_assert_int_eq(mkfifo(fifo, 0700), 0);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, fifo, &entry, line), -EACCES); /* and no wait */
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, "/dev/tty", &entry, line), -EACCES);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, ".", &entry, line), -EACCES);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, "nothing", &entry, line), -ENOENT);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, NULL, &entry, line), -EFAULT);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_OK);
    program_write_bytes("text", "echo\n", 5, 0755);
    ck_assert_int_eq(seep_entry_of_file(AT_FDCWD, "text", &entry, line), 0);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_OK);
}

TEST(a_file_relative_to_a_folder_and_one_behind_a_descriptor)
{
    char name[64];

    ck_assert_int_eq(mkdir("sub", 0700), 0);
    program_write("sub/static", &(struct program_parts){.loader = NULL}, 0755);
    int fd = open("sub", O_PATH | O_DIRECTORY | O_CLOEXEC);
    seep_entry_of_exec(fd, "static", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_STATIC);
    close(fd);
    fd = open("sub/static", O_PATH | O_CLOEXEC);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    seep_entry_of_exec(AT_FDCWD, name, &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_STATIC);
    close(fd);
}

/* Any byte changed, any length cut: an answer, and never a wait. */
TEST(damaged_programs_get_an_answer)
{
    struct program_image image;
    unsigned char bytes[sizeof image];

    program_build(&programs[17].parts, &image); /* a sanitizer linked in: everything is read */
    for (size_t n = 0; n < sizeof image; n += n < 700 ? 1 : 61) {
        program_write_bytes("cut", &image, n, 0755);
        seep_entry_of_exec(AT_FDCWD, "cut", &entry);
        ck_assert_int_le((int)entry.entry, SEEP_ENTRY_DAMAGED);
    }
    for (size_t i = 0; i < sizeof image; i++) {
        static const unsigned char values[] = {0xff, 0x80, 0x00, 0x7f};
        memcpy(bytes, &image, sizeof image);
        bytes[i] = bytes[i] == values[i % 4] ? 1 : values[i % 4];
        program_write_bytes("flipped", bytes, sizeof bytes, 0755);
        seep_entry_of_exec(AT_FDCWD, "flipped", &entry);
        ck_assert_int_le((int)entry.entry, SEEP_ENTRY_DAMAGED);
    }
    image.p[0].p_filesz = 5000; /* a loader's path that the kernel would not take */
    program_write_bytes("wide", &image, sizeof image, 0755);
    seep_entry_of_exec(AT_FDCWD, "wide", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_DAMAGED);
}

static const struct {
    const char *text, *interpreter, *argument;
} scripts[] = {
    {"#!/bin/sh\n", "/bin/sh", NULL},
    {"#! \t/bin/sh  \t\n", "/bin/sh", NULL},
    {"#!/usr/bin/env  python3 -u \nx", "/usr/bin/env", "python3 -u"},
    {"#!/bin/sh", "/bin/sh", NULL},
    {"#!/bin/sh -e", "/bin/sh", "-e"},
    {"#!\n", NULL, NULL},
    {"#!", NULL, NULL},
    {"#!   \t", NULL, NULL},
    {"#!/bin/sh\r\n", "/bin/sh\r", NULL},
};

TEST(first_lines_are_taken_apart_as_the_kernel_does, .to = N(scripts))
{
    char *argument;

    memset(line, 0, sizeof line);
    strcpy(line, scripts[_i].text);
    const char *name = seep_entry_interpreter(line, &argument);
    ck_assert_pstr_eq(name, scripts[_i].interpreter);
    ck_assert_pstr_eq(argument, scripts[_i].argument);
}

TEST(a_line_longer_than_the_kernel_reads)
{
    char *argument;

    memset(line, 'x', sizeof line);
    memcpy(line, "#!/", 3);
    ck_assert_ptr_null(seep_entry_interpreter(line, &argument)); /* its name may be cut */
    line[100] = ' ';
    line[101] = '\t';
    const char *name = seep_entry_interpreter(line, &argument);
    ck_assert_uint_eq(strlen(name), 98);
    ck_assert_uint_eq(strlen(argument), sizeof line - 1 - 102);
}

TEST(scripts_are_followed_to_what_runs_them)
{
    char text[128];

    program_write("static", &(struct program_parts){.loader = NULL}, 0755);
    program_write("env", &(struct program_parts){.loader = GLIBC}, 0755);
    snprintf(text, sizeof text, "#!%s/static -x\n", folder);
    program_write_bytes("one", text, strlen(text), 0755);
    snprintf(text, sizeof text, "#!%s/one\n", folder);
    program_write_bytes("two", text, strlen(text), 0755);
    seep_entry_of_exec(AT_FDCWD, "two", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_STATIC);
    snprintf(text, sizeof text, "#!%s/env static\n", folder);
    program_write_bytes("by-env", text, strlen(text), 0755);
    seep_entry_of_exec(AT_FDCWD, "by-env", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_OK); /* env itself execs, and is asked again */
    snprintf(text, sizeof text, "#!%s/ring\n", folder);
    program_write_bytes("ring", text, strlen(text), 0755);
    seep_entry_of_exec(AT_FDCWD, "ring", &entry);
    ck_assert_int_eq(entry.entry, SEEP_ENTRY_OK);
}

/* What execvp itself runs is the reference: the program prints where it lies. */
static int found_by_execvp(const char *name, const char *search, char *path, size_t capacity)
{
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char zero[] = "x";
        char *argv[] = {zero, NULL};
        dup2(fds[1], STDOUT_FILENO);
        if (search)
            setenv("PATH", search, 1);
        else
            unsetenv("PATH");
        execvp(name, argv);
        _exit(errno);
    }
    close(fds[1]);
    ssize_t n = read(fds[0], path, capacity - 1);
    path[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return -WEXITSTATUS(status);
}

static const char *const searches[] = {
    "a:b",     "b:a", "c:a", "nowhere::b", ":b",    "b:", "file:b",    "d:b",      "d",
    "nowhere", "",    "e:b", "locked:b",   "a//:b", NULL, "nowhere:d", "d:nowhere"};
static const char *const names[] = {"prog", "./prog", "a/prog", "other", "", "true", "a"};

TEST(names_are_found_where_execvp_finds_them, .to = N(searches) * N(names))
{
    static const char *const folders[] = {"a", "b", "c", "d", "e"};
    char text[160], ours[1024], theirs[1024];

    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(mkdir(folders[i], 0755), 0);
        snprintf(text, sizeof text, "%s/prog", folders[i]);
        if (i == 4) {
            ck_assert_int_eq(mkdir(text, 0755), 0); /* a folder of that name */
            continue;
        }
        if (i == 2)
            continue;
        program_write_bytes(text, "#!/bin/sh\necho $0\n", 18, i == 3 ? 0644 : 0755);
    }
    program_write_bytes("prog", "#!/bin/sh\necho $0\n", 18, 0755);
    program_write_bytes("file", "", 0, 0755);
    const char *name = names[(size_t)_i % (sizeof names / sizeof *names)];
    const char *search = searches[(size_t)_i / (sizeof names / sizeof *names)];
    int r = seep_entry_find(name, search, ours, sizeof ours);
    int expected = found_by_execvp(name, search, theirs, sizeof theirs);
    theirs[strcspn(theirs, "\n")] = '\0';
    ck_assert_msg(r == expected, "%s in %s: %d instead of %d", name, search, r, expected);
    if (r == 0 && strcmp(name, "true") != 0)
        ck_assert_str_eq(ours, theirs);
}

TEST(a_path_too_long_for_the_buffer_is_not_passed_over)
{
    char search[400], path[64], name[300];

    memset(search, 'x', sizeof search);
    strcpy(search + 300, ":/bin");
    ck_assert_int_eq(seep_entry_find("true", search, path, sizeof path), -ENAMETOOLONG);
    ck_assert_str_eq(path, "");
    memset(name, 'n', sizeof name);
    name[299] = '\0';
    ck_assert_int_eq(seep_entry_find(name, "/bin", path, sizeof path), -ENAMETOOLONG);
}

TEST(sanitizers_are_seen_in_a_list_of_preloads)
{
    size_t n = 0;
    const char *list = "/a/libx.so:/usr/lib/libasan.so.8 libm.so.6";
    const char *found = seep_entry_sanitizer_in(list, &n);

    ck_assert_ptr_eq(found, list + 11);
    ck_assert_uint_eq(n, strlen("/usr/lib/libasan.so.8"));
    ck_assert_ptr_null(seep_entry_sanitizer_in("", &n));
    ck_assert_ptr_null(seep_entry_sanitizer_in(":: :", &n));
    ck_assert_ptr_null(seep_entry_sanitizer_in("libubsan.so.1:/libasan.so.8/x", &n));
}

TEST(every_judgement_has_words)
{
    char text[160];

    for (int e = SEEP_ENTRY_STATIC; e <= SEEP_ENTRY_DAMAGED; e++) {
        ck_assert_uint_gt(strlen(seep_entry_words((enum seep_entry)e)), 10);
        ck_assert_uint_gt(strlen(seep_entry_advice((enum seep_entry)e)), 10);
        struct seep_program_entry one = {.entry = (enum seep_entry)e};
        ck_assert_str_eq(seep_entry_describe(&one, text, sizeof text),
                         seep_entry_words((enum seep_entry)e));
    }
    ck_assert_uint_gt(strlen(seep_entry_words((enum seep_entry)200)), 5); /* from a file */
}

SUITE("program_entry", .setup = set_up, .teardown = tear_down, .timeout_s = 120)
