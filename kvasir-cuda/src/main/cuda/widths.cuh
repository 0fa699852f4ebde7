// Pages of one sequence with codes of 8, 4 or 2 bits that are requantized. A scale is a third of its range at any width, so
// narrower pages have exactly the scales and zeros of the wider ones, unless the shift changes them.
#pragma once
#include "attend.cuh"
#include "store.cuh"

// How codes of twice as many bits become codes of b bits, like dev.kvasir.codec.pmkvq.RightShift. UNSHIFTED: numbers are
// quantized directly to their width; with all others they are quantized to 16 bits first.
enum Shift : u32 { UNSHIFTED, EQUIVALENT, DIRECT, MODIFIED };

// 3 / (2^BITS - 1), rounded as in Java.
template <int BITS> DEVICE float thirdUnit() { return __fdiv_rn(3.f, (float)((1 << BITS) - 1)); }

// Rounds a code of twice as many bits to the nearest of BITS.
template <int BITS> DEVICE u32 narrowed(u32 code) {
  return (u32)((((1ull << 2 * BITS) - (1ull << BITS) + 1) * (code + (1ull << (BITS - 1)))) >> 3 * BITS);
}

template <int FROM, int TO> DEVICE u32 shifted(u32 shift, u32 code) {
  if constexpr (FROM == TO) return code;
  else return shift == EQUIVALENT ? shifted<FROM / 2, TO>(shift, narrowed<FROM / 2>(code)) : code >> (FROM - TO);
}

// The scale and the zero of a group after modified shifts from FROM to TO bits, in the order of operations of
// dev.kvasir.codec.pmkvq.Requantizer.
template <int FROM, int TO> DEVICE void modify(float& scale, float& zero) {
  if constexpr (FROM > TO) {
    constexpr int BITS = FROM / 2;
    zero = __fadd_rn(zero, __fmul_rn(__fmul_rn(((1 << BITS) - 1) / 2.f, scale), thirdUnit<FROM>()));
    scale = __fmul_rn(scale, __fdiv_rn((float)(1 << BITS), 1.f + (1 << BITS)));
    modify<BITS, TO>(scale, zero);
  }
}

template <int FROM, int TO> DEVICE u16 modifiedScale(u16 scale) {
  float s = toFloat(scale), z = 0.f;
  modify<FROM, TO>(s, z);
  return toHalf(s);
}

template <int FROM, int TO> DEVICE u16 modifiedZero(u16 scale, u16 zero) {
  float s = toFloat(scale), z = toFloat(zero);
  modify<FROM, TO>(s, z);
  return toHalf(z);
}

// Scales that are a third of the range, for codes that may be shifted from 16 bits.
template <int BITS> struct WidthSpan {
  static constexpr int WIDTH = BITS;
  u32 shift;

  DEVICE static float parts() { return 3.f; }
  DEVICE u32 code(float x, float zero, float scale) const {
    return shift == UNSHIFTED ? codeOf<BITS>(x, zero, scale) : shifted<16, BITS>(shift, codeOf<16>(x, zero, scale));
  }
  DEVICE void adjust(u16& scale, u16& zero) const {
    if (shift != MODIFIED) return;
    zero = modifiedZero<16, BITS>(scale, zero);
    scale = modifiedScale<16, BITS>(scale);
  }

  template <int WIDE> DEVICE static u32 codeOf(float x, float zero, float scale) {
    return StepSpan<WIDE>::nearest(x, zero, __fmul_rn(scale, thirdUnit<WIDE>()), (1 << WIDE) - 1);
  }
};

// Keys with a scale for each channel and group of tokens.
template <int D> struct ChannelKeys {
  template <int BITS> using Page = PackedPage<BITS, D>;

  DEVICE void begin(const Attention&, const Work&, PackedHeads<D>&, int) {}   // queries are scaled page by page

  template <int BITS>
  DEVICE void score(u32 keys, int lane, const PackedHeads<D> (&heads)[1], float scale, float (&x0)[1][4], float (&x1)[1][4],
                    float step) const {
    scorePage<BITS, D, 1>(keys, lane, heads, scale, x0, x1, step);
  }
};

// Keys with a scale for each token, which is applied to the sum over its channels:
//
//   score[h,t] = scale[t] * sum_c q[h,c] * code[t,c] + zero[t] * sum_c q[h,c]
//
// Keys may have been divided by factors, which queries are then multiplied by.
template <int D> struct TokenKeys {
  template <int BITS> using Page = TokenPage<BITS, D>;
  float sum0, sum1;   // of the channels of the lane's two queries
  bool begun = false;

  // Called when all fp16 pages have been attended, and the first packed pages are being copied.
  DEVICE void begin(const Attention& a, const Work& work, PackedHeads<D>& heads, int lane) {
    if (begun) return;
    begun = true;
    if (a.tables != nullptr) smooth(reinterpret_cast<const float*>(a.tables) + work.kvHead * D, heads, lane);
    constexpr u32 ONES = 0x3c003c00u;
    float sums[2][4] = {};
#pragma unroll
    for (int j = 0; j < D / 16; j++) {
      multiplyTiles(sums[j & 1], ONES, ONES, ONES, ONES, heads.queries[2 * j], heads.queries[2 * j + 1]);
    }
    sum0 = sums[0][0] + sums[1][0];   // all rows are equal
    sum1 = sums[0][1] + sums[1][1];
  }

  // factors: (D) of the KV head
  DEVICE static void smooth(const float* factors, PackedHeads<D>& heads, int lane) {
    constexpr float LARGEST_HALF = 65504.f;
    const float2* own = reinterpret_cast<const float2*>(factors) + (lane & 3);
    auto product = [](u32 half, float factor) {
      return fminf(fmaxf(toFloat((u16)half) * factor, -LARGEST_HALF), LARGEST_HALF);
    };
#pragma unroll
    for (int j = 0; j < D / 8; j++) {
      const u32 query = heads.queries[j];
      const float2 factor = own[4 * j];
      heads.queries[j] = toHalves(product(query & 0xffff, factor.x), product(query >> 16, factor.y));
    }
  }

  template <int BITS>
  DEVICE void score(u32 keys, int lane, const PackedHeads<D> (&heads)[1], float scale, float (&x0)[1][4], float (&x1)[1][4],
                    float step) const {
    const bool upper = Twice::upper(lane);
    float c[1][4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) c[0][i][0] = c[0][i][1] = c[0][i][2] = c[0][i][3] = 0.f;
    // scales of two tokens, of two others, then zeros
    const uint4 groups = loadShared(keys + Page<BITS>::CODE_BYTES + 16 * (8 * upper + (lane >> 2)));
#pragma unroll
    for (int j = 0; j < D / 32; j++) {
      const u32* query = heads[0].queries + 4 * j;
      const u32 b[1][4] = {{query[0], query[1], query[2], query[3]}};
      multiplyKeys<BITS, 1>(keys, lane, j, b, c);
    }
    const float even = scale * step * Fields<BITS>::unit(false, upper), odd = scale * step * Fields<BITS>::unit(true, upper);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 scales = wordOf(groups, i / 2), zeros = wordOf(groups, 2 + i / 2);
      const float unit = toFloat((u16)(i & 1 ? scales >> 16 : scales)) * (BITS == 2 && (i & 1) ? odd : even);
      const float zero = toFloat((u16)(i & 1 ? zeros >> 16 : zeros)) * scale;
      x0[0][i] = fmaf(codeSum<BITS>(c[0], i, 0, upper), unit, zero * sum0);
      x1[0][i] = fmaf(codeSum<BITS>(c[0], i, 1, upper), unit, zero * sum1);
    }
  }
};

// Attends all packed pages of one width. Outputs are plain numbers before and after, and in units of codes in between.
// entries: of the pages in the first layer; layerOffset leads to this layer's
template <int BITS, int D, class KEYS>
DEVICE void attendWidth(const Attention& a, const Work& work, KEYS& its, const PageEntry* entries, int pages,
                        u64 layerOffset, RingBarriers& barriers, int warpBytes, PackedHeads<D> (&heads)[1]) {
  using Page = typename KEYS::template Page<BITS>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const int begin = work.begin(pages, work.split) + warp, end = work.begin(pages, work.split + 1);
  const int stages = min(MOST_STAGES, warpBytes / Page::BYTES);
  // Rings of all widths start at this warp's memory.
  Ring<Page::KEY_BYTES, Page::VALUE_BYTES> ring(dynamicMemory + warp * (warpBytes - stages * Page::BYTES), barriers, warp, lane,
                                                stages);
  const size_t offset = (size_t)work.kvHead * Page::BYTES + layerOffset;
  auto pageAt = [&](int page) -> const u8* { return page < end ? addressOf(entries[page]) + offset : nullptr; };
#pragma unroll 1
  for (int i = 0; i < stages; i++) {
    const u8* page = pageAt(begin + i * warps);
    ring.fillKeys(i, page);
    ring.fillValues(i, page);
  }
  const float step = thirdUnit<BITS>();
  heads[0].template toUnitsOfCodes<BITS>(step);
  its.begin(a, work, heads[0], lane);
#pragma unroll 1
  for (int page = begin; page < end; page += warps) {
    const u8* refill = pageAt(page + stages * warps);
    float x0[1][4], x1[1][4], factor0, factor1;
    u32 own[4], weights[1][8];
    ring.awaitKeys();
    its.template score<BITS>(ring.keys(), lane, heads, a.scale, x0, x1, step);
    ring.refillKeys(refill);
    weighPage<D>(heads[0], x0[0], x1[0], own, weights[0], factor0, factor1);
    ring.awaitValues();
    addPage<BITS, D, 1>(ring.values(), lane, weights, heads);
    ring.refillValues(refill);
    ring.advance();
  }
  heads[0].template fromUnitsOfCodes<BITS>(step);
  ring.close();
}

// Attends fp16 pages and pages of all widths, for up to four heads; each warp has a.stages slots of the widest pages.
template <int D, class KEYS> DEVICE void attendWidths(const Attention& a) {
  __shared__ BlockMemory block;
  letNextBegin();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Work work(a, true);
  if (work.none()) return;
  if (a.early) awaitPrevious();
  PackedHeads<D> heads[1];
  heads[0].load(a.queries + work.row(a) * D, work.heads, lane);
  heads[0].clear();
  if (work.sequence.halfPages > 0) attendTiles<D, 1>(a, work, Unlimited(), heads);

  KEYS keys;
  const int warpBytes = a.stages * KEYS::template Page<8>::BYTES;
  const int eights = work.sequence.packedPages, fours = work.sequence.fours(), twos = work.sequence.twos();
  const PageEntry* behind = work.entries + eights + work.sequence.halfPages;
  RingBarriers& barriers = block.barriers;
  if (eights > 0) attendWidth<8, D>(a, work, keys, work.entries, eights, a.packedOffset, barriers, warpBytes, heads);
  if (fours > 0) attendWidth<4, D>(a, work, keys, behind, fours, a.fourOffset, barriers, warpBytes, heads);
  if (twos > 0) attendWidth<2, D>(a, work, keys, behind + fours, twos, a.twoOffset, barriers, warpBytes, heads);

  __syncthreads();   // rings are reused for outputs
  float* outputs = reinterpret_cast<float*>(dynamicMemory);
  leaveOutputs<16, D>(heads[0], 0, 1, warp, lane, block, outputs);
  __syncthreads();
  finish(a, work, block, PlainOutputs<D, 4>{outputs, a.outputs + work.row(a) * D});
}

// Keys of a page in shared memory, divided by factors like dev.kvasir.codec.basis.SmoothingFactors.
template <int D> struct SmoothRows {
  const PackingMemory<D>& memory;
  const float* factors;   // (D), or null

  DEVICE float operator()(int token, int channel) const {
    constexpr float MOST = 32752.f;
    const float x = toFloat(memory.rows[token][channel]);
    return factors == nullptr ? x : fminf(fmaxf(__fdiv_rn(x, factors[channel]), -MOST), MOST);
  }
};

// Writes the words of keys that have a scale for each token.
template <class SPAN, int D, class ROWS>
DEVICE void packTokenKeys(PackingMemory<D>& m, const ROWS& rows, u32* out, const SPAN& span) {
  constexpr int BITS = SPAN::WIDTH;
  using Page = TokenPage<BITS, D>;
  for (int token = threadIdx.x; token < PAGE_TOKENS; token += blockDim.x) {
    m.groups[token] = Group::of<SPAN>([&](int k) { return rows(token, k); }, D);
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < Page::KEY_BYTES / 4; i += blockDim.x) {
    u32 word = 0;
    if (4 * i < Page::CODE_BYTES) {
#pragma unroll 1
      for (int p = 0; p < 16 / BITS; p++) {
        const int2 place = keyOf<BITS>(i, p);
        const Group group = m.groups[place.x];
        word |= group.code(span, rows(place.x, place.y)) << BITS * p;
        word |= group.code(span, rows(place.x, place.y + 1)) << (BITS * p + 16);
      }
    } else {
      const int e = i - Page::CODE_BYTES / 4, row = e / 4, tile = 2 * (e & 1);
      const Group* groups = m.groups + 32 * (row / 8) + 8 * tile + row % 8;
      const Group low = groups[0].stored(span), high = groups[8].stored(span);
      word = e & 2 ? low.zero | (u32)high.zero << 16 : low.scale | (u32)high.scale << 16;
    }
    out[i] = word;
  }
}

// The pages to quantize: grid (pages, KV heads, layers). BitWidthPools fills it in.
struct WidthPacking {
  const Packing* packings;
  u64 halfStride, packedStride;   // from a layer's page to the next layer's
  const float* factors;           // (layers, KV heads, D), or null
  u32 keyGroup, valueGroup;       // as for packPage; keys by token ignore the former
  u32 shift;
};

// 256 threads, PackingMemory<D> of dynamic shared memory.
template <int BITS, int D, bool BY_TOKEN> DEVICE void packWidth(const WidthPacking& p) {
  using Page = typename TokenKeys<D>::template Page<BITS>;
  using Wide = PackedPage<BITS, D>;
  constexpr int BYTES = BY_TOKEN ? Page::BYTES : Wide::BYTES, KEY_BYTES = BY_TOKEN ? Page::KEY_BYTES : Wide::KEY_BYTES;
  letNextBegin();
  awaitPrevious();
  PackingMemory<D>& m = *reinterpret_cast<PackingMemory<D>*>(dynamicMemory);
  const WidthSpan<BITS> span{p.shift};
  const Packing packing = p.packings[blockIdx.x];
  const size_t within = blockIdx.z * p.halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  const u8* from = reinterpret_cast<const u8*>(packing.from) + within;
  u8* to = reinterpret_cast<u8*>(packing.to) + blockIdx.z * p.packedStride + (size_t)blockIdx.y * BYTES;
  u32* words = reinterpret_cast<u32*>(to);
  loadKeys<D>(from, m.rows);
  __syncthreads();
  if constexpr (BY_TOKEN) {
    const float* factors = p.factors == nullptr ? nullptr : p.factors + (blockIdx.z * gridDim.y + blockIdx.y) * D;
    packTokenKeys<WidthSpan<BITS>, D>(m, SmoothRows<D>{m, factors}, words, span);
  } else {
    const bool isShared = p.keyGroup == 2 * PAGE_TOKENS;
    const u8* other = isShared ? reinterpret_cast<const u8*>(p.packings[blockIdx.x ^ 1].from) + within : from;
    packKeys<WidthSpan<BITS>, D>(m, PlainRows<D>{m}, PlainKeys<D>{other}, words, p.keyGroup, span);
  }
  __syncthreads();
  loadValues<D>(from, m.rows);
  __syncthreads();
  packValues<WidthSpan<BITS>, D>(m, PlainRows<D>{m}, words + KEY_BYTES / 4, p.valueGroup, span);
}

// Returns a word of scales or zeros after modified shifts.
// scales: those of the same groups, if the word has zeros
template <int FROM, int TO> DEVICE u32 modifiedWord(u32 word, bool isZero, u32 scales) {
  if (!isZero) return modifiedScale<FROM, TO>((u16)word) | (u32)modifiedScale<FROM, TO>((u16)(word >> 16)) << 16;
  return modifiedZero<FROM, TO>((u16)scales, (u16)word) |
         (u32)modifiedZero<FROM, TO>((u16)(scales >> 16), (u16)(word >> 16)) << 16;
}

// Requantizes the codes of pages from FROM to TO bits: grid (pages, KV heads, layers), 256 threads.
template <int FROM, int TO, int D, bool BY_TOKEN>
DEVICE void narrowPage(const Packing* packings, u64 fromStride, u64 toStride, u32 shift) {
  using Wide = PackedPage<FROM, D>;
  using Narrow = PackedPage<TO, D>;
  using Places = PackedPlaces<FROM, D>;
  constexpr int WIDE_KEYS = BY_TOKEN ? TokenPage<FROM, D>::KEY_BYTES : Wide::KEY_BYTES;
  constexpr int NARROW_KEYS = BY_TOKEN ? TokenPage<TO, D>::KEY_BYTES : Narrow::KEY_BYTES;
  letNextBegin();
  awaitPrevious();
  const Packing packing = packings[blockIdx.x];
  const u8* from = reinterpret_cast<const u8*>(packing.from) + blockIdx.z * fromStride +
                   (size_t)blockIdx.y * (WIDE_KEYS + Wide::VALUE_BYTES);
  u8* to = reinterpret_cast<u8*>(packing.to) + blockIdx.z * toStride + (size_t)blockIdx.y * (NARROW_KEYS + Narrow::VALUE_BYTES);
  const u8* values = from + WIDE_KEYS;
  auto half = [](const u8* at) { return (u32)*reinterpret_cast<const u16*>(at); };
  auto scalesOf = [&](bool isKey, const u8* at, int e) -> u32 {   // of the groups whose zeros are e bytes behind the codes
    if (isKey && BY_TOKEN) return *reinterpret_cast<const u32*>(at - 8);
    if (isKey) {
      const int2 place = keyZeroOf(e - Wide::KEY_SCALE_BYTES);
      return half(from + Places::keyScaleAt(place.x, place.y)) | half(from + Places::keyScaleAt(place.x, place.y + 1)) << 16;
    }
    const int2 place = valueZeroOf<D>(e - Wide::VALUE_SCALE_BYTES);
    return half(values + Places::valueScaleAt(place.x, place.y)) | half(values + Places::valueScaleAt(place.x + 1, place.y)) << 16;
  };
#pragma unroll 1
  for (int i = threadIdx.x; i < (NARROW_KEYS + Narrow::VALUE_BYTES) / 4; i += blockDim.x) {
    const bool isKey = 4 * i < NARROW_KEYS;
    const int word = isKey ? i : i - NARROW_KEYS / 4;
    u32 out = 0;
    if (4 * word < Narrow::CODE_BYTES) {
#pragma unroll 1
      for (int p = 0; p < 16 / TO; p++) {
        const int2 place = isKey ? keyOf<TO>(word, p) : valueOf<TO, D>(word, p);
        const u8* behind = values - Wide::KEY_BYTES;   // where a page with keys by channel would start
        const u32 low = isKey ? Places::keyCode(from, place.x, place.y) : Places::valueCode(behind, place.x, place.y);
        const u32 high = isKey ? Places::keyCode(from, place.x, place.y + 1) : Places::valueCode(behind, place.x + 1, place.y);
        out |= shifted<FROM, TO>(shift, low) << TO * p | shifted<FROM, TO>(shift, high) << (TO * p + 16);
      }
    } else {
      const int e = 4 * word - Narrow::CODE_BYTES;
      const u8* at = (isKey ? from : values) + Wide::CODE_BYTES + e;
      out = *reinterpret_cast<const u32*>(at);
      if (shift == MODIFIED) {
        const bool isZero = !isKey ? e >= Wide::VALUE_SCALE_BYTES : BY_TOKEN ? (e & 8) != 0 : e >= Wide::KEY_SCALE_BYTES;
        out = modifiedWord<FROM, TO>(out, isZero, isZero ? scalesOf(isKey, at, e) : 0);
      }
    }
    reinterpret_cast<u32*>(to)[i] = out;
  }
}

// 256 threads: dequantizes packed pages to the numbers that attention computes with.
// factors: (layers, KV heads, D) that keys by token were divided by, or null
template <int BITS, int D, bool BY_TOKEN> DEVICE void unpackWidth(const Unpacking& unpacking, const float* factors) {
  if constexpr (BY_TOKEN) {
    using Page = TokenPage<BITS, D>;
    using Places = PackedPlaces<BITS, D>;
    letNextBegin();
    awaitPrevious();
    if (unpacking.none()) return;
    const float unit = thirdUnit<BITS>();
    const u8* page = unpacking.packed(Page::BYTES);
    const u8* behind = page + Page::KEY_BYTES - PackedPage<BITS, D>::KEY_BYTES;   // where a page with keys by channel would start
    const float* own = factors == nullptr ? nullptr : factors + (unpacking.layer() * gridDim.y + blockIdx.y) * D;
    writeHalves<D>(
        unpacking.halves<D>(),
        [&](int token, int channel) {
          const float code = (float)Places::keyCode(page, token, channel);
          const float key =
              fmaf(__fmul_rn(Places::half(page + Page::scaleAt(token)), unit), code, Places::half(page + Page::zeroAt(token)));
          return own == nullptr ? key : key * own[channel];
        },
        [&](int token, int channel) { return Places::value(behind, token, channel, unit); });
  } else {
    unpackPage<BITS, D>(unpacking, thirdUnit<BITS>());
  }
}
