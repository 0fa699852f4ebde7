// Definitions shared by all kernels. Freestanding: no header here needs a C library.
#ifndef KVASIR_KERNELS_H
#define KVASIR_KERNELS_H

#include <stdint.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

// Kernels for several row counts share one body; counts are constants once it is inlined.
#define INLINE static inline __attribute__((always_inline))
// Bodies that several functions of a library call.
#define SHARED static __attribute__((noinline))
#define UNROLL _Pragma("clang loop unroll(full)")

// Every symbol ends in its instruction set: kv_products_avx2, kv_products_avx512 ...
#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define KERNEL(name) JOIN(kv_##name, ISA)

// Rows of a tile of quantized weights.
#define TILE 16

// Columns of activations that share a scale, and those that share a sum.
#define GROUP 32
#define SUM_GROUP 16

typedef int8_t i8;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;

#endif
