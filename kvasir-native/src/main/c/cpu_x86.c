// What the processor and the operating system offer; Java decides what to make of it.
#include "kernels.h"

// out: eax, ebx, ecx, edx
EXPORT void kv_cpuid(i32 leaf, i32 part, i32 *out) {
  __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(part));
}

// Which registers the operating system saves; asked for only where cpuid says that this can be asked.
EXPORT i64 kv_xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (i64)high << 32 | low;
}

#if defined(_WIN32)
// The linker wants it from whoever computes with floats.
int _fltused = 0;
#endif
