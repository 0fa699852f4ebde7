// What every file of kernels shares. Freestanding: no header here needs a C library.
#ifndef KVASIR_KERNELS_H
#define KVASIR_KERNELS_H

#include <stdint.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

// Kernels of several row counts are one body each: counts are constants once it is inlined.
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")

// Every symbol ends in its instruction set: kv_products_avx2, kv_products_avx512 ...
#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define KERNEL(name) JOIN(kv_##name, ISA)

// Java makes a stub for every type of function that it calls, which takes some ten milliseconds of a start. So what most
// starts call is entered through functions of two types. They take addresses in their order from a on, and numbers in
// theirs from i on, as many as they need.
#define INNER(name) JOIN(inner_##name, ISA)
#define UNUSED __attribute__((unused))
#define NARROW(name)                                                                                                   \
  EXPORT float KERNEL(name)(UNUSED void *a, UNUSED void *b, UNUSED void *c, UNUSED i64 i, UNUSED i64 j, UNUSED i64 k, \
                            UNUSED i64 l, UNUSED float x)
#define WIDE(name)                                                                                                     \
  EXPORT void KERNEL(name)(UNUSED void *a, UNUSED void *b, UNUSED void *c, UNUSED void *d, UNUSED void *e,            \
                           UNUSED void *f, UNUSED void *g, UNUSED void *h, UNUSED i64 i, UNUSED i64 j, UNUSED i64 k,  \
                           UNUSED i64 l, UNUSED i64 m, UNUSED i64 n, UNUSED i64 o, UNUSED i64 p, UNUSED i64 q)

// Rows of a tile of coded weights.
#define TILE 16

// Columns of activations that share a scale, and those that share a sum.
#define GROUP 32
#define SUM_GROUP 16

typedef int8_t i8;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;

#endif
