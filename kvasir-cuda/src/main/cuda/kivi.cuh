// Pages whose keys and values have codes of 1, 2, 3, 4 or 8 bits each, known when a kernel runs: one kernel has all pairs of
// widths, for all layers. Frequent pairs have kernels of their own (turns.cuh), with arithmetic that suits their width.
#pragma once
#include "store.cuh"
#include "turns.cuh"

// Reads codes of a page's keys or values in shared memory, a run of four fragments of the matrix instruction at a time: those
// of 16 channels of keys, or the next four of values. A register of a fragment has codes in the lowest bits of both halves:
// subnormal numbers, 2^-24 times the code.
//
//   16 fields of a word of 1 bit   fragment 3, registers 3 2 | .. | fragment 0, 3 2 | 3, 1 0 | .. | 0, 1 0    in each half
template <int BITS, int D> struct CodeRun;

template <int D> struct CodeRun<1, D> {
  u32 at, word;

  DEVICE CodeRun(u32 codes, int lane) : at(codes + 4 * lane), word(0) {}
  DEVICE void load(int run) { word = loadSharedWord(at + 128 * run); }
  DEVICE static int shift(int fragment, int reg) { return 2 * fragment + reg % 2 + reg / 2 * 8; }
  DEVICE u32 reg(int, int fragment, int reg) const { return word >> shift(fragment, reg) & 0x00010001u; }
};

template <int D> struct CodeRun<2, D> {
  u32 at;
  uint4 words;   // of two runs

  DEVICE CodeRun(u32 codes, int lane) : at(codes + 16 * lane), words{0, 0, 0, 0} {}
  DEVICE void load(int run) {
    if (run % 2 == 0) words = loadShared(at + 512 * (run / 2));
  }
  DEVICE u32 reg(int run, int fragment, int reg) const {
    const int field = reg % 2 + 2 * (fragment % 2) + 4 * (reg / 2);
    return wordOf(words, 2 * (run % 2) + fragment / 2) >> 2 * field & 0x00030003u;
  }
};

template <int D> struct CodeRun<3, D> {
  CodeRun<2, D> low;
  CodeRun<1, D> high;

  DEVICE CodeRun(u32 codes, int lane) : low(codes, lane), high(codes + PackedPage<2, D>::CODE_BYTES, lane) {}
  DEVICE void load(int run) {
    low.load(run);
    high.load(run);
  }
  DEVICE u32 reg(int run, int fragment, int reg) const {
    const int shift = CodeRun<1, D>::shift(fragment, reg) - 2;
    const u32 upper = (shift < 0 ? high.word << -shift : high.word >> shift) & 0x00040004u;
    return low.reg(run, fragment, reg) | upper;
  }
};

template <int D> struct CodeRun<4, D> {
  u32 at;
  uint4 words;

  DEVICE CodeRun(u32 codes, int lane) : at(codes + 16 * lane), words{0, 0, 0, 0} {}
  DEVICE void load(int run) { words = loadShared(at + 512 * run); }
  DEVICE u32 reg(int, int fragment, int reg) const { return wordOf(words, fragment) >> 4 * reg & 0x000f000fu; }
};

template <int D> struct CodeRun<8, D> {
  u32 at;
  uint4 first, second;

  DEVICE CodeRun(u32 codes, int lane) : at(codes + 16 * lane), first{0, 0, 0, 0}, second{0, 0, 0, 0} {}
  DEVICE void load(int run) {
    first = loadShared(at + 1024 * run);
    second = loadShared(at + 1024 * run + 512);
  }
  DEVICE u32 reg(int, int fragment, int reg) const {
    return wordOf(fragment < 2 ? first : second, 2 * (fragment % 2) + reg / 2) >> 8 * (reg % 2) & 0x00ff00ffu;
  }
};

// Multiplies a fragment of the last run that was loaded.
template <class RUN> DEVICE void multiplyCodes(const RUN& codes, int run, int fragment, float (&sums)[4], u32 b0, u32 b1) {
  multiplyTiles(sums, codes.reg(run, fragment, 0), codes.reg(run, fragment, 1), codes.reg(run, fragment, 2),
                codes.reg(run, fragment, 3), b0, b1);
}

// Computes scores like scorePage.
template <int BITS, int D>
DEVICE void scoreCodes(u32 keys, int lane, const PackedHeads<D>& heads, float scale, float (&x0)[4], float (&x1)[4]) {
  using Page = PackedPage<BITS, D>;
  const int q = lane & 3;
  const bool upper = Twice::upper(lane);
  const u32 scalesAt = keys + Page::CODE_BYTES + ((lane >> 4) * 4 + q) * 16;
  const u32 zerosAt = keys + Page::CODE_BYTES + Page::KEY_SCALE_BYTES + 16 * q;
  CodeRun<BITS, D> codes(keys, lane);
  float c[4][4] = {}, zero[2][4] = {};
  uint4 scales;
#pragma unroll
  for (int step = 0; step < D / 16; step++) {
    if (step % 2 == 0) scales = loadShared(scalesAt + 64 * step);
    const uint4 zeros = loadShared(zerosAt + 64 * step);
    const u32 near = heads.queries[2 * step], far = heads.queries[2 * step + 1];
    multiplyTiles(zero[step % 2], zeros.x, zeros.y, zeros.z, zeros.w, near, far);
    const u32 b0 = multiplyHalves(near, wordOf(scales, step % 2 * 2));
    const u32 b1 = multiplyHalves(far, wordOf(scales, step % 2 * 2 + 1));
    codes.load(step);
#pragma unroll
    for (int i = 0; i < 4; i++) multiplyCodes(codes, step, i, c[i], b0, b1);
  }
  const float unit = scale * Fields<8>::unit(false, upper);
  const float zero0 = scale * (upper ? zero[0][2] + zero[1][2] : zero[0][0] + zero[1][0]);
  const float zero1 = scale * (upper ? zero[0][3] + zero[1][3] : zero[0][1] + zero[1][1]);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    x0[i] = fmaf(upper ? c[i][2] : c[i][0], unit, zero0);
    x1[i] = fmaf(upper ? c[i][3] : c[i][1], unit, zero1);
  }
}

// Adds values like addPage.
template <int BITS, int D> DEVICE void addCodes(u32 values, int lane, const u32 (&weights)[8], PackedHeads<D>& heads) {
  using Page = PackedPage<BITS, D>;
  constexpr int SCALES = 2 * Page::PAIRS, TILES = D / 16;   // words of scales and fragments of 16 tokens, per lane
  const int q = lane & 3, r = lane >> 2;
  const u32 scalesAt = values + Page::CODE_BYTES, zerosAt = scalesAt + Page::VALUE_SCALE_BYTES;
#pragma unroll
  for (int step = 0; step < 2; step++) {
    const int group = r < Page::GROUPS ? r : 0;
    const uint4 z = loadShared(zerosAt + ((step * Page::GROUPS + group) * 4 + q) * 16);
    multiplyTiles(heads.zeroOutputs, z.x, z.y, z.z, z.w, weights[2 * step], weights[2 * step + 1]);
  }
  CodeRun<BITS, D> codes(values, lane);
  uint4 scale;
#pragma unroll
  for (int step = 0; step < 4; step++) {
    u32 b[SCALES];
#pragma unroll
    for (int e = 0; e < SCALES; e++) {
      const int index = step * SCALES + e;
      if (index % 4 == 0) scale = loadShared(scalesAt + 128 * (index / 4) + ((lane >> 4) * 4 + q) * 16);
      b[e] = multiplyHalves(weights[2 * step + (e & 1)], wordOf(scale, index % 4));
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
      const int fragment = step * TILES + tile, pair = tile / 2 * Page::PAIRS / Page::GROUPS * 2;
      if (fragment % 4 == 0) codes.load(fragment / 4);
      multiplyCodes(codes, fragment / 4, fragment % 4, heads.outputs[tile], b[pair], b[pair + 1]);
    }
  }
}

// The widths of a layer's pages, and how attention reads these.
template <int D> struct AnyCodes : SizedSlots {
  static constexpr int UNITS = 8;   // all codes start at the lowest bit
  CodeWidths bits;

  DEVICE explicit AnyCodes(const Attention& a) : bits(a.widths) {
    keyBytes = bits.keyBytes<D>();
    valueBytes = bits.valueBytes<D>();
    slotBytes = keyBytes + valueBytes;
  }

  DEVICE void score(u32 keys, int lane, const PackedHeads<D> (&heads)[1], float scale, float (&x0)[1][4],
                    float (&x1)[1][4]) const {
    withBits(bits.keys, [&](auto its) { scoreCodes<decltype(its)::WIDTH, D>(keys, lane, heads[0], scale, x0[0], x1[0]); });
  }

  DEVICE void add(u32 values, int lane, const u32 (&weights)[1][8], PackedHeads<D> (&heads)[1]) const {
    withBits(bits.values, [&](auto its) { addCodes<decltype(its)::WIDTH, D>(values, lane, weights[0], heads[0]); });
  }
};

// The widths of all layers, or of one for all. dev.kvasir.cuda.formats.kivi.LayerCodes fills it in.
struct LayerCodes {
  u32 count, unused;
  struct {
    u32 offset;   // from the first layer's page, in 128 bytes, if layers have their own widths
    u32 widths;
  } layers[256];

  DEVICE CodeWidths widths(u32 layer) const { return CodeWidths(layers[count == 1 ? 0 : layer].widths); }

  // stride: from a layer's page to the next layer's, if all have the same widths
  DEVICE u64 offset(u32 layer, u64 stride) const { return count == 1 ? layer * stride : 128ull * layers[layer].offset; }
};

// Like packPage, with the widths of layers.
template <int D>
DEVICE void packAnyPage(const Packing* packings, u64 halfStride, u64 packedStride, u32 keyGroup, u32 valueGroup,
                        const LayerCodes& layers) {
  letNextBegin();
  awaitPrevious();
  PackingMemory<D>& m = *reinterpret_cast<PackingMemory<D>*>(dynamicMemory);
  const CodeWidths bits = layers.widths(blockIdx.z);
  const Packing packing = packings[blockIdx.x];
  const size_t within = blockIdx.z * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  const u8* from = reinterpret_cast<const u8*>(packing.from) + within;
  const u8* other = keyGroup == 2 * PAGE_TOKENS ? reinterpret_cast<const u8*>(packings[blockIdx.x ^ 1].from) + within : from;
  u8* to = reinterpret_cast<u8*>(packing.to) + layers.offset(blockIdx.z, packedStride) +
           (size_t)blockIdx.y * bits.bytes<D>();
  loadKeys<D>(from, m.rows);
  __syncthreads();
  withBits(bits.keys, [&](auto its) {
    using Span = StepSpan<decltype(its)::WIDTH>;
    packKeys<Span, D>(m, PlainRows<D>{m}, PlainKeys<D>{other}, reinterpret_cast<u32*>(to), keyGroup);
  });
  __syncthreads();
  loadValues<D>(from, m.rows);
  __syncthreads();
  withBits(bits.values, [&](auto its) {
    using Span = StepSpan<decltype(its)::WIDTH>;
    packValues<Span, D>(m, PlainRows<D>{m}, reinterpret_cast<u32*>(to + bits.keyBytes<D>()), valueGroup);
  });
}

// 256 threads: dequantizes packed pages.
template <int D> DEVICE void unpackAnyPage(const Unpacking& unpacking, const LayerCodes& layers) {
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  const CodeWidths bits = layers.widths(unpacking.layer());
  const u64 offset = layers.offset(unpacking.layer(), unpacking.packedStride);
  const u8* pages = reinterpret_cast<const u8*>(unpacking.packings[blockIdx.x].to) + offset;
  const u8* page = pages + (size_t)blockIdx.y * bits.bytes<D>();
  const u8* values = page + bits.keyBytes<D>();
  u8* halves = unpacking.halves<D>();
  auto keyPair = [&](int token, int channel) {
    u32 pair;
    withBits(bits.keys, [&](auto its) {
      using Places = PackedPlaces<decltype(its)::WIDTH, D>;
      pair = toHalves(Places::key(page, token, channel), Places::key(page, token, channel + 1));
    });
    return pair;
  };
  auto valuePair = [&](int token, int channel) {
    u32 pair;
    withBits(bits.values, [&](auto its) {
      using Places = PackedPlaces<decltype(its)::WIDTH, D>;
      pair = toHalves(Places::valueIn(values, token, channel, 1.f), Places::valueIn(values, token + 1, channel, 1.f));
    });
    return pair;
  };
#pragma unroll 1
  for (int i = threadIdx.x; i < PAGE_TILES * HalfPage<D>::KEY_BYTES / 4; i += blockDim.x) {   // words of keys and of values
    constexpr int CHUNKS = D / 16;
    const int part = i & 3, lane = i / 4 % 32, chunk = i / 128 % CHUNKS, tile = i / 128 / CHUNKS;
    const int r = lane >> 2, q = lane & 3;
    u32* to = reinterpret_cast<u32*>(halves + tile * HalfPage<D>::TILE_BYTES) + i % (128 * CHUNKS);
    to[0] = keyPair(TILE_TOKENS * tile + 8 * (part & 1) + r, 16 * chunk + 8 * (part >> 1) + 2 * q);
    to[HalfPage<D>::KEY_BYTES / 4] = valuePair(TILE_TOKENS * tile + 8 * (part >> 1) + 2 * q, D / 2 * (part & 1) + 8 * chunk + r);
  }
}
