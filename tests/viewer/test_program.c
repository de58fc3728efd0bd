/* Finding a job's program, and telling where the shim cannot get in. */
#include "libprof/arch/arch.h"
#include "tests/program_builder.h"
#include "tests/suite.h"
#include "viewer/program.h"

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GLIBC PROGRAM_GLIBC

static char folder[] = "/tmp/seep-program-XXXXXX";
static struct seep_program program;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(setenv("PATH", folder, 1), 0);
}

static void tear_down(void)
{
    char command[256];

    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "/bin/rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_script(const char *name, const char *text)
{
    program_write_bytes(name, text, strlen(text), 0755);
}

/* A program as far as its headers; `loader` NULL: static. */
static void write_elf(const char *name, const char *loader, unsigned char class, uint16_t machine,
                      mode_t mode)
{
    program_write(
        name, &(struct program_parts){.loader = loader, .class = class, .machine = machine}, mode);
}

static void write_plain(const char *name, mode_t mode)
{
    write_elf(name, GLIBC, ELFCLASS64, SEEP_ARCH_MACHINE, mode);
}

static void expect(const char *name, enum seep_program_state state, const char *word)
{
    seep_program_find(name, &program);
    ck_assert_msg(program.state == state, "%s: state %d, %s", name, (int)program.state,
                  program.why);
    if (word)
        ck_assert_msg(strstr(program.why, word) != NULL, "%s: \"%s\" has no \"%s\"", name,
                      program.why, word);
    if (state != SEEP_PROGRAM_OK)
        ck_assert_msg(strstr(program.why, ": ") != NULL, "what to do is missing: %s", program.why);
}

TEST(programs_are_looked_up_like_execvp_does)
{
    write_plain("job", 0755);
    write_plain("locked", 0644);
    ck_assert_int_eq(mkdir("sub", 0755), 0);
    write_plain("sub/job2", 0755);
    expect("job", SEEP_PROGRAM_OK, NULL);
    expect("./job", SEEP_PROGRAM_OK, NULL);
    expect("job2", SEEP_PROGRAM_NOT_FOUND, "job2 was not found");
    expect("sub/job2", SEEP_PROGRAM_OK, NULL);
    expect("", SEEP_PROGRAM_NOT_FOUND, NULL);
    expect("./nothing", SEEP_PROGRAM_NOT_FOUND, NULL);
    expect("locked", SEEP_PROGRAM_NOT_EXECUTABLE, "Permission denied");
    expect("./locked", SEEP_PROGRAM_NOT_EXECUTABLE, "Permission denied");
    expect("./sub", SEEP_PROGRAM_NOT_EXECUTABLE, NULL);
    setenv("PATH", "/nowhere::/nowhere2", 1); /* an empty entry is the working folder */
    expect("job", SEEP_PROGRAM_OK, NULL);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/nowhere:%s/sub", folder);
    setenv("PATH", path, 1);
    expect("job2", SEEP_PROGRAM_OK, NULL);
    expect("job", SEEP_PROGRAM_NOT_FOUND, NULL);
    snprintf(path, sizeof path, "%s:%s/sub", folder, folder);
    write_plain("job2", 0644); /* one that may not be executed does not end the search */
    setenv("PATH", path, 1);
    expect("job2", SEEP_PROGRAM_OK, NULL);
}

TEST(programs_that_the_shim_cannot_enter_are_refused_with_a_word)
{
    write_elf("static", NULL, ELFCLASS64, SEEP_ARCH_MACHINE, 0755);
    write_elf("musl", "/lib/ld-musl-x86_64.so.1", ELFCLASS64, SEEP_ARCH_MACHINE, 0755);
    write_elf("other", "/system/bin/linker64", ELFCLASS64, SEEP_ARCH_MACHINE, 0755);
    write_elf("nix", "/nix/store/x-glibc/lib/ld-linux-x86-64.so.2", ELFCLASS64, SEEP_ARCH_MACHINE,
              0755);
    write_elf("riscv", "/lib/ld-linux-riscv64-lp64d.so.1", ELFCLASS64, EM_RISCV, 0755);
    write_elf("small", "/lib/ld-linux.so.2", ELFCLASS32, EM_386, 0755);
    program_write("loader", &(struct program_parts){.soname = "ld-linux-x86-64.so.2"}, 0755);
    program_write("asan",
                  &(struct program_parts){.loader = GLIBC, .needed = {"libasan.so.8", "libc.so.6"}},
                  0755);
    program_write("ubsan", &(struct program_parts){.loader = GLIBC, .needed = {"libubsan.so.1"}},
                  0755);
    write_plain("suid", 04755);
    write_plain("sgid", 02755);
    write_plain("lock", 02644 | 0100); /* mandatory locking, no setgid */
    expect("static", SEEP_PROGRAM_REFUSED, "static program");
    expect("musl", SEEP_PROGRAM_REFUSED, "musl");
    expect("other", SEEP_PROGRAM_REFUSED, "linker64");
    expect("nix", SEEP_PROGRAM_OK, NULL);
    expect("riscv", SEEP_PROGRAM_REFUSED, "64-bit program for this processor");
    expect("small", SEEP_PROGRAM_REFUSED, "64-bit program for this processor");
    expect("loader", SEEP_PROGRAM_OK, NULL);
    expect("asan", SEEP_PROGRAM_REFUSED, "libasan.so.8");
    expect("ubsan", SEEP_PROGRAM_OK, NULL);
    expect("suid", SEEP_PROGRAM_REFUSED, "setuid");
    expect("sgid", SEEP_PROGRAM_REFUSED, "setgid");
    expect("lock", SEEP_PROGRAM_OK, NULL);
}

TEST(a_malloc_of_its_own_is_no_refusal)
{
    program_write("own", &(struct program_parts){.loader = GLIBC, .defined = {"free", "malloc"}},
                  0755);
    write_plain("job", 0755);
    expect("own", SEEP_PROGRAM_OK, NULL);
    ck_assert(program.own_malloc);
    expect("job", SEEP_PROGRAM_OK, NULL);
    ck_assert(!program.own_malloc);
}

TEST(a_sanitizer_that_the_user_preloads_is_refused)
{
    write_plain("job", 0755);
    setenv("LD_PRELOAD", "/x/libmine.so /usr/lib/libasan.so.8", 1);
    expect("job", SEEP_PROGRAM_REFUSED, "LD_PRELOAD names /usr/lib/libasan.so.8");
    setenv("LD_PRELOAD", "/x/libmine.so:libubsan.so.1", 1);
    expect("job", SEEP_PROGRAM_OK, NULL);
    unsetenv("LD_PRELOAD");
}

TEST(damaged_programs_do_no_harm)
{
    unsigned char bytes[256];

    memset(bytes, 0xff, sizeof bytes);
    memcpy(bytes, ELFMAG, SELFMAG);
    program_write_bytes("short", bytes, 5, 0755);
    expect("short", SEEP_PROGRAM_REFUSED, NULL);
    program_write_bytes("ones", bytes, sizeof bytes, 0755);
    expect("ones", SEEP_PROGRAM_REFUSED, NULL);
    bytes[EI_CLASS] = ELFCLASS64;
    bytes[EI_DATA] = ELFDATA2LSB;
    ((Elf64_Ehdr *)(void *)bytes)->e_machine = SEEP_ARCH_MACHINE;
    program_write_bytes("wild", bytes, sizeof bytes, 0755);
    expect("wild", SEEP_PROGRAM_REFUSED, "damaged");
    ((Elf64_Ehdr *)(void *)bytes)->e_phentsize = sizeof(Elf64_Phdr);
    program_write_bytes("wilder", bytes, sizeof bytes, 0755);
    expect("wilder", SEEP_PROGRAM_REFUSED, "damaged");
    program_write_bytes("empty", bytes, 0, 0755);
    expect("empty", SEEP_PROGRAM_OK, NULL); /* the shell runs it */
}

TEST(scripts_are_followed_to_what_runs_them)
{
    char line[256];

    write_plain("python3", 0755);
    write_plain("env", 0755);
    write_elf("static", NULL, ELFCLASS64, SEEP_ARCH_MACHINE, 0755);
    snprintf(line, sizeof line, "#!%s/python3 -u\nprint(1)\n", folder);
    write_script("good.py", line);
    expect("good.py", SEEP_PROGRAM_OK, NULL);
    snprintf(line, sizeof line, "#! %s/static\n", folder);
    write_script("bad", line);
    expect("bad", SEEP_PROGRAM_REFUSED, "static");
    snprintf(line, sizeof line, "#!%s/env -S A=1 static -u\n", folder);
    write_script("bad-env", line);
    expect("bad-env", SEEP_PROGRAM_REFUSED, "static");
    snprintf(line, sizeof line, "#!%s/env python3\n", folder);
    write_script("good-env", line);
    expect("good-env", SEEP_PROGRAM_OK, NULL);
    write_script("gone", "#!/nowhere/python3\n");
    expect("gone", SEEP_PROGRAM_NOT_EXECUTABLE, "/nowhere/python3");
    snprintf(line, sizeof line, "#!%s/ring\n", folder);
    write_script("ring", line);
    expect("ring", SEEP_PROGRAM_OK, NULL); /* the kernel says ELOOP */
    write_script("none", "echo hello\n");
    expect("none", SEEP_PROGRAM_OK, NULL);
    write_script("hash", "#!");
    expect("hash", SEEP_PROGRAM_OK, NULL);
}

static const struct {
    const char *argv[6];
    const char *label;
} labels[] = {
    {{"/usr/bin/python3", "work/train.py", "--x"}, "train.py"},
    {{"python", "-u", "-X", "dev", "train.py"}, "train.py"},
    {{"python3.11", "-m", "torch.distributed.run", "a.py"}, "torch.distributed.run"},
    {{"python3", "-mpdb", "a.py"}, "pdb"},
    {{"python3", "-c", "pass"}, "python3"},
    {{"python3", "-"}, "python3"},
    {{"python3"}, "python3"},
    {{"python3", "-m"}, "python3"},
    {{"python3", "-X"}, "python3"},
    {{"python3-config", "a.py"}, "python3-config"},
    {{"./my job;rm"}, "my_job_rm"},
    {{"bin/"}, "_"},
    {{"torchrun", "train.py"}, "torchrun"},
    {{"a_very_long_name_of_a_program"}, "a_very_long_nam"},
};

TEST(profiles_are_called_after_the_job, .to = N(labels))
{
    char label[16];

    if (strlen(labels[_i].label) > 15) {
        char wide[64];
        seep_program_label((char *const *)labels[_i].argv, wide, sizeof wide);
        ck_assert_str_eq(wide, labels[_i].label);
        return;
    }
    seep_program_label((char *const *)labels[_i].argv, label, sizeof label);
    ck_assert_str_eq(label, labels[_i].label);
}

SUITE("program", .setup = set_up, .teardown = tear_down)
