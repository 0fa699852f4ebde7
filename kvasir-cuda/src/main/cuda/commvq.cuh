// Attention on pages of codebook indices (CommVQ). Keys, before rotation, and values are sums of codebook rows.
// CodebookPage and CodebookTableLayout have the same layouts in Java; docs/gpu.md shows them.
//
//   key[t]   = rotated by t (mean + scale[t] * units * sum over stages of (z[a] + i z[b])),  pairs of channels as numbers x + iy
//   value[t] = mean + scale[t] * sum over stages of (first[a] + second[b])
//
// There are two kernels. The score kernel holds the key rows of a KV head in shared memory as bytes and sums a key once for
// all query heads that share it. It writes weights relative to the maximum score of their 16 tokens. The output kernel
// computes no values: it adds the weight of a token to the bins of the rows that its codes name, and multiplies rows by
// their bins at the end.
#pragma once
#include "attend.cuh"
#include "store.cuh"

constexpr int CODEBOOK_ROWS = 64;
constexpr int INDEX_BITS = 6;
constexpr int RECORD_HEADS = 4;                                             // query heads per record of weights
constexpr int RECORD_WEIGHT_BYTES = PAGE_TOKENS * RECORD_HEADS * 2;
constexpr int RECORD_BYTES = RECORD_WEIGHT_BYTES + PAGE_TILES * RECORD_HEADS * 4;   // and the maximum scores of 16 tokens

// A page: 64 tokens of one KV head.
//
//   key words     (KEY_WORDS, 64 tokens): five 6-bit indices per word, from bit 0 on; the token's scale is the upper
//                 half of the last word
//   value words   (4 times 16 tokens, 3, SETS): 16 indices of six bits in three words
//   value scales  (64) halves
//   position      u32, of the first token
template <int STAGES> struct CommvqPage {
  static constexpr int SETS = 2 * STAGES;   // of rows: first and second rows of each stage
  static constexpr int LAST = SETS % 5;     // indices of the last word
  static constexpr int KEY_WORDS = SETS / 5 + (LAST > 2 ? 2 : 1);
  static constexpr int VALUE_AT = KEY_WORDS * PAGE_TOKENS * 4;
  static constexpr int VALUE_SCALES_AT = VALUE_AT + 12 * SETS * 4;
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

// Value rows as operands of the matrix instruction, in bin order: 16 rows in place of 16 tokens of an fp16 page. The first
// of the last 16 rows is the mean.
template <int D, int STAGES> struct ValueTable {
  static constexpr int GROUPS = (2 * STAGES + 7) / 8;   // of eight sets; a bin is (group, row, set in it)
  static constexpr int BINS = GROUPS * CODEBOOK_ROWS * 8;
  static constexpr int TILES = BINS / TILE_TOKENS;
  static constexpr int TILE_BYTES = D / 16 * 512;
  static constexpr int BYTES = (TILES + 1) * TILE_BYTES;
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
template <int D, int STAGES> DEVICE void scorePages(const Scoring& s) {
  using Page = CommvqPage<STAGES>;
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

// What the output kernel reads in addition to pages.
struct Mixing {
  const u8* records;   // as written by the score kernel
  const u8* values;    // (KV heads) value tables of the layer
};

// A warp's bins and its weights of a page, (64 tokens, 4 heads) floats.
template <int D, int STAGES> struct MixingMemory {
  static constexpr int BIN_BYTES = ValueTable<D, STAGES>::BINS * 16;
  static constexpr int WARP_BYTES = BIN_BYTES + PAGE_TOKENS * 16;
};

struct MixedTotals {
  float most[RECORD_HEADS];                  // of all packed pages of the block
  float ofWarp[MOST_WARPS][RECORD_HEADS];    // maxima, then sums of weights
};

DEVICE float4 fourHalves(uint2 words) {
  return float4{toFloat((u16)words.x), toFloat((u16)(words.x >> 16)), toFloat((u16)words.y), toFloat((u16)(words.y >> 16))};
}

// What a lane prefetches: weights and scales of two tokens, and the indices of its sets.
template <int STAGES> struct ValuePage {
  static constexpr int SETS = 2 * STAGES, TURNS = (SETS + 31) / 32;
  uint4 weights;
  float4 most;
  u32 scales;
  u32 words[TURNS][12];

  DEVICE void fetch(const u8* page, const u8* record, int lane) {
    using Page = CommvqPage<STAGES>;
    weights = loadGlobal(record + 16 * lane);
    most = *reinterpret_cast<const float4*>(record + RECORD_WEIGHT_BYTES + 16 * (lane / 8));
    scales = *reinterpret_cast<const u32*>(page + Page::VALUE_SCALES_AT + 4 * lane);
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const int set = lane + 32 * turn;
      const u32* at = reinterpret_cast<const u32*>(page + Page::VALUE_AT) + set;
#pragma unroll
      for (int w = 0; w < 12; w++) words[turn][w] = set < SETS ? __ldcs(at + w * SETS) : 0;
    }
  }

  // Returns the byte offset of the row of a token's index; the token is a compile-time constant.
  DEVICE u32 row(int turn, int token) const {
    const int bit = INDEX_BITS * token, word = bit / 32, shift = bit % 32;
    const u32 low = words[turn][word], high = shift > 26 ? words[turn][word + 1] : 0;
    const u32 field = shift > 26 ? __funnelshift_r(low, high, shift) : low >> shift;
    return (field & 63) * 128;
  }
};

// Adds the weights of a page to the bins of the rows that its codes name. Each lane has its own sets, so no other lane adds
// to its bins.
template <int STAGES>
DEVICE void addToBins(const ValuePage<STAGES>& page, const float4* weights, u8* bins, int lane) {
  constexpr int TURNS = ValuePage<STAGES>::TURNS, SETS = 2 * STAGES;
  // (group, row, set in it) times four heads
  u8* own[TURNS];
#pragma unroll
  for (int turn = 0; turn < TURNS; turn++) {
    const int set = lane + 32 * turn;
    own[turn] = bins + set / 8 * (CODEBOOK_ROWS * 128) + set % 8 * 16;
  }
  if (lane >= SETS) return;
#pragma unroll
  for (int token = 0; token < PAGE_TOKENS; token++) {
    const float4 w = weights[token];
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      if (turn == 0 || lane + 32 * turn < SETS) {
        float4* bin = reinterpret_cast<float4*>(own[turn] + page.row(turn, token));
        float4 sum = *bin;
        sum.x += w.x; sum.y += w.y; sum.z += w.z; sum.w += w.w;
        *bin = sum;
      }
    }
  }
}

DEVICE float part(const float4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Finds the maximum scores of a block's packed pages by head; a barrier makes them visible to all threads.
DEVICE void findMost(const u8* records, size_t stride, int pages, MixedTotals& totals) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  float4 most{minusInfinity(), minusInfinity(), minusInfinity(), minusInfinity()};
  for (int i = threadIdx.x; i < PAGE_TILES * pages; i += blockDim.x) {
    const float4 each = *reinterpret_cast<const float4*>(records + (i / PAGE_TILES) * stride + RECORD_WEIGHT_BYTES +
                                                         i % PAGE_TILES * 16);
    most.x = fmaxf(most.x, each.x); most.y = fmaxf(most.y, each.y);
    most.z = fmaxf(most.z, each.z); most.w = fmaxf(most.w, each.w);
  }
#pragma unroll
  for (int h = 0; h < RECORD_HEADS; h++) {
    float each = part(most, h);
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) each = fmaxf(each, __shfl_xor_sync(ALL_LANES, each, s));
    if (lane == 0) totals.ofWarp[warp][h] = each;
  }
  __syncthreads();
  if (threadIdx.x < RECORD_HEADS) {
    float each = minusInfinity();
    for (int w = 0; w < warps; w++) each = fmaxf(each, totals.ofWarp[w][threadIdx.x]);
    totals.most[threadIdx.x] = each;
  }
  __syncthreads();
}

// Adds all packed pages of a block to the bins of its warps, and those to the bins of the first warp. Sums of weights go to
// totals.
template <int D, int STAGES>
DEVICE void fillBins(const Attention& a, const Work& work, const Mixing& mixing, int begin, int end, MixedTotals& totals) {
  using Page = CommvqPage<STAGES>;
  using Memory = MixingMemory<D, STAGES>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const size_t stride = (size_t)gridDim.y * RECORD_BYTES;   // from a page's record to the next page's
  const u8* records = mixing.records + ((size_t)work.sequence.firstEntry + begin) * stride + (size_t)blockIdx.y * RECORD_BYTES;
  findMost(records, stride, end - begin, totals);

  u8* bins = dynamicMemory + (size_t)warp * Memory::WARP_BYTES;
  for (int at = 16 * lane; at < Memory::BIN_BYTES; at += 512) {
    *reinterpret_cast<float4*>(bins + at) = float4{0.f, 0.f, 0.f, 0.f};
  }
  float4* weights = reinterpret_cast<float4*>(bins + Memory::BIN_BYTES);
  float4 sum{0.f, 0.f, 0.f, 0.f};
  const float4 most = *reinterpret_cast<const float4*>(totals.most);
  const size_t offset = (size_t)work.kvHead * Page::BYTES + a.packedOffset;
  auto fetch = [&](ValuePage<STAGES>& page, int number) {
    if (number < end) page.fetch(addressOf(work.entries[number]) + offset, records + (size_t)(number - begin) * stride, lane);
  };
  ValuePage<STAGES> now, next;
  fetch(now, begin + warp);
#pragma unroll 1
  for (int number = begin + warp; number < end; number += warps) {
    fetch(next, number + warps);
    const float4 factor{powerOfTwo(now.most.x - most.x), powerOfTwo(now.most.y - most.y), powerOfTwo(now.most.z - most.z),
                        powerOfTwo(now.most.w - most.w)};
    __syncwarp();
#pragma unroll
    for (int e = 0; e < 2; e++) {   // the lane's two tokens
      const float4 w = fourHalves(e ? uint2{now.weights.z, now.weights.w} : uint2{now.weights.x, now.weights.y});
      const float scale = toFloat((u16)(now.scales >> 16 * e));
      const float4 p{w.x * factor.x, w.y * factor.y, w.z * factor.z, w.w * factor.w};
      sum.x += p.x; sum.y += p.y; sum.z += p.z; sum.w += p.w;
      weights[2 * lane + e] = float4{p.x * scale, p.y * scale, p.z * scale, p.w * scale};
    }
    __syncwarp();
    addToBins<STAGES>(now, weights, bins, lane);
    now = next;
  }
#pragma unroll
  for (int h = 0; h < RECORD_HEADS; h++) {
    float each = part(sum, h);
#pragma unroll
    for (int s = 1; s < 32; s <<= 1) each += __shfl_xor_sync(ALL_LANES, each, s);
    if (lane == 0) totals.ofWarp[warp][h] = each;
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < ValueTable<D, STAGES>::BINS; bin += blockDim.x) {
    float4 all{0.f, 0.f, 0.f, 0.f};
    for (int w = 0; w < warps; w++) {
      const float4 each = reinterpret_cast<const float4*>(dynamicMemory + (size_t)w * Memory::WARP_BYTES)[bin];
      all.x += each.x; all.y += each.y; all.z += each.z; all.w += each.w;
    }
    reinterpret_cast<float4*>(dynamicMemory)[bin] = all;
  }
  __syncthreads();
}

// Adds a warp's share of the rows, multiplied by their bins, to its outputs. Bins are divided by the sum of weights, so
// that as halves they are at most a token's scale.
template <int D, int STAGES>
DEVICE void mixRows(const Work& work, const Mixing& mixing, const MixedTotals& totals, Heads<Eight, D>& heads) {
  using Table = ValueTable<D, STAGES>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, quad = lane & 3, column = lane >> 2;
  auto totalOf = [&](int head) {
    float total = 0.f;
    if (head < work.heads) {
      for (int w = 0; w < warps; w++) total += totals.ofWarp[w][head];
    }
    return total;
  };
  const bool there = column < work.heads;
  const float back = there ? 1.f / totalOf(column) : 0.f;
  const float* bins = reinterpret_cast<const float*>(dynamicMemory);
  const u8* table = mixing.values + (size_t)work.kvHead * Table::BYTES + 16 * lane;
  float mixed[D / 16][4];
#pragma unroll
  for (int i = 0; i < D / 16; i++) { mixed[i][0] = mixed[i][1] = mixed[i][2] = mixed[i][3] = 0.f; }
#pragma unroll 2
  for (int tile = warp; tile < Table::TILES; tile += warps) {
    auto at = [&](int row) {
      return there ? bins[(TILE_TOKENS * tile + 2 * quad + row) * RECORD_HEADS + column] * back : 0.f;
    };
    addValues<D>(GlobalFragments{table + (size_t)tile * Table::TILE_BYTES}, TILE_TOKENS, lane, toHalves(at(0), at(1)),
                 toHalves(at(8), at(9)), mixed);
  }
  if (warp == 0) {
    const u32 one = there && quad == 0 ? toHalves(1.f, 0.f) : 0u;
    addValues<D>(GlobalFragments{table + (size_t)Table::TILES * Table::TILE_BYTES}, TILE_TOKENS, lane, one, 0u, mixed);
  }

  const int first = Eight::firstHead(lane);
#pragma unroll
  for (int e = 0; e < 2; e++) {
    const float total = totalOf(first + e), most = first + e < work.heads ? totals.most[first + e] : minusInfinity();
    float& own = e ? heads.most1 : heads.most0;
    float& sum = e ? heads.sum1 : heads.sum0;
    const float all = fmaxf(own, most), kept = shrinking(own, all);
    const float added = shrinking(most, all) * total * powerOfTwo(WEIGHT_SHIFT);   // in the units of fp16 pages' weights
    own = all;
    sum = sum * kept + (warp == 0 ? added : 0.f);
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      heads.outputs[i][e] = heads.outputs[i][e] * kept + mixed[i][e] * added;
      heads.outputs[i][2 + e] = heads.outputs[i][2 + e] * kept + mixed[i][2 + e] * added;
    }
  }
}

// Attends the fp16 pages of a sequence with packed pages.
template <int D> DEVICE void attendTilesOfEight(const Attention& a, const Work& work, Heads<Eight, D>& heads) {
  using Page = HalfPage<D>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int tiles = PAGE_TILES * work.sequence.halfPages;
#pragma unroll 1
  for (int tile = work.split * warps + warp; tile < tiles; tile += work.splits * warps) {
    const PageEntry entry = work.entries[work.sequence.packedPages + tile / PAGE_TILES];
    const int tokens = tokensOf(entry) - tile % PAGE_TILES * TILE_TOKENS;
    if (tokens <= 0) continue;
    const size_t offset = (size_t)work.kvHead * Page::BYTES + a.halfOffset;
    const u8* keys = addressOf(entry) + offset + tile % PAGE_TILES * Page::TILE_BYTES + 16 * lane;
    u32 near, far;
    attendTile(heads, GlobalFragments{keys}, tokens, lane, a.scale, near, far);
    addValues<D>(GlobalFragments{keys + Page::KEY_BYTES}, tokens, lane, near, far, heads.outputs);
  }
}

// Computes outputs of up to four heads per block, from the weights of packed pages and from fp16 pages.
template <int D, int STAGES> DEVICE void attendCommvq(const Attention& a, const Mixing& mixing) {
  __shared__ BlockMemory block;
  __shared__ __align__(16) MixedTotals totals;
  letNextBegin();
  awaitPrevious();
  const Work work(a);
  if (work.none()) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int begin = work.begin(work.sequence.packedPages, work.split);
  const int end = work.begin(work.sequence.packedPages, work.split + 1);
  if (begin < end) fillBins<D, STAGES>(a, work, mixing, begin, end, totals);
  Heads<Eight, D> heads;
  heads.load(a.queries + work.row(a) * D, work.heads, lane);
  heads.clear();
  attendTilesOfEight<D>(a, work, heads);
  heads.addSumsOfLanes();
  if (begin < end) mixRows<D, STAGES>(work, mixing, totals, heads);
  __syncthreads();   // bins are reused for outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveEight<D>(heads, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, Eight::HEADS>{outputs, a.outputs + work.row(a) * D});
}

// Dequantizes single numbers of a page.
template <int D, int STAGES> struct CommvqPlaces {
  using Page = CommvqPage<STAGES>;
  using Keys = KeyTable<D, STAGES>;
  using Values = ValueTable<D, STAGES>;

  DEVICE static u32 keyWord(const u8* page, int token, int word) {
    return reinterpret_cast<const u32*>(page)[word * PAGE_TOKENS + token];
  }

  DEVICE static u32 keyIndex(const u8* page, int token, int set) {
    return keyWord(page, token, set / 5) >> INDEX_BITS * (set % 5) & 63;
  }

  DEVICE static u32 valueIndex(const u8* page, int token, int set) {
    const int bit = INDEX_BITS * (token % 16);
    const u32* words = reinterpret_cast<const u32*>(page + Page::VALUE_AT) + token / 16 * 3 * Page::SETS + set;
    const u32 low = words[bit / 32 * Page::SETS], high = bit % 32 > 26 ? words[(bit / 32 + 1) * Page::SETS] : 0;
    return __funnelshift_r(low, high, bit % 32) & 63;
  }

  // Returns a pair of channels of a key before rotation.
  DEVICE static float2 key(const u8* table, const u8* page, int token, int pair) {
    const int quad = pair / Keys::PAIRS, own = pair % Keys::PAIRS;
    const signed char* rows = reinterpret_cast<const signed char*>(table) + own / 8 * 64 + 16 * quad + 2 * (own % 8);
    int x = 0, y = 0;
    for (int stage = 0; stage < STAGES; stage++) {
      const signed char* a = rows + stage * Keys::STAGE_BYTES + keyIndex(page, token, 2 * stage) * Keys::ROW_BYTES;
      const signed char* b = rows + stage * Keys::STAGE_BYTES + keyIndex(page, token, 2 * stage + 1) * Keys::ROW_BYTES;
      x += a[0] - b[1];
      y += a[1] + b[0];
    }
    const u16* lane = reinterpret_cast<const u16*>(table + Keys::LANES_AT + quad * Keys::LANE_BYTES) + own;
    const float factor = *reinterpret_cast<const float*>(table + Keys::FACTOR_AT);
    const float unit = toFloat(lane[0]) * factor * toFloat((u16)(keyWord(page, token, Page::KEY_WORDS - 1) >> 16));
    return float2{fmaf(unit, (float)x, toFloat(lane[Keys::PAIRS])), fmaf(unit, (float)y, toFloat(lane[2 * Keys::PAIRS]))};
  }

  DEVICE static float row(const u8* table, int bin, int channel) {
    const int column = bin % TILE_TOKENS, row = channel % (D / 2);
    const int lane = 4 * (row % 8) + column % 8 / 2, part = channel / (D / 2) + 2 * (column / 8);
    return toFloat(*reinterpret_cast<const u16*>(table + (size_t)(bin / TILE_TOKENS) * Values::TILE_BYTES + row / 8 * 512 +
                                                 16 * lane + 4 * part + 2 * (bin & 1)));
  }

  DEVICE static float value(const u8* table, const u8* page, int token, int channel) {
    float sum = 0.f;
    for (int set = 0; set < Page::SETS; set++) {
      sum += row(table, (set / 8 * CODEBOOK_ROWS + valueIndex(page, token, set)) * 8 + set % 8, channel);
    }
    const float scale = toFloat(reinterpret_cast<const u16*>(page + Page::VALUE_SCALES_AT)[token]);
    return fmaf(scale, sum, row(table, Values::BINS, channel));
  }
};

// The tables that a page is dequantized with.
struct Codebooks {
  const u8* keys;            // (layers, KV heads) key tables
  const u8* values;          // (layers, KV heads) value tables
  const float2* places;      // (128, D / 2) cosines and sines of token indices in a block of two pages
  const float2* pageTurns;   // (pages, D / 2), of a page's first position
  const u16* order;          // (2, D / 2) channels of pairs
  u32 firstPosition, turnPages;
};

DEVICE float2 turnedBy(float2 x, float2 turn) {
  return float2{fmaf(x.x, turn.x, -x.y * turn.y), fmaf(x.y, turn.x, x.x * turn.y)};
}

// 256 threads: dequantizes packed pages.
template <int D, int STAGES> DEVICE void expandPage(const Unpacking& unpacking, const Codebooks& books) {
  using Places = CommvqPlaces<D, STAGES>;
  using Page = CommvqPage<STAGES>;
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  u8* halves = unpacking.halves<D>();
  const u8* page = unpacking.packed(Page::BYTES);
  const size_t head = (size_t)unpacking.layer() * gridDim.y + blockIdx.y;
  const u8* keys = books.keys + head * KeyTable<D, STAGES>::BYTES;
  const u8* values = books.values + head * ValueTable<D, STAGES>::BYTES;
  const u32 position = *reinterpret_cast<const u32*>(page + Page::POSITION_AT);
  const u32 turn = min((position - books.firstPosition) / PAGE_TOKENS, books.turnPages - 1);
  const float2* page0 = books.pageTurns + (size_t)turn * (D / 2);
  for (int i = threadIdx.x; i < PAGE_TOKENS * (D / 2); i += blockDim.x) {
    const int token = i / (D / 2), pair = i % (D / 2);
    const float2 key = Places::key(keys, page, token, pair);
    const float2 turned = turnedBy(turnedBy(key, books.places[i]), page0[pair]);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, books.order[pair])) = toHalf(turned.x);
    *reinterpret_cast<u16*>(halves + HalfPage<D>::keyOffset(token, books.order[D / 2 + pair])) = toHalf(turned.y);
  }
  for (int i = threadIdx.x; i < PAGE_TOKENS * D; i += blockDim.x) {
    const int token = i / D, channel = i % D;
    *reinterpret_cast<u16*>(halves + HalfPage<D>::valueOffset(token, channel)) =
        toHalf(Places::value(values, page, token, channel));
  }
}
