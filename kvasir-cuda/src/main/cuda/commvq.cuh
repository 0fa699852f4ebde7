// Attention on pages of codebook indices (CommVQ). Keys, before rotation, and values are sums of codebook rows.
// CodebookPage and CodebookTableLayout have the same layouts in Java; docs/gpu.md shows them.
//
//   key[t]   = rotated by t (mean + scale[t] * units * sum over stages of (z[a] + i z[b])),  pairs of channels as numbers x + iy
//   value[t] = mean + scale[t] * sum over stages of (first[a] + second[b])
//
// There are two kernels. The score kernel below holds the key rows of a KV head in shared memory as bytes and sums a key
// once for all query heads that share it. It writes weights relative to the maximum score of their 16 tokens. The output
// kernel (bins.cuh) computes no values: it adds the weight of a token to the bins of the rows that its codes name, and
// multiplies rows by their bins at the end.
#pragma once
#include "attend.cuh"
#include "store.cuh"

constexpr int CODEBOOK_ROWS = 64;
constexpr int INDEX_BITS = 6;
constexpr int RECORD_HEADS = 4;                                             // query heads per record of weights
constexpr int RECORD_WEIGHT_BYTES = PAGE_TOKENS * RECORD_HEADS * 2;
constexpr int RECORD_BYTES = RECORD_WEIGHT_BYTES + PAGE_TILES * RECORD_HEADS * 4;   // and the maximum scores of 16 tokens

// A page: 64 tokens of one KV head. Codes of values may belong to several KV heads together; each of their pages then has an
// equal part of the sets, in order.
//
//   key words     (KEY_WORDS, 64 tokens): five 6-bit indices per word, from bit 0 on; the token's scale is the upper
//                 half of the last word
//   value words   (4 times 16 tokens, 3, SETS): 16 indices of six bits in three words
//   value scales  (64) halves
//   position      u32, of the first token
//
// A page of values that a network has encoded has bits in place of indices (bits.cuh).
template <int STAGES, int VALUE_BYTES = 12 * 2 * STAGES * 4> struct CommvqPage {
  static constexpr int SETS = 2 * STAGES;   // of rows: first and second rows of each stage
  static constexpr int LAST = SETS % 5;     // indices of the last word
  static constexpr int KEY_WORDS = SETS / 5 + (LAST > 2 ? 2 : 1);
  static constexpr int VALUE_AT = KEY_WORDS * PAGE_TOKENS * 4;
  static constexpr int VALUE_SCALES_AT = VALUE_AT + VALUE_BYTES;
  static constexpr int POSITION_AT = VALUE_SCALES_AT + PAGE_TOKENS * 2;
  static constexpr int BYTES = (POSITION_AT + 4 + 63) / 64 * 64;
};

// The key table of one KV head, as blocks copy it to shared memory.
//
//   rows    (STAGES, 64) times 128 bytes: 16 bytes for each of lane quads 0 to 3, twice: with 128 channels the second half
//           has the other half of a quad's pairs, with 64 it is a copy. Signed bytes, x and y of a pair of channels.
//   lanes   (4 quads) times (units, x of the mean, y of the mean), PAIRS halves each
//   factor  a float: scales are multiplied by it, units are divided by it
//
// Lane quad q has the pairs from PAIRS * q on.
template <int D, int STAGES> struct KeyTable {
  static constexpr int PAIRS = D / 8;   // per lane
  static constexpr int ROW_BYTES = 128;
  static constexpr int STAGE_BYTES = CODEBOOK_ROWS * ROW_BYTES;
  static constexpr int LANES_AT = STAGES * STAGE_BYTES;
  static constexpr int LANE_BYTES = 3 * PAIRS * 2;
  static constexpr int FACTOR_AT = LANES_AT + 4 * LANE_BYTES;
  static constexpr int BYTES = (FACTOR_AT + 4 + 127) / 128 * 128;
};

// Cosines and sines of a token's index in its page, as halves: (64 tokens), for PAIRS / 4 times (4 quads) 16 bytes: cosines
// of four pairs and their sines. Rows are an odd number of 64 bytes apart, so that two tokens share no bank.
template <int D> struct PlaceTurns {
  static constexpr int CHUNKS = D / 32;
  static constexpr int STRIDE = (CHUNKS | 1) * 64;
  static constexpr int BYTES = PAGE_TOKENS * STRIDE;
};

DEVICE u32 subtractHalves(u32 a, u32 b) {
  u32 r;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEVICE u32 fusedHalves(u32 a, u32 b, u32 c) {
  u32 r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

DEVICE u32 twice(float x) { return toHalves(x, x); }

// CommvqScoreKernels has the same fields in the same order.
struct Scoring {
  const Sequence* sequences;
  const PageEntry* table;
  const u16* queries;       // (sequences, query heads, D)
  u8* records;              // (entries, KV heads, head blocks) of weights
  const u8* keys;           // (KV heads) key tables of the layer
  const u8* placeTurns;     // PlaceTurns
  const float2* pageTurns;  // (pages, D / 2) cosines and sines of a page's first position
  const u16* order;         // (2, D / 2) channels of pairs
  u64 packedOffset;
  float scale;              // factor of scores, times log2(e)
  u32 sharing;              // query heads that share a KV head
  u32 heads;                // per block of the following kernel
  u32 headBlocks;           // its blocks per KV head
  u32 firstPosition;        // of a sequence's first packed page
  u32 turnPages;            // pages that pageTurns covers
  u32 pagesPerSplit;
  u32 scoredBlocks;         // blocks of this kernel per KV head, of eight heads each
};

// The first operand, which sums the bytes of rows to x and y. Two of every four adjacent columns are zero, so that the
// matrix units process twice as many (mma.sp). Row n is x of the n-th of eight pairs, row n + 8 its y. Columns are the
// bytes of a first and of a second row, 16 each, four of quad q: x, y of pairs 2q and 2q + 1. First rows are added as they
// are, second rows rotated by a quarter turn: x - y', y + x'.
//
//   columns of a pair     first    second            lane 4n + t has the nonzeros of rows n and n + 8, columns 8t to 8t + 7:
//   row x                 1  0     0 -1              t = 0, 1: first rows, quads 2t and 2t + 1; t = 2, 3: second rows
//   row y                 0  1     1  0
//
// The choice of two in four columns is the same in a whole row, so any lane may supply it for any columns.
struct RowSums {
  u32 x, y;
  u32 places;   // nonzero columns: 0, 1 or 2, 3 of each four

  DEVICE explicit RowSums(int lane) {
    const int pair = lane >> 2, part = lane & 3, shift = pair / 2 % 2 * 16;
    const bool own = pair / 4 == part % 2, first = part < 2;
    x = own ? (first ? 0x0001u : 0xff00u) << shift : 0;
    y = own ? (first ? 0x0100u : 0x0001u) << shift : 0;
    places = pair % 2 ? 0xeeeeeeeeu : 0x44444444u;
  }

  // Adds rows of two stages: words of first and of second rows, for eight tokens.
  DEVICE void add(int (&sums)[4], u32 first, u32 second, u32 nextFirst, u32 nextSecond) const {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%6,%7,%8,%9}, {%0,%1,%2,%3}, %10, 0x0;"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(x), "r"(y), "r"(first), "r"(second), "r"(nextFirst), "r"(nextSecond), "r"(places));
  }

  // Adds rows of one stage.
  DEVICE void add(int (&sums)[4], u32 first, u32 second) const {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, 0x0;"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(x), "r"(y), "r"(first), "r"(second), "r"(places));
  }
};

// Keys of 16 tokens, two per lane, which has PAIRS pairs of each. The matrix units sum bytes exactly. Sums start at a float
// whose lowest bits hold integers, and are read as floats at the end. A lane then has sums of one pair and two tokens, and
// exchanges them for those of two pairs and one token.
//
// Tokens of odd rows read the halves of a row in reverse order, so that two tokens share no bank.
template <int D, int STAGES> struct KeySums {
  static_assert(STAGES % 2 == 1, "the last stage is added alone");
  static constexpr int WORDS = D / 16;   // per token and lane: two pairs each
  static constexpr int ZERO = 0x4b400000;
  u32 x[2][WORDS], y[2][WORDS];

  DEVICE static u32 rowAt(const u32 (&codes)[CommvqPage<STAGES>::KEY_WORDS], int set, u32 rows) {
    const u32 word = codes[set / 5];
    const int shift = INDEX_BITS * (set % 5) - 7;
    return ((shift < 0 ? word << -shift : word >> shift) & 0x1f80u | rows) + set / 2 * KeyTable<D, STAGES>::STAGE_BYTES;
  }

  DEVICE static u32 pair(int low, int high) {
    constexpr float zero = 12582912.f;   // the value of the bits of ZERO
    return toHalves(__int_as_float(low) - zero, __int_as_float(high) - zero);
  }

  // Loads a lane's 16 bytes of a row, for either half of the head.
  DEVICE static uint4 part(u32 row, int half) { return loadShared(row ^ 64 * half); }

  // rows: the lane's 16 bytes of row 0, at a multiple of 8192 except for the lower seven bits
  DEVICE void of(const u32 (&codes)[2][CommvqPage<STAGES>::KEY_WORDS], u32 rows, bool exchanged, const RowSums& by) {
    const u32 own = rows + (exchanged ? 64 : 0);
#pragma unroll
    for (int token = 0; token < 2; token++) {
      int sums[WORDS][4];
#pragma unroll
      for (int i = 0; i < WORDS; i++) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = ZERO;
#pragma unroll
      for (int set = 0; set + 2 < 2 * STAGES; set += 4) {
        const u32 a = rowAt(codes[token], set, own), b = rowAt(codes[token], set + 1, own);
        const u32 c = rowAt(codes[token], set + 2, own), d = rowAt(codes[token], set + 3, own);
#pragma unroll
        for (int half = 0; half < WORDS / 4; half++) {
          const uint4 first = part(a, half), second = part(b, half), third = part(c, half), fourth = part(d, half);
#pragma unroll
          for (int i = 0; i < 4; i++) {
            by.add(sums[4 * half + i], wordOf(first, i), wordOf(second, i), wordOf(third, i), wordOf(fourth, i));
          }
        }
      }
      const u32 a = rowAt(codes[token], 2 * STAGES - 2, own), b = rowAt(codes[token], 2 * STAGES - 1, own);
#pragma unroll
      for (int half = 0; half < WORDS / 4; half++) {
        const uint4 first = part(a, half), second = part(b, half);
#pragma unroll
        for (int i = 0; i < 4; i++) by.add(sums[4 * half + i], wordOf(first, i), wordOf(second, i));
      }
#pragma unroll
      for (int i = 0; i < WORDS; i++) {
        x[token][i] = transpose(pair(sums[i][0], sums[i][1]));
        y[token][i] = transpose(pair(sums[i][2], sums[i][3]));
      }
    }
    if constexpr (D == 128) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int token = 0; token < 2; token++) {
          exchange(x[token][i], x[token][i + 4], exchanged);
          exchange(y[token][i], y[token][i + 4], exchanged);
        }
      }
    }
  }

  DEVICE static void exchange(u32& a, u32& b, bool exchanged) {
    const u32 kept = a;
    a = exchanged ? b : kept;
    b = exchanged ? kept : b;
  }

  // Converts sums of bytes to keys and rotates them by their index in the page.
  // lane: units and means of the lane's quad in shared memory
  // turns: cosines and sines of the token of row 0-7 and of the quad
  DEVICE void turn(u32 lane, const float (&scale)[2], u32 turns) {
    using Turns = PlaceTurns<D>;
#pragma unroll
    for (int at = 0; at < WORDS; at += 4) {
      const uint4 units = loadShared(lane + 4 * at), meanX = loadShared(lane + 4 * (WORDS + at));
      const uint4 meanY = loadShared(lane + 4 * (2 * WORDS + at));
#pragma unroll
      for (int token = 0; token < 2; token++) {
        const u32 scales = twice(scale[token]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const uint4 of = loadShared(turns + token * 8 * Turns::STRIDE + 64 * (at / 2 + half));
#pragma unroll
          for (int e = 0; e < 2; e++) {
            const int i = 2 * half + e;
            const u32 cosines = e ? of.y : of.x, sines = e ? of.w : of.z;
            u32& keyX = x[token][at + i];
            u32& keyY = y[token][at + i];
            const u32 plainX = fusedHalves(multiplyHalves(keyX, wordOf(units, i)), scales, wordOf(meanX, i));
            const u32 plainY = fusedHalves(multiplyHalves(keyY, wordOf(units, i)), scales, wordOf(meanY, i));
            keyX = subtractHalves(multiplyHalves(plainX, cosines), multiplyHalves(plainY, sines));
            keyY = fusedHalves(plainX, sines, multiplyHalves(plainY, cosines));
          }
        }
      }
    }
  }
};

// Queries of eight heads as the second operand, rotated back by the position of a page.
template <int D> struct TurnedQueries {
  static constexpr int WORDS = D / 16;
  u32 x[WORDS], y[WORDS];

  // queries: of the lane's head and quad; turns: of the page and the quad
  DEVICE void turnBack(const float2* queries, const float2* turns) {
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
      const float4 q = reinterpret_cast<const float4*>(queries)[i];
      const float4 t = __ldg(reinterpret_cast<const float4*>(turns) + i);
      x[i] = toHalves(fmaf(q.x, t.x, q.y * t.y), fmaf(q.z, t.z, q.w * t.w));
      y[i] = toHalves(fmaf(q.y, t.x, -q.x * t.y), fmaf(q.w, t.z, -q.z * t.w));
    }
  }
};

constexpr int SCORED_HEADS = 8;   // per block: columns of the matrix instruction

// Writes weights of 16 tokens of two heads to their records, as halves relative to their maximum.
struct RecordWriter {
  u8* records;       // of the page and KV head
  int firstHead;     // of the lane's two
  u32 sharing, heads;

  DEVICE void write(int tile, int row, const float (&scores)[4], float scale) const {
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const float near = scores[e] * scale, far = scores[2 + e] * scale;
      float most = fmaxf(near, far);
#pragma unroll
      for (int s = 4; s < 32; s <<= 1) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, s));
      const u32 head = firstHead + e;
      if (head >= sharing) continue;
      u8* record = records + head / heads * RECORD_BYTES;
      u16* weights = reinterpret_cast<u16*>(record) + (TILE_TOKENS * tile + row) * RECORD_HEADS + head % heads;
      weights[0] = toHalf(powerOfTwo(near - most));
      weights[8 * RECORD_HEADS] = toHalf(powerOfTwo(far - most));
      if (row == 0) {
        reinterpret_cast<float*>(record + RECORD_WEIGHT_BYTES)[tile * RECORD_HEADS + head % heads] = most;
      }
    }
  }
};

// Shared memory: RoPE of token indices, queries as floats, and from the next multiple of 8192 on the rows and the rest of
// the key table.
template <int D, int STAGES> struct ScoringMemory {
  static constexpr int QUERIES_AT = PlaceTurns<D>::BYTES;
  static constexpr int ROWS_AFTER = QUERIES_AT + SCORED_HEADS * D * 4;
};

// grid (splits, KV heads * scoredBlocks, sequences). A warp processes a page at a time, in tiles of 16 tokens.
template <int D, int STAGES, class PAGE = CommvqPage<STAGES>> DEVICE void scorePages(const Scoring& s) {
  using Page = PAGE;
  using Table = KeyTable<D, STAGES>;
  using Memory = ScoringMemory<D, STAGES>;
  letNextBegin();
  awaitPrevious();
  const uint4 packed = *(reinterpret_cast<const uint4*>(s.sequences) + blockIdx.z);   // as Sequence
  const int begin = blockIdx.x * s.pagesPerSplit, end = min(begin + (int)s.pagesPerSplit, (int)packed.y);
  if (begin >= end) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, row = lane >> 2, quad = lane & 3;
  const int kvHead = blockIdx.y / s.scoredBlocks, kvHeads = gridDim.y / s.scoredBlocks;
  const int firstHead = blockIdx.y % s.scoredBlocks * SCORED_HEADS;

  const u32 memory = sharedAddress(dynamicMemory), rows = (memory + Memory::ROWS_AFTER + 8191) & ~8191u;
  const u8* table = s.keys + (size_t)kvHead * Table::BYTES;
  for (int at = 16 * threadIdx.x; at < Table::FACTOR_AT; at += 16 * (int)blockDim.x) copyAhead(rows + at, table + at);
  for (int at = 16 * threadIdx.x; at < PlaceTurns<D>::BYTES; at += 16 * (int)blockDim.x) {
    copyAhead(memory + at, s.placeTurns + at);
  }
  endCopies();
  float2* queries = reinterpret_cast<float2*>(dynamicMemory + Memory::QUERIES_AT);   // (8 heads, D / 2)
  for (int i = threadIdx.x; i < SCORED_HEADS * (D / 2); i += blockDim.x) {
    const int head = firstHead + i / (D / 2), pair = i % (D / 2);
    const size_t at = ((size_t)blockIdx.z * kvHeads + kvHead) * s.sharing + head;
    const bool there = head < s.sharing;
    queries[i] = float2{there ? toFloat(s.queries[at * D + s.order[pair]]) : 0.f,
                        there ? toFloat(s.queries[at * D + s.order[D / 2 + pair]]) : 0.f};
  }
  const float factor = *reinterpret_cast<const float*>(table + Table::FACTOR_AT);
  awaitCopies<0>();
  __syncthreads();

  const RowSums sums(lane);
  const u32 constants = rows + Table::LANES_AT + quad * Table::LANE_BYTES;
  const PageEntry* entries = s.table + packed.x;
  auto pageAt = [&](int page) {
    return page < end ? addressOf(entries[page]) + s.packedOffset + (size_t)kvHead * Page::BYTES : nullptr;
  };
  u32 codes[2][Page::KEY_WORDS];   // of tokens row and row + 8 of a tile
  auto fetch = [&](const u8* page, int tile) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int w = 0; w < Page::KEY_WORDS; w++) {
        codes[half][w] = __ldcs(reinterpret_cast<const u32*>(page) + w * PAGE_TOKENS + TILE_TOKENS * tile + 8 * half + row);
      }
    }
  };
  const u8* page = pageAt(begin + warp);
  if (page != nullptr) fetch(page, 0);
  const u8* next = pageAt(begin + warp + warps);

#pragma unroll 1
  for (int number = begin + warp; number < end; number += warps) {
    const u8* following = pageAt(number + 2 * warps);
    const u32 position = __ldg(reinterpret_cast<const u32*>(page + Page::POSITION_AT));
    const u32 turn = min((position - s.firstPosition) / PAGE_TOKENS, s.turnPages - 1);
    TurnedQueries<D> turned;
    turned.turnBack(queries + row * (D / 2) + quad * (D / 8), s.pageTurns + (size_t)turn * (D / 2) + quad * (D / 8));
    const size_t entry = (size_t)packed.x + number;
    const RecordWriter writer{s.records + (entry * kvHeads + kvHead) * s.headBlocks * RECORD_BYTES, firstHead + 2 * quad,
                              s.sharing, s.heads};
#pragma unroll 1
    for (int tile = 0; tile < PAGE_TILES; tile++) {
      KeySums<D, STAGES> keys;
      keys.of(codes, rows + 16 * quad, row & 1, sums);
      const float scale[2] = {toFloat((u16)(codes[0][Page::KEY_WORDS - 1] >> 16)) * factor,
                              toFloat((u16)(codes[1][Page::KEY_WORDS - 1] >> 16)) * factor};
      if (tile < PAGE_TILES - 1) {   // prefetches while these are rotated and multiplied
        fetch(page, tile + 1);
      } else if (next != nullptr) {
        fetch(next, 0);
      }
      keys.turn(constants, scale, memory + (TILE_TOKENS * tile + row) * PlaceTurns<D>::STRIDE + 16 * quad);
      float scores[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
      for (int i = 0; i < D / 16; i++) {
        multiplyTiles(scores, keys.x[0][i], keys.x[1][i], keys.y[0][i], keys.y[1][i], turned.x[i], turned.y[i]);
      }
      writer.write(tile, row, scores, s.scale);
    }
    page = next;
    next = following;
  }
}
