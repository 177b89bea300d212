/* One of the other names of forage in a Python wheel, which can hold no links: starts the program
 * that lies beside this one, under this one's name. It is free of the C library, so that it is a
 * few kilobytes, starts in a moment and runs with any libc. */
#include <stddef.h>

static const char PROGRAM[] = "forage";
#define MOST_PATH_BYTES 4096

/* ---- the system, by the numbers that its calls have ---- */

#define HERE (-100) /* AT_FDCWD */

#if defined __x86_64__
enum { CALL_WRITE = 1, CALL_EXECVE = 59, CALL_EXIT_GROUP = 231, CALL_READLINKAT = 267 };

__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call start\n");

static long ask_system(long number, long a, long b, long c, long d)
{
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__
enum { CALL_WRITE = 64, CALL_EXECVE = 221, CALL_EXIT_GROUP = 94, CALL_READLINKAT = 78 };

__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    b start\n");

static long ask_system(long number, long a, long b, long c, long d)
{
    register long which __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc 0"
                     : "+r"(first)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth)
                     : "memory");
    return first;
}
#else
#error "the aliases are for x86_64 and aarch64; elsewhere they are copies of the program"
#endif

static _Noreturn void fail(const char *words, size_t length)
{
    ask_system(CALL_WRITE, 2, (long)words, (long)length, 0);
    for (;;) {
        ask_system(CALL_EXIT_GROUP, 127, 0, 0, 0);
    }
}
#define FAIL(words) fail(words, sizeof(words) - 1)

/* ---- the program ---- */

/* What the kernel leaves on the stack: the count, the arguments, a NULL, the environment. */
_Noreturn void start(long *stack)
{
    static char own[MOST_PATH_BYTES], program[MOST_PATH_BYTES + sizeof PROGRAM];
    long count = stack[0];
    char **arguments = (char **)(stack + 1);
    long length =
        ask_system(CALL_READLINKAT, HERE, (long)"/proc/self/exe", (long)own, MOST_PATH_BYTES - 1);
    if (count < 1 || length <= 0) {
        FAIL(
            "forage: this name cannot tell where it is (is /proc mounted?): start forage itself\n");
    }
    size_t folder = 0;
    for (size_t i = 0; i < (size_t)length; i++) {
        program[i] = own[i];
        if (own[i] == '/') {
            folder = i + 1;
        }
    }
    for (size_t i = 0; i < sizeof PROGRAM; i++) {
        program[folder + i] = PROGRAM[i];
    }
    arguments[0] = own;
    ask_system(CALL_EXECVE, (long)program, (long)arguments, (long)(arguments + count + 1), 0);
    FAIL("forage: the program is not beside this name: install the package again\n");
}
