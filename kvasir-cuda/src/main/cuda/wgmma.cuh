// The matrix instruction of a warpgroup (sm_90a): sums of 64 x N floats += 64 x 16 halves in registers * 16 x N halves in
// shared memory. A warp has 16 of the 64 rows; its lanes hold them as in multiplyTiles, for each eight of the N columns.
#pragma once
#include "base.cuh"

template <int N> struct WarpgroupProduct;

#define NAMES16_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define NAMES16_1 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NAMES16_2 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define NAMES16_3 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define NAMES16_4 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define NAMES16_5 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define NAMES16_6 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define NAMES16_7 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define SUMS4(I) "+f"(d[I]), "+f"(d[I + 1]), "+f"(d[I + 2]), "+f"(d[I + 3])
#define SUMS16(I) SUMS4(I), SUMS4(I + 4), SUMS4(I + 8), SUMS4(I + 12)

// NAMES and SUMS list N / 2 registers of sums; A to E are the numbers of the operands after them.
#define WARPGROUP_PRODUCT(N, NAMES, SUMS, A, B, C, D, E)                                                               \
  template <> struct WarpgroupProduct<N> {                                                                             \
    DEVICE static void add(float (&d)[N / 2], const u32* a, u64 b) {                                                   \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" NAMES "}, {%" #A ",%" #B ",%" #C ",%" #D \
                   "}, %" #E ", 1, 1, 1, 0;"                                                                           \
                   : SUMS : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                       \
    }                                                                                                                  \
  };
#define COMMA ,

WARPGROUP_PRODUCT(32, NAMES16_0, SUMS16(0), 16, 17, 18, 19, 20)
WARPGROUP_PRODUCT(64, NAMES16_0 "," NAMES16_1, SUMS16(0) COMMA SUMS16(16), 32, 33, 34, 35, 36)
WARPGROUP_PRODUCT(96, NAMES16_0 "," NAMES16_1 "," NAMES16_2, SUMS16(0) COMMA SUMS16(16) COMMA SUMS16(32), 48, 49, 50, 51, 52)
WARPGROUP_PRODUCT(128, NAMES16_0 "," NAMES16_1 "," NAMES16_2 "," NAMES16_3,
                  SUMS16(0) COMMA SUMS16(16) COMMA SUMS16(32) COMMA SUMS16(48), 64, 65, 66, 67, 68)
WARPGROUP_PRODUCT(160, NAMES16_0 "," NAMES16_1 "," NAMES16_2 "," NAMES16_3 "," NAMES16_4,
                  SUMS16(0) COMMA SUMS16(16) COMMA SUMS16(32) COMMA SUMS16(48) COMMA SUMS16(64), 80, 81, 82, 83, 84)
WARPGROUP_PRODUCT(192, NAMES16_0 "," NAMES16_1 "," NAMES16_2 "," NAMES16_3 "," NAMES16_4 "," NAMES16_5,
                  SUMS16(0) COMMA SUMS16(16) COMMA SUMS16(32) COMMA SUMS16(48) COMMA SUMS16(64) COMMA SUMS16(80), 96, 97, 98,
                  99, 100)
WARPGROUP_PRODUCT(256, NAMES16_0 "," NAMES16_1 "," NAMES16_2 "," NAMES16_3 "," NAMES16_4 "," NAMES16_5 "," NAMES16_6 "," NAMES16_7,
                  SUMS16(0) COMMA SUMS16(16) COMMA SUMS16(32) COMMA SUMS16(48) COMMA SUMS16(64) COMMA SUMS16(80) COMMA
                  SUMS16(96) COMMA SUMS16(112), 128, 129, 130, 131, 132)

// Orders the registers of products before and after; required before the first product of a group.
DEVICE void fenceProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void endProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all but the last LEFT groups.
template <int LEFT> DEVICE void awaitProducts() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory"); }

// The descriptor of 16 columns of rows of 64 halves in shared memory, 128-byte swizzle: 1024 bytes for eight rows. Two more
// are the next 16 columns.
DEVICE u64 swizzledRows(u32 address) { return (u64)(address >> 4) | (u64)1 << 16 | (u64)64 << 32 | (u64)1 << 62; }

// Copies a box of a tensor to shared memory in the map's swizzle.
DEVICE void copyBox(u32 to, const void* map, int column, int row, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier) : "memory");
}
