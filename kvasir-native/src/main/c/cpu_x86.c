// Reports processor and operating system features; Java interprets them.
#include "kernels.h"

// out: eax, ebx, ecx, edx
EXPORT void kv_cpuid(i32 leaf, i32 part, i32 *out) {
  __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(part));
}

// Returns the register state that the operating system saves. Call only if cpuid reports OSXSAVE.
EXPORT i64 kv_xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (i64)high << 32 | low;
}

#if defined(__linux__)
// Requests the use of AMX registers from Linux: returns 0, or a negative error.
// arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA); the permission is for all threads.
EXPORT i64 kv_ask_for_tiles(void) {
  i64 answer;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(158L), "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
  return answer;
}
#endif
