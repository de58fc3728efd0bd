/* Writes a jump into libc's sbrk(), as UCX's memory hooks do: what malloc asks the system for comes
 * back as a call by number. Then keeps 200 blocks that malloc's heap has to grow for, and maps one
 * page by number itself, which is the program's own. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N = 200, BYTES = 100000, PAGE = 4096, JUMP = 12 };

static char *end_of_heap;
static void *volatile kept[N];

static void *by_number(intptr_t more)
{
    char *before = end_of_heap ? end_of_heap : (char *)syscall(SYS_brk, 0);
    if (more && (char *)syscall(SYS_brk, before + more) != before + more)
        return (void *)-1;
    end_of_heap = before + more;
    return before;
}

/* movabs $to, %rax; jmp *%rax */
static int rewrite(void *function, void *(*to)(intptr_t))
{
    unsigned char code[JUMP] = {0x48, 0xb8, [10] = 0xff, 0xe0};
    void *page = (void *)((uintptr_t)function & ~(uintptr_t)(PAGE - 1));
    memcpy(code + 2, &to, sizeof to);
    if (!function || mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return -1;
    memcpy(function, code, JUMP);
    return mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC);
}

__attribute__((noipa)) static void *keep(void)
{
    return memset(malloc(BYTES), 1, BYTES);
}

__attribute__((noipa)) static long own_map(void)
{
    return syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0);
}

int main(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    if (!libc || rewrite(dlsym(libc, "sbrk"), by_number) != 0)
        return 77;
    for (int i = 0; i < N; i++)
        kept[i] = keep();
    printf("%d\n", own_map() > 0);
    return 0;
}
