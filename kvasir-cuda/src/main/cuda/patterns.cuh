// Keys and values as residuals from patterns (PatternKV). A score is the sum of the code's score and of the pattern's,
// which is in a table of the query with all patterns. Weights of values are summed by pattern, and patterns are added once,
// after all blocks. Patterns belong to a sequence; their pages follow the fp16 pages in the page table.
//
// Key patterns may be stored before RoPE. Then a pattern's score depends on the token's position, and no table can hold it:
// the pattern of each key is rotated by the token's offset from a multiple of 32, and queries are rotated back by the rest.
#pragma once
#include "attend.cuh"
#include "rotary.cuh"

constexpr int MOST_PATTERNS = BANK_PATTERNS * MOST_BANKS;   // including NO_PATTERN

// Which of keys and values have patterns: bit 0 for keys, bit 1 for values.
DEVICE bool hasPatterns(u32 sides, int side) { return sides >> side & 1; }

// PatternScoreKernels fills it in.
struct PatternTables {
  const Sequence* sequences;
  const PageEntry* table;
  const u16* queries;    // (sequences, query heads, D)
  u16* outputs;          // (sequences, query heads, D)
  float* scores;         // (sequences, query heads, MOST_PATTERNS)
  const float* mixed;    // (sequences, query heads, D + MOST_PATTERNS): outputs of codes, weights of patterns
  u64 offset;            // of this layer's banks
  float scale;           // factor of scores
  u32 sharing;
  u32 sides;             // that have patterns
  u32 unused;

  // Returns the entries of the bank pages, which follow the other pages.
  DEVICE const PageEntry* banks(const Sequence& s) const { return table + s.firstEntry + s.packedPages + s.halfPages; }
};

// Computes scores of all queries with all key patterns: grid (MOST_BANKS, KV heads, sequences), 256 threads.
template <int D> DEVICE void scorePatterns(const PatternTables& t) {
  constexpr int CHANNELS = D / 32;   // per lane, two or four
  letNextBegin();
  awaitPrevious();
  const Sequence sequence = t.sequences[blockIdx.z];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, bank = blockIdx.x;
  const size_t row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * t.sharing;
  float* scores = t.scores + row * MOST_PATTERNS + bank * BANK_PATTERNS;
  if (bank == MOST_BANKS - 1) {
    for (int head = threadIdx.x; head < t.sharing; head += blockDim.x) scores[head * MOST_PATTERNS + BANK_PATTERNS - 1] = 0.f;
  }
  if (bank >= sequence.tablePages || !hasPatterns(t.sides, 0)) return;
  const PageEntry entry = t.banks(sequence)[bank];
  const u8* patterns = addressOf(entry) + t.offset + (size_t)blockIdx.y * BankPage<D>::BYTES;
  const u16* queries = t.queries + row * D;
  for (int p = warp; p < tokensOf(entry); p += blockDim.x / 32) {
    const u16* pattern = reinterpret_cast<const u16*>(patterns) + p * D + CHANNELS * lane;
    for (int head = 0; head < t.sharing; head++) {
      const u16* query = queries + head * D + CHANNELS * lane;
      float sum = 0.f;
#pragma unroll
      for (int c = 0; c < CHANNELS; c++) sum = fmaf(toFloat(query[c]), toFloat(pattern[c]), sum);
#pragma unroll
      for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, s);
      if (lane == 0) scores[head * MOST_PATTERNS + p] = sum * t.scale;
    }
  }
}

// Adds the value patterns to outputs: grid (query heads of a KV head, KV heads, sequences), 256 threads.
template <int D> DEVICE void addPatterns(const PatternTables& t) {
  constexpr int COLUMNS = D / 2, TEAMS = 256 / COLUMNS;   // of two channels; a team takes every TEAMS-th pattern
  __shared__ float2 parts[TEAMS][COLUMNS];
  letNextBegin();
  awaitPrevious();
  const Sequence sequence = t.sequences[blockIdx.z];
  const int column = threadIdx.x % COLUMNS, team = threadIdx.x / COLUMNS;
  const size_t row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * t.sharing + blockIdx.x;
  const float* mixed = t.mixed + row * (D + MOST_PATTERNS);
  const float* weights = mixed + D;
  float2 sum = {0.f, 0.f};
  const int banks = hasPatterns(t.sides, 1) ? sequence.tablePages : 0;
  for (int bank = 0; bank < banks; bank++) {
    const PageEntry entry = t.banks(sequence)[bank];
    const u8* patterns = addressOf(entry) + t.offset + (size_t)blockIdx.y * BankPage<D>::BYTES + BankPage<D>::SIDE_BYTES;
    for (int p = team; p < tokensOf(entry); p += TEAMS) {
      const float weight = weights[bank * BANK_PATTERNS + p];
      const u32 both = reinterpret_cast<const u32*>(patterns)[p * COLUMNS + column];
      sum.x = fmaf(weight, toFloat((u16)both), sum.x);
      sum.y = fmaf(weight, toFloat((u16)(both >> 16)), sum.y);
    }
  }
  parts[team][column] = sum;
  __syncthreads();
  if (team > 0) return;
  float low = mixed[2 * column], high = mixed[2 * column + 1];
#pragma unroll
  for (int i = 0; i < TEAMS; i++) {
    low += parts[i][column].x;
    high += parts[i][column].y;
  }
  reinterpret_cast<u32*>(t.outputs + row * D)[column] = toHalves(low, high);
}

// The outputs of warps: outputs of codes, and a table of weights each.
template <int D> struct PatternOutputs {
  static constexpr int WIDTH = D + MOST_PATTERNS;
  float* memory;         // (warps, 4, D)
  const float* weights;  // (warps, MOST_PATTERNS, 4)
  float* mixed;          // of the block's first head

  DEVICE float4 of(int warp, int column) const {
    const int head = column / (WIDTH / 4), place = column % (WIDTH / 4);
    if (place < D / 4) return reinterpret_cast<float4*>(memory)[(warp * 4 + head) * (D / 4) + place];
    const float* four = weights + (warp * MOST_PATTERNS + 4 * (place - D / 4)) * 4 + head;
    return float4{four[0], four[4], four[8], four[12]};
  }
  DEVICE void store(int column, float4 x) const { reinterpret_cast<float4*>(mixed)[column] = x; }
};

DEVICE uint2 loadSharedTwo(u32 address) {
  uint2 v;
  asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
  return v;
}

// Replaces 8 bytes if they are still the same, atomically. Returns whether they were.
DEVICE bool replaceShared(u32 address, uint2 before, uint2 after) {
  u32 same;
  asm volatile("{ .reg .b64 o, n, f; .reg .pred p; mov.b64 o, {%2,%3}; mov.b64 n, {%4,%5};\n"
               "atom.shared.cas.b64 f, [%1], o, n; setp.eq.b64 p, f, o; selp.u32 %0,1,0,p; }"
               : "=r"(same)
               : "r"(address), "r"(before.x), "r"(before.y), "r"(after.x), "r"(after.y)
               : "memory");
  return same != 0;
}

// The weights of value patterns, for one set of four heads. Each warp has a table of (MOST_PATTERNS, 4 heads) in shared
// memory, so that a lane's two heads are adjacent.
template <int BITS, int D> struct PatternWeights {
  using Page = PatternPage<BITS, D>;
  float* all;       // weights of the first warp
  float* weights;   // of this warp

  DEVICE explicit PatternWeights(u8* memory) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    all = reinterpret_cast<float*>(memory);
    weights = all + warp * MOST_PATTERNS * 4;
#pragma unroll 1
    for (int i = lane; i < 4 * MOST_PATTERNS; i += 32) weights[i] = 0.f;
  }

  // Returns the token of x0[i] and x1[i] in a lane.
  DEVICE static int token(int i, int lane) { return 8 * i + (lane >> 2) + (Twice::upper(lane) ? 32 : 0); }

  DEVICE static u32 patternAt(u32 address) { return loadSharedByte(address); }

  // Lanes with the same two heads have the same factors.
  DEVICE void shrink(int lane, float factor0, float factor1) const {
    __syncwarp();
#pragma unroll 1
    for (int pattern = lane >> 1; pattern < MOST_PATTERNS; pattern += 16) {
      float2* both = reinterpret_cast<float2*>(weights + 4 * pattern + Twice::firstHead(lane));
      *both = float2{both->x * factor0, both->y * factor1};
    }
    __syncwarp();
  }

  // Tokens of a warp may have the same pattern. Each lane tries all of its tokens at once, both heads together, until no
  // other lane has changed a sum in between: there is no instruction that adds floats in shared memory.
  DEVICE void collect(u32 values, int lane, const u32 (&own)[4]) const {
    const u32 heads = sharedAddress(weights) + 4 * Twice::firstHead(lane);
    u32 at[4];
    bool open[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 pattern = patternAt(values + Page::Codes::VALUE_BYTES + token(i, lane));
      at[i] = heads + 16 * pattern;
      open[i] = pattern != NO_PATTERN;
    }
    while (open[0] || open[1] || open[2] || open[3]) {
      uint2 before[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (open[i]) before[i] = loadSharedTwo(at[i]);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (open[i]) {
          const uint2 after{__float_as_uint(__uint_as_float(before[i].x) + toFloat((u16)own[i])),
                            __float_as_uint(__uint_as_float(before[i].y) + toFloat((u16)(own[i] >> 16)))};
          open[i] = !replaceShared(at[i], before[i], after);
        }
      }
    }
    __syncwarp();
  }

  DEVICE PatternOutputs<D> outputs(const Attention& a, const Work& work, float* memory) const {
    return {memory, all, reinterpret_cast<float*>(a.collected) + work.row(a) * (D + MOST_PATTERNS)};
  }
};

// Patterns that do not rotate. Shared memory: a table of scores for the block, (MOST_PATTERNS, 4 heads), then weights.
template <int BITS, int D> struct PatternPart : PatternWeights<BITS, D> {
  using Weights = PatternWeights<BITS, D>;
  static constexpr int TABLE_BYTES = MOST_PATTERNS * 4 * 4;
  float* scores;

  DEVICE PatternPart(const Attention& a, const Work& work, u8* memory) : Weights(memory + TABLE_BYTES) {
    scores = reinterpret_cast<float*>(memory);
    const float* from = reinterpret_cast<const float*>(a.tables) + work.row(a) * MOST_PATTERNS;
#pragma unroll 1
    for (int i = threadIdx.x; i < 4 * MOST_PATTERNS; i += blockDim.x) {
      const int head = i / MOST_PATTERNS, pattern = i % MOST_PATTERNS;
      scores[4 * pattern + head] = head < work.heads ? __ldcg(from + i) : 0.f;
    }
    __syncthreads();
  }

  DEVICE void begin(u32, int) const {}

  DEVICE void addScores(u32 keys, int lane, float (&x0)[1][4], float (&x1)[1][4]) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 pattern = Weights::patternAt(keys + Weights::Page::Codes::KEY_BYTES + Weights::token(i, lane));
      const float2 both = *reinterpret_cast<const float2*>(scores + 4 * pattern + Twice::firstHead(lane));
      x0[0][i] += both.x;
      x1[0][i] += both.y;
    }
  }
};

// Patterns that rotate. The matrix units multiply 16 rotated patterns at a time: rows 0-7 are tokens of the first 32, rows
// 8-15 those 32 further. Columns 0-3 are the heads, rotated back by the page's first position; columns 4-7 are the same heads,
// rotated back by 32 more. So both halves of a page share the angles of 32 offsets. Shared memory:
//
//   patterns   (MOST_PATTERNS) of ROW_BYTES, in pair order; the last is zero
//   offsets    (32) of ROW_BYTES
//   queries    (4 heads) of (D / 2) float2, and 64 bytes between heads
//
// The two halves of every 128 bytes of an odd pattern or offset are exchanged: of the two rows that eight lanes read
// together, one is then likely in the other half of the banks.
template <int BITS, int D> struct RotaryPart : PatternWeights<BITS, D> {
  using Weights = PatternWeights<BITS, D>;
  using Tables = RotaryTables<D>;
  static constexpr int ROW_BYTES = Tables::ROW_BYTES;
  static constexpr int OFFSETS_AT = MOST_PATTERNS * ROW_BYTES;
  static constexpr int QUERIES_AT = OFFSETS_AT + TURN_TOKENS * ROW_BYTES;
  static constexpr int QUERY_BYTES = 4 * D + 64;
  static constexpr int WEIGHTS_AT = QUERIES_AT + 4 * QUERY_BYTES;
  static constexpr int STEPS = D / 16;   // of eight pairs

  const Tables tables;
  u32 patterns, offsets;   // addresses in shared memory
  const u8* queries;       // of the lane's column
  int page;                // the warp's next one
  u32 lastTurn;            // in the table of positions
  float scale;
  u32 queryX[STEPS], queryY[STEPS];

  DEVICE RotaryPart(const Attention& a, const Work& work, u8* memory)
      : Weights(memory + WEIGHTS_AT), tables{reinterpret_cast<const u8*>(a.tables)}, scale(a.scale) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    patterns = sharedAddress(memory);
    offsets = patterns + OFFSETS_AT;
    queries = memory + QUERIES_AT + Twice::column(lane) * QUERY_BYTES + 16 * (lane & 3);
    page = work.begin(work.sequence.packedPages, work.split) + warp;
    lastTurn = tables.positions() - 1;
    const PageEntry* banks = work.entries + work.sequence.packedPages + work.sequence.halfPages;
#pragma unroll 1
    for (int bank = 0; bank < (int)work.sequence.tablePages; bank++) {
      const PageEntry entry = banks[bank];
      const u8* from = addressOf(entry) + a.tableOffset + (size_t)work.kvHead * BankPage<D>::BYTES;
      copyRows(patterns + bank * BANK_PATTERNS * ROW_BYTES, from, tokensOf(entry));
    }
    copyRows(offsets, tables.base + Tables::OFFSETS_AT, TURN_TOKENS);
    endCopies();
    float2* pairs = reinterpret_cast<float2*>(memory + QUERIES_AT);
#pragma unroll 1
    for (int i = threadIdx.x; i < 4 * Tables::PAIRS; i += blockDim.x) {
      const int head = i / Tables::PAIRS, pair = i % Tables::PAIRS;
      const u16* query = a.queries + (work.row(a) + head) * D;
      const bool there = head < work.heads;
      pairs[head * (QUERY_BYTES / 8) + pair] = float2{there ? toFloat(query[tables.channel(pair, 0)]) : 0.f,
                                                      there ? toFloat(query[tables.channel(pair, 1)]) : 0.f};
    }
    awaitCopies<0>();
    __syncthreads();   // NO_PATTERN may be the place of a copied row
    u32* none = reinterpret_cast<u32*>(memory + NO_PATTERN * ROW_BYTES);
    for (int i = threadIdx.x; i < ROW_BYTES / 4; i += blockDim.x) none[i] = 0;
    __syncthreads();
  }

  DEVICE static void copyRows(u32 to, const u8* from, int rows) {
    constexpr int CHUNKS = ROW_BYTES / 16;
#pragma unroll 4
    for (int i = threadIdx.x; i < rows * CHUNKS; i += blockDim.x) {
      copyAhead(to + 16 * (i ^ (i / CHUNKS % 2 * 4)), from + 16 * i);
    }
  }

  // Rotates the queries back by the position of the warp's next page.
  DEVICE void begin(u32, int lane) {
    const u32 turn = min((u32)(2 * page + (lane >> 4)), lastTurn);
    const float4* angles = reinterpret_cast<const float4*>(tables.ofPosition(turn)) + (lane & 3);
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      const float4 q = *reinterpret_cast<const float4*>(queries + 64 * s), t = __ldg(angles + 4 * s);
      queryX[s] = toHalves(fmaf(q.x, t.x, q.y * t.y), fmaf(q.z, t.z, q.w * t.w));
      queryY[s] = toHalves(fmaf(q.y, t.x, -q.x * t.y), fmaf(q.w, t.z, -q.z * t.w));
    }
    page += blockDim.x / 32;
  }

  // Returns the address of a quad's 16 bytes in the first half of a row's first 128 bytes.
  DEVICE static u32 rowAt(u32 rows, u32 row, int lane) { return rows + row * ROW_BYTES + (row & 1) * 64 + 16 * (lane & 3); }

  DEVICE void addScores(u32 keys, int lane, float (&x0)[1][4], float (&x1)[1][4]) const {
    const bool upper = Twice::upper(lane);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 token = 8 * i + (lane >> 2), labels = keys + Weights::Page::Codes::KEY_BYTES + token;
      const u32 near = rowAt(patterns, Weights::patternAt(labels), lane);
      const u32 far = rowAt(patterns, Weights::patternAt(labels + 32), lane);
      const u32 offset = rowAt(offsets, token, lane);
      float c[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
      for (int w = 0; w < STEPS / 2; w++) {
        const u32 half = 64 * (w & 1), at = 128 * (w >> 1);
        const uint4 a = loadShared((near ^ half) + at), b = loadShared((far ^ half) + at), t = loadShared((offset ^ half) + at);
        multiplyTiles(c, rotatedX(a.x, a.y, t.x, t.y), rotatedX(b.x, b.y, t.x, t.y), rotatedY(a.x, a.y, t.x, t.y),
                      rotatedY(b.x, b.y, t.x, t.y), queryX[2 * w], queryY[2 * w]);
        multiplyTiles(c, rotatedX(a.z, a.w, t.z, t.w), rotatedX(b.z, b.w, t.z, t.w), rotatedY(a.z, a.w, t.z, t.w),
                      rotatedY(b.z, b.w, t.z, t.w), queryX[2 * w + 1], queryY[2 * w + 1]);
      }
      x0[0][i] = fmaf(upper ? c[2] : c[0], scale, x0[0][i]);
      x1[0][i] = fmaf(upper ? c[3] : c[1], scale, x1[0][i]);
    }
  }
};
