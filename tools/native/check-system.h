// What check.c needs of an operating system: Linux's calls themselves, so that a program for either architecture is
// compiled and linked without a C library for it.
#ifndef KVASIR_CHECK_SYSTEM_H
#define KVASIR_CHECK_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

// As large as any page of Linux on these architectures.
#define PAGE 65536
#define ROUND_UP(x, to) (((x) + (to) - 1) / (to) * (to))

#if defined(__x86_64__)
enum { SYS_WRITE = 1, SYS_LSEEK = 8, SYS_MMAP = 9, SYS_MPROTECT = 10, SYS_SIGACTION = 13, SYS_EXIT = 231, SYS_OPENAT = 257 };
static i64 system_call(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  register i64 r10 __asm__("r10") = d;
  register i64 r8 __asm__("r8") = e;
  register i64 r9 __asm__("r9") = f;
  i64 answer;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return answer;
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
#elif defined(__aarch64__)
enum { SYS_OPENAT = 56, SYS_LSEEK = 62, SYS_WRITE = 64, SYS_EXIT = 94, SYS_SIGACTION = 134, SYS_MMAP = 222, SYS_MPROTECT = 226 };
static i64 system_call(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  register i64 x8 __asm__("x8") = number;
  register i64 x0 __asm__("x0") = a;
  register i64 x1 __asm__("x1") = b;
  register i64 x2 __asm__("x2") = c;
  register i64 x3 __asm__("x3") = d;
  register i64 x4 __asm__("x4") = e;
  register i64 x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
__asm__(".globl _start\n_start: mov x0, sp\nbl begin\n");
#endif

// Compilers call these for structures and loops, whatever they are told.
void *memcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++) ((u8 *)to)[i] = ((const u8 *)from)[i];
  return to;
}
void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; i++) ((u8 *)to)[i] = (u8)value;
  return to;
}

static size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

static int are_equal(const char *a, size_t a_length, const char *b) {
  if (a_length != length_of(b)) return 0;
  for (size_t i = 0; i < a_length; i++) {
    if (a[i] != b[i]) return 0;
  }
  return 1;
}

// Text goes out a line at a time.
static char line[512];
static size_t line_length;

static void flush(void) {
  system_call(SYS_WRITE, 1, (i64)line, (i64)line_length, 0, 0, 0);
  line_length = 0;
}

static void say_some(const char *text, size_t count) {
  for (size_t i = 0; i < count; i++) {
    line[line_length++] = text[i];
    if (text[i] == '\n' || line_length == sizeof line) flush();
  }
}

static void say(const char *text) { say_some(text, length_of(text)); }

static void say_number(i64 x) {
  char digits[24];
  size_t at = sizeof digits;
  u64 rest = x < 0 ? -(u64)x : (u64)x;
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (x < 0) digits[--at] = '-';
  say_some(digits + at, sizeof digits - at);
}

static void say_hex(u64 x, int digits) {
  while (digits--) say_some(&"0123456789abcdef"[x >> 4 * digits & 15], 1);
}

_Noreturn static void leave(int status) {
  flush();
  system_call(SYS_EXIT, status, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

// One sentence for what this program cannot work with.
_Noreturn static void refuse(const char *what, const char *why) {
  say(what);
  say(why);
  say("\n");
  leave(2);
}

enum { READ = 1, WRITE = 2, EXECUTE = 4 };

static u8 *map(u64 at, u64 bytes, int access, int file, u64 offset) {
  const int private = 2, fixed = at ? 16 : 0, anonymous = file < 0 ? 32 : 0, unreserved = 0x4000;
  i64 found = system_call(SYS_MMAP, (i64)at, (i64)bytes, access, private | fixed | anonymous | unreserved, file, (i64)offset);
  if (found < 0 && found > -4096) refuse("memory cannot be had", "");
  return (u8 *)found;
}

static void protect(u8 *at, u64 bytes, int access) {
  if (system_call(SYS_MPROTECT, (i64)at, (i64)bytes, access, 0, 0, 0)) refuse("memory cannot be protected", "");
}

static int open_file(const char *name) {
  i64 file = system_call(SYS_OPENAT, -100, (i64)name, 0, 0, 0, 0);
  if (file < 0) refuse(name, " cannot be opened");
  return (int)file;
}

static u64 size_of_file(int file) {
  return (u64)system_call(SYS_LSEEK, file, 0, 2, 0, 0, 0);
}

// Has a function called where memory is touched that is not there; it is not to return.
static void on_fault(void (*handler)(int)) {
  const u64 restores = 0x04000000;   // x86 wants to know what is returned to
  u64 action[4] = {(u64)handler, 0, 0, 0};
#if defined(__x86_64__)
  action[1] = restores;
  action[2] = (u64)handler;
#else
  (void)restores;
#endif
  const int faults[] = {4, 7, 8, 11};   // instructions, buses, arithmetic, memory
  for (int i = 0; i < 4; i++) system_call(SYS_SIGACTION, faults[i], (i64)action, 0, 8, 0, 0);
}

#endif
