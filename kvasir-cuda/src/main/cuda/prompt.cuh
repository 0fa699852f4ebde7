// Attention of a prompt chunk: many rows of one sequence, each up to its own position. A warp has 16 queries, of rows and
// of the query heads that share a KV head, as one operand. Keys and values of a page are the other operand, so a fragment
// of rows in pages.cuh becomes two of columns here. Packed codes are converted to halves in registers, for 16 queries at
// once.
#pragma once
#include "pages.cuh"

constexpr int PROMPT_WARPS = 4;
constexpr int PROMPT_QUERIES = 16 * PROMPT_WARPS;   // of a block

// Consecutive rows of one sequence with consecutive positions. PrefillChunks fills it in.
struct PromptRun {
  u32 firstRow, rows;
  u32 firstPosition;
  u32 firstEntry, packedPages;   // fp16 pages follow the packed ones
  u32 sinks;                     // the first tokens, in the first fp16 pages
  u32 firstTable;                // the first entry of the sequence's tables
  u32 unused;

  DEVICE int sinkPages() const { return (sinks + PAGE_TOKENS - 1) / PAGE_TOKENS; }

  // The position of a page's first token, by its place in the table.
  DEVICE int positionAt(int page) const {
    return page < (int)packedPages ? (int)sinks + PAGE_TOKENS * page : positionOf(page - (int)packedPages);
  }

  // The position of an fp16 page's first token, below 0 for dequantized pages, which come first; and the number of pages
  // with tokens up to a position.
  DEVICE int positionOf(int halfPage) const {
    const int behind = halfPage - sinkPages();
    return PAGE_TOKENS * (behind < 0 ? halfPage : (int)packedPages + behind) + (behind < 0 ? 0 : sinks);
  }
  DEVICE int pagesTo(int position) const {
    const int behind = position - (int)sinks;
    return behind < 0 ? position / PAGE_TOKENS + 1 : sinkPages() + behind / PAGE_TOKENS + 1;
  }
};

struct Prompt {
  const PromptRun* runs;
  const PageEntry* entries;
  const u16* queries;   // (rows, query heads, D)
  u16* outputs;         // (rows, query heads, D)
  u64 packedOffset, halfOffset;
  float scale;          // factor of scores, times log2(e)
  u32 sharing;          // query heads per KV head
  u32 queryHeads;
  u32 window;           // tokens that a row attends to, its own included; of `limited` kernels, like the next one
  float cap;            // bound of scores, times log2(e); 0 for none
  const float* sinkScores;   // (query heads) scores of learned sinks, times log2(e), or null
};

// The tokens of a page that a lane's rows r and r + 8 attend to.
struct SeenTokens {
  static constexpr bool LIMITED = false;
  int ends[2];

  DEVICE bool has(int h, int token) const { return token < ends[h]; }
  DEVICE float cap(float score) const { return score; }
};

// The same with a sliding window and a soft cap. A row may attend to no token of a page.
struct WindowTokens {
  static constexpr bool LIMITED = true;
  int begins[2], ends[2];
  float most;

  DEVICE bool has(int h, int token) const { return token >= begins[h] && token < ends[h]; }
  DEVICE float cap(float score) const { return softCap(score, most); }
};

// Converts codes at bit B of either half of a word to halves: with the exponent of 2^(10 - B), a step of the codes is one.
template <int BITS, int B> DEVICE u32 codesAsHalves(u32 word) {
  constexpr u32 MASK = ((1u << BITS) - 1) << B, ONES = 0x6400u - (B << 10);
  u32 lifted, codes;
  lifted = (word & (MASK | MASK << 16)) | (ONES | ONES << 16);
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(codes) : "r"(lifted), "r"(ONES | ONES << 16));
  return codes;
}

DEVICE u32 multiplyAddHalves(u32 a, u32 b, u32 c) {
  u32 r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

// A warp's state for its 16 queries; a lane has rows r and r + 8.
template <int D> struct Reader {
  static constexpr int STEPS = D / 16;
  static constexpr float LEAST = -1e30f;
  u32 queries[STEPS][4];
  float scores[8][4];          // (tokens / 8), then weights
  float outputs[2 * STEPS][4]; // (channels / 8)
  float most[2], sums[2];

  DEVICE void begin() {
#pragma unroll
    for (int n = 0; n < 2 * STEPS; n++) { outputs[n][0] = outputs[n][1] = outputs[n][2] = outputs[n][3] = 0.f; }
    most[0] = most[1] = minusInfinity();
    sums[0] = sums[1] = 0.f;
  }

  DEVICE void clearScores() {
#pragma unroll
    for (int n = 0; n < 8; n++) { scores[n][0] = scores[n][1] = scores[n][2] = scores[n][3] = 0.f; }
  }

  DEVICE void score(int n, int step, u32 b0, u32 b1) {
    multiplyTiles(scores[n], queries[step][0], queries[step][1], queries[step][2], queries[step][3], b0, b1);
  }

  DEVICE void add(int n, const u32 (&weights)[4], u32 b0, u32 b1) {
    multiplyTiles(outputs[n], weights[0], weights[1], weights[2], weights[3], b0, b1);
  }

  // Converts scores to weights and rescales the sums so far to the new maximum.
  template <class TOKENS> DEVICE void weigh(float scale, const TOKENS& seen) {
    const int q = threadIdx.x & 3;
    float largest[2] = {most[0], most[1]};
#pragma unroll
    for (int n = 0; n < 8; n++) {
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int token = 8 * n + 2 * q + (e & 1);
        scores[n][e] = seen.has(e >> 1, token) ? seen.cap(scores[n][e] * scale) : minusInfinity();
        largest[e >> 1] = fmaxf(largest[e >> 1], scores[n][e]);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
      largest[h] = fmaxf(largest[h], __shfl_xor_sync(ALL_LANES, largest[h], 1));
      largest[h] = fmaxf(largest[h], __shfl_xor_sync(ALL_LANES, largest[h], 2));
      if (TOKENS::LIMITED && largest[h] == minusInfinity()) largest[h] = LEAST;   // no token so far: weights are zero, not NaN
      const float factor = powerOfTwo(most[h] - largest[h]);
      most[h] = largest[h];
      sums[h] *= factor;
#pragma unroll
      for (int n = 0; n < 2 * STEPS; n++) {
        outputs[n][2 * h] *= factor;
        outputs[n][2 * h + 1] *= factor;
      }
    }
#pragma unroll
    for (int n = 0; n < 8; n++) {
#pragma unroll
      for (int e = 0; e < 4; e++) {
        scores[n][e] = powerOfTwo(scores[n][e] - most[e >> 1]);
        sums[e >> 1] += scores[n][e];
      }
    }
  }

  // Returns weights of 16 tokens as an operand.
  DEVICE void weights(int tile, u32 (&a)[4]) const {
    a[0] = toHalves(scores[2 * tile][0], scores[2 * tile][1]);
    a[1] = toHalves(scores[2 * tile][2], scores[2 * tile][3]);
    a[2] = toHalves(scores[2 * tile + 1][0], scores[2 * tile + 1][1]);
    a[3] = toHalves(scores[2 * tile + 1][2], scores[2 * tile + 1][3]);
  }
};

// Attends an fp16 page in shared memory; memory after its last token may hold NaN.
template <int D, class TOKENS>
DEVICE void readHalves(Reader<D>& reader, const u8* page, int tokens, float scale, const TOKENS& seen) {
  using Page = HalfPage<D>;
  const int lane = threadIdx.x % 32, q = lane & 3;
  reader.clearScores();
#pragma unroll
  for (int step = 0; step < D / 16; step++) {
#pragma unroll
    for (int tile = 0; tile < PAGE_TILES; tile++) {
      const uint4 keys = *reinterpret_cast<const uint4*>(page + tile * Page::TILE_BYTES + 512 * step + 16 * lane);
      reader.score(2 * tile, step, keys.x, keys.z);
      reader.score(2 * tile + 1, step, keys.y, keys.w);
    }
  }
  reader.weigh(scale, seen);
#pragma unroll
  for (int tile = 0; tile < PAGE_TILES; tile++) {
    u32 weights[4];
    reader.weights(tile, weights);
    const int left = tokens - 16 * tile - 2 * q;   // remaining tokens from this lane's pair on
    const u32 low = left >= 2 ? ~0u : left == 1 ? 0xffffu : 0u, high = left >= 10 ? ~0u : left == 9 ? 0xffffu : 0u;
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
      const u8* at = page + tile * Page::TILE_BYTES + Page::KEY_BYTES + 512 * i + 16 * lane;
      const uint4 values = *reinterpret_cast<const uint4*>(at);
      reader.add(i, weights, values.x & low, values.z & high);
      reader.add(D / 16 + i, weights, values.y & low, values.w & high);
    }
  }
}

// Computes scores of 8 tokens of each group of 32, for 16 channels: field FIRST of a word and that of the second group.
template <int BITS, int D, int FIRST>
DEVICE void scoreWord(Reader<D>& reader, int tile, int step, u32 word, const uint2 (&scales)[2], const uint4& zeros) {
  constexpr int SECOND = FIRST + BITS;
  const u32 upper = word >> 8;
  reader.score(tile, step, multiplyAddHalves(codesAsHalves<BITS, FIRST>(word), scales[0].x, zeros.x),
               multiplyAddHalves(codesAsHalves<BITS, FIRST>(upper), scales[0].y, zeros.z));
  reader.score(4 + tile, step, multiplyAddHalves(codesAsHalves<BITS, SECOND>(word), scales[1].x, zeros.y),
               multiplyAddHalves(codesAsHalves<BITS, SECOND>(upper), scales[1].y, zeros.w));
}

// Adds outputs of 8 channels of the lower half of the head and 8 of the upper half, which take the token groups in reverse
// order.
template <int BITS, int D, int FIRST>
DEVICE void addWord(Reader<D>& reader, int tile, int step, u32 word, const u32 (&weights)[4][4], const u8* values) {
  using Page = PackedPage<BITS, D>;
  const int q = threadIdx.x & 3;
  const u32 shifted = word >> 8;
#pragma unroll
  for (int upper = 0; upper < 2; upper++) {
    const int tokens = upper ? step ^ 2 : step;   // which 16
    const int channel = upper * (D / 2) + 8 * tile;
    const int pair = channel % (D / 2) / 16 * Page::PAIRS / Page::GROUPS, index = step * 2 * Page::PAIRS + 2 * pair;
    const uint2 scales = *reinterpret_cast<const uint2*>(values + Page::CODE_BYTES + 128 * (index / 4) + 64 * upper + 16 * q +
                                                         4 * (index % 4));
    const u8* zeros = values + Page::CODE_BYTES + Page::VALUE_SCALE_BYTES +
                      64 * (tokens % 2 * Page::GROUPS + channel / 32) + 16 * q + 4 * (tokens / 2);
    const u32 first = upper ? codesAsHalves<BITS, FIRST + BITS>(word) : codesAsHalves<BITS, FIRST>(word);
    const u32 second = upper ? codesAsHalves<BITS, FIRST + BITS>(shifted) : codesAsHalves<BITS, FIRST>(shifted);
    reader.add(upper * (D / 16) + tile, weights[tokens],
               multiplyAddHalves(first, scales.x, *reinterpret_cast<const u32*>(zeros)),
               multiplyAddHalves(second, scales.y, *reinterpret_cast<const u32*>(zeros + 8)));
  }
}

// Attends a packed page in shared memory.
template <int BITS, int D, class TOKENS>
DEVICE void readPacked(Reader<D>& reader, const u8* page, float scale, const TOKENS& seen) {
  using Page = PackedPage<BITS, D>;
  const int lane = threadIdx.x % 32, q = lane & 3;
  reader.clearScores();
#pragma unroll
  for (int step = 0; step < D / 16; step++) {
    const uint4 words = *reinterpret_cast<const uint4*>(page + 512 * (BITS == 2 ? step / 2 : step) + 16 * lane);
    const u8* scalesAt = page + Page::CODE_BYTES + 128 * (step / 2) + 16 * q + 8 * (step % 2);
    const uint2 scales[2] = {*reinterpret_cast<const uint2*>(scalesAt), *reinterpret_cast<const uint2*>(scalesAt + 64)};
    const uint4 zeros =
        *reinterpret_cast<const uint4*>(page + Page::CODE_BYTES + Page::KEY_SCALE_BYTES + 64 * step + 16 * q);
    if (BITS == 2) {
      const u32 first = step % 2 ? words.z : words.x, second = step % 2 ? words.w : words.y;
      scoreWord<BITS, D, 0>(reader, 0, step, first, scales, zeros);
      scoreWord<BITS, D, 4>(reader, 1, step, first, scales, zeros);
      scoreWord<BITS, D, 0>(reader, 2, step, second, scales, zeros);
      scoreWord<BITS, D, 4>(reader, 3, step, second, scales, zeros);
    } else {
#pragma unroll
      for (int tile = 0; tile < 4; tile++) scoreWord<BITS, D, 0>(reader, tile, step, wordOf(words, tile), scales, zeros);
    }
  }
  reader.weigh(scale, seen);
  u32 weights[4][4];
#pragma unroll
  for (int tile = 0; tile < 4; tile++) reader.weights(tile, weights[tile]);
  const u8* values = page + Page::KEY_BYTES;
#pragma unroll
  for (int chunk = 0; chunk < Page::WORDS; chunk++) {
    const uint4 words = *reinterpret_cast<const uint4*>(values + 512 * chunk + 16 * lane);
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int step = (4 * chunk + e) / Page::WORDS, u = (4 * chunk + e) % Page::WORDS;
      if (BITS == 2) {
        addWord<BITS, D, 0>(reader, 2 * u, step, wordOf(words, e), weights, values);
        addWord<BITS, D, 4>(reader, 2 * u + 1, step, wordOf(words, e), weights, values);
      } else {
        addWord<BITS, D, 0>(reader, u, step, wordOf(words, e), weights, values);
      }
    }
  }
}

// grid (queries / 64, KV heads, chunks), 128 threads, two fp16 pages of dynamic shared memory. BITS 16: packed pages have
// been dequantized to another place. LIMITED: with a window, whose hidden pages are not read, and a soft cap.
template <int BITS, int D, bool LIMITED = false> DEVICE void readPrompt(const Prompt& p) {
  extern __shared__ __align__(128) u8 dynamicMemory[];
  letNextBegin();
  awaitPrevious();
  const PromptRun run = p.runs[blockIdx.z];
  const int queries = run.rows * p.sharing, first = blockIdx.x * PROMPT_QUERIES;
  if (first >= queries) return;
  const int lane = threadIdx.x % 32, r = lane >> 2, q = lane & 3, mine = first + 16 * (threadIdx.x / 32);
  const int lastRow = (min(first + PROMPT_QUERIES, queries) - 1) / p.sharing;
  const int pages = run.pagesTo(run.firstPosition + lastRow);
  const PageEntry* entries = p.entries + run.firstEntry;
  // The first position that a row of this block attends to, and the first page from one on with that or a later one.
  const int earliest = LIMITED ? (int)(run.firstPosition + first / p.sharing + 1) - (int)p.window : 0;
  auto seenFrom = [&](int page) {
    if (LIMITED) {
      while (page < pages && run.positionAt(page) + PAGE_TOKENS <= earliest) page++;
    }
    return page;
  };

  auto fetch = [&](int page, int slot) {
    if (page < pages) {
      const bool packed = BITS < 16 && page < run.packedPages;
      const int bytes = packed ? PackedPage<BITS < 16 ? BITS : 2, D>::BYTES : HalfPage<D>::BYTES;
      const u64 offset = page < run.packedPages ? p.packedOffset : p.halfOffset;
      const u8* from = addressOf(entries[page]) + offset + (size_t)blockIdx.y * bytes;
      const u32 to = sharedAddress(dynamicMemory) + slot * HalfPage<D>::BYTES;
      for (int at = 16 * threadIdx.x; at < bytes; at += 16 * 32 * PROMPT_WARPS) copyAhead(to + at, from + at);
    }
    endCopies();
  };
  int page = seenFrom(LIMITED ? min(max(earliest - (int)run.sinks, 0) / PAGE_TOKENS, (int)run.packedPages) : 0);
  fetch(page, 0);

  Reader<D> reader;
  reader.begin();
  int rows[2];
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int query = min(mine + r + 8 * h, queries - 1);   // those after the last one compute the same and store nothing
    rows[h] = query / p.sharing;
    const u16* from = p.queries + ((size_t)(run.firstRow + rows[h]) * p.queryHeads + blockIdx.y * p.sharing + query % p.sharing) * D;
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
      reader.queries[step][h] = *reinterpret_cast<const u32*>(from + 16 * step + 2 * q);
      reader.queries[step][2 + h] = *reinterpret_cast<const u32*>(from + 16 * step + 8 + 2 * q);
    }
  }
  // Returns which tokens of a page the lane's rows attend to, given those that causality leaves.
  auto seenOf = [&](int page, int end0, int end1) {
    if constexpr (LIMITED) {
      const int before = run.positionAt(page) - run.firstPosition + (int)p.window - 1;
      return WindowTokens{{rows[0] - before, rows[1] - before}, {end0, end1}, p.cap};
    } else {
      return SeenTokens{{end0, end1}};
    }
  };
#pragma unroll 1
  for (int slot = 0; page < pages; slot ^= 1) {
    const int next = seenFrom(page + 1);
    fetch(next, slot ^ 1);
    awaitCopies<1>();
    __syncthreads();
    const u8* at = dynamicMemory + slot * HalfPage<D>::BYTES;
    if (BITS < 16 && page < run.packedPages) {
      readPacked<BITS < 16 ? BITS : 2, D>(reader, at, p.scale, seenOf(page, PAGE_TOKENS, PAGE_TOKENS));
    } else {
      const int before = run.positionOf(page - run.packedPages) - run.firstPosition;   // row of the page's first token
      const int tokens = tokensOf(entries[page]);
      const int end0 = min(tokens, rows[0] + 1 - before), end1 = min(tokens, rows[1] + 1 - before);
      readHalves<D>(reader, at, tokens, p.scale, seenOf(page, end0, end1));
    }
    __syncthreads();   // before the slot is filled again
    page = next;
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float sum = reader.sums[h];
    sum += __shfl_xor_sync(ALL_LANES, sum, 1);
    sum += __shfl_xor_sync(ALL_LANES, sum, 2);
    const int query = mine + r + 8 * h;
    if (query >= queries) continue;
    const u32 head = blockIdx.y * p.sharing + query % p.sharing;
    if (p.sinkScores != nullptr) {   // it has a weight but no output
      const float sink = p.sinkScores[head], larger = fmaxf(reader.most[h], sink), shrunk = shrinking(reader.most[h], larger);
      sum = fmaf(sum, shrunk, shrinking(sink, larger)) / shrunk;
    }
    u16* to = p.outputs + ((size_t)(run.firstRow + rows[h]) * p.queryHeads + head) * D;
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
      const int channel = n < D / 16 ? 8 * n : D / 2 + 8 * (n - D / 16);
      *reinterpret_cast<u32*>(to + channel + 2 * q) =
          toHalves(reader.outputs[n][2 * h] / sum, reader.outputs[n][2 * h + 1] / sum);
    }
  }
}
