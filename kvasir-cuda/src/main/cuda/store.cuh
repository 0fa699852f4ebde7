// Writes rows to fp16 pages, and quantizes full fp16 pages to packed ones.
#pragma once
#include "pages.cuh"

// grid (rows, KV heads), D / 2 threads. A place is a page address with the row's token in the lower bits; offset leads from
// there to the layer's pages.
template <int D>
DEVICE void appendRow(const PageEntry* places, u64 offset, const u16* keys, const u16* values) {   // (rows, KV heads, D)
  letNextBegin();
  awaitPrevious();
  const PageEntry place = places[blockIdx.x];
  const int token = (int)(place & 63), channel = 2 * threadIdx.x;
  u8* page = const_cast<u8*>(addressOf(place)) + offset + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  const size_t row = ((size_t)blockIdx.x * gridDim.y + blockIdx.y) * (D / 2) + threadIdx.x;
  *reinterpret_cast<u32*>(page + HalfPage<D>::keyOffset(token, channel)) = reinterpret_cast<const u32*>(keys)[row];
  const u32 value = reinterpret_cast<const u32*>(values)[row];
  *reinterpret_cast<u16*>(page + HalfPage<D>::valueOffset(token, channel)) = (u16)value;
  *reinterpret_cast<u16*>(page + HalfPage<D>::valueOffset(token, channel + 1)) = (u16)(value >> 16);
}

// Rounds down and up to halves, like dev.kvasir.page.HalfRounding.
DEVICE u16 halfBelow(float x) {
  const u16 half = toHalf(x);
  if (!(toFloat(half) > x)) return half;
  return half & 0x8000 ? half + 1 : half == 0 ? 0x8001 : half - 1;
}

DEVICE u16 halfAbove(float x) {
  const u16 half = toHalf(x);
  if (!(toFloat(half) < x)) return half;
  return !(half & 0x8000) ? half + 1 : half == 0x8000 ? 1 : half - 1;
}

// The span of a scale, as dev.kvasir.page.ScaleSpan: one quantization step, or a third of the range at any width
// (WidthSpan).
template <int BITS> struct StepSpan {
  static constexpr int WIDTH = BITS;
  DEVICE static float parts() { return (float)((1 << BITS) - 1); }
  DEVICE static u32 code(float x, float zero, float scale) { return nearest(x, zero, scale, (1 << BITS) - 1); }

  // Adjusts the scale and the zero that are stored; codes are computed with the original ones.
  DEVICE static void adjust(u16&, u16&) {}

  DEVICE static u32 nearest(float x, float zero, float step, int highest) {
    if (step == 0.f) return 0;
    const float steps = __fdiv_rn(__fsub_rn(x, zero), step);
    const float whole = floorf(steps);
    const int nearest = (int)whole + (steps - whole >= 0.5f ? 1 : 0);   // halves are rounded up, as by Math.round
    return (u32)min(nearest, highest);
  }
};

// The quantization of a group of numbers, with the same bits as dev.kvasir.page.UniformQuantizer: the zero is rounded down
// and the scale up.
struct Group {
  u16 scale, zero;

  // numbers(i): the i-th of them
  template <class SPAN, class NUMBERS> DEVICE static Group of(const NUMBERS& numbers, int count) {
    float least = numbers(0), most = least;
    for (int i = 1; i < count; i++) {
      const float each = numbers(i);
      least = fminf(least, each);
      most = fmaxf(most, each);
    }
    return of<SPAN>(least, most);
  }

  template <class SPAN> DEVICE static Group of(float least, float most) {
    Group group;
    group.zero = halfBelow(least);
    const float range = __fsub_rn(most, toFloat(group.zero));
    group.scale = halfAbove(fminf(__fdiv_rn(range, SPAN::parts()), 65504.f));
    return group;
  }

  template <class SPAN> DEVICE u32 code(float x) const { return SPAN::code(x, toFloat(zero), toFloat(scale)); }
  template <class SPAN> DEVICE u32 code(const SPAN& span, float x) const { return span.code(x, toFloat(zero), toFloat(scale)); }

  // Returns the scale and the zero that are stored.
  template <class SPAN> DEVICE Group stored(const SPAN& span) const {
    Group group = *this;
    span.adjust(group.scale, group.zero);
    return group;
  }
};

// The addresses of a full fp16 page and of its packed page, of the first KV head.
struct Packing { u64 from, to; };

// Memory for one side of a page, rows of D halves, and its groups.
template <int D> struct PackingMemory {
  u16 rows[PAGE_TOKENS][D];
  Group groups[PAGE_TOKENS * D / 32];
};

// Numbers to quantize: in shared memory, and in global memory for a page that shares scales.
template <int D> struct PlainRows {
  const PackingMemory<D>& memory;
  DEVICE float operator()(int token, int channel) const { return toFloat(memory.rows[token][channel]); }
};

template <int D> struct PlainKeys {
  const u8* page;
  DEVICE float operator()(int token, int channel) const {
    return toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(token, channel)));
  }
};

// Returns a channel's group over this page and the one that shares its scales.
template <class SPAN, class ROWS, class OTHER> DEVICE Group groupOfTwo(const ROWS& rows, const OTHER& other, int channel) {
  float least = rows(0, channel), most = least;
#pragma unroll 4
  for (int token = 0; token < PAGE_TOKENS; token++) {
    const float mine = rows(token, channel), its = other(token, channel);
    least = fminf(least, fminf(mine, its));
    most = fmaxf(most, fmaxf(mine, its));
  }
  return Group::of<SPAN>(least, most);
}

// The token and channel of the number of field p in a word with a bit of each of four fragments.
DEVICE int2 keyOfBit(int word, int p) {
  const int lane = word % 32, r = lane >> 2, q = lane & 3, tile = p % 8 / 2, a = p % 2 + 2 * (p / 8);
  return int2{32 * (a & 1) + 8 * tile + r, 16 * (word / 32) + 8 * (a >> 1) + 2 * q};
}

template <int D> DEVICE int2 valueOfBit(int word, int p) {
  const int lane = word % 32, r = lane >> 2, q = lane & 3, index = word / 32 * 4 + p % 8 / 2, a = p % 2 + 2 * (p / 8);
  const int step = index / (D / 16), tile = index % (D / 16);
  return int2{32 * ((step >> 1) ^ (a & 1)) + 8 * (2 * (step & 1) + (a >> 1)) + 2 * q, D / 2 * (a & 1) + 8 * tile + r};
}

// Returns the token and channel of field p of a word of key codes; the field of the upper half is the next channel. Words
// of 8 bits are half a fragment.
template <int BITS> DEVICE int2 keyOf(int word, int p) {
  if constexpr (BITS == 1) return keyOfBit(word, p);
  const int part = word & 3, lane = word / 4 % 32, chunk = word / 128, r = lane >> 2, q = lane & 3;
  // tile of 8 tokens of each group, 16 channels, register of the fragment
  const int tile = BITS == 2 ? 2 * (part & 1) + (p >> 1 & 1) : BITS == 4 ? part : 2 * (chunk & 1) + (part >> 1);
  const int step = BITS == 2 ? 2 * chunk + (part >> 1) : BITS == 4 ? chunk : chunk >> 1;
  const int a = BITS == 2 ? (p & 1) + 2 * (p >> 2) : BITS == 4 ? p : p + 2 * (part & 1);
  return int2{32 * (a & 1) + 8 * tile + r, 16 * step + 8 * (a >> 1) + 2 * q};   // token, channel
}

// The same for value codes; the field of the upper half is the next token.
template <int BITS, int D> DEVICE int2 valueOf(int word, int p) {
  if constexpr (BITS == 1) return valueOfBit<D>(word, p);
  constexpr int WORDS = PackedPage<BITS, D>::WORDS;
  const int lane = word / 4 % 32, r = lane >> 2, q = lane & 3, index = word / 128 * 4 + (word & 3);
  const int step = index / WORDS, u = index % WORDS;
  const int tile = BITS == 2 ? 2 * u + (p >> 1 & 1) : BITS == 4 ? u : u >> 1;
  const int a = BITS == 2 ? (p & 1) + 2 * (p >> 2) : BITS == 4 ? p : p + 2 * (u & 1);
  return int2{32 * ((step >> 1) ^ (a & 1)) + 8 * (2 * (step & 1) + (a >> 1)) + 2 * q, D / 2 * (a & 1) + 8 * tile + r};
}

// Returns the token and channel of the zeros in a word of keys, counted in bytes from their start; the upper half is the
// next channel.
DEVICE int2 keyZeroOf(int at) {
  const int part = at / 4 & 3;
  return int2{32 * (part & 1), 16 * (at / 64) + 8 * (part >> 1) + 2 * (at / 16 & 3)};
}

// The same for values; the upper half is the next token.
template <int D> DEVICE int2 valueZeroOf(int at) {
  constexpr int GROUPS = D / 32;
  const int part = at / 4 & 3;
  return int2{32 * (part & 1) + 8 * (2 * (at / (64 * GROUPS)) + (part >> 1)) + 2 * (at / 16 & 3), 32 * (at / 64 % GROUPS)};
}

// A word of the codes of keys or values: its fields and which bits of a code these have.
template <int BITS, int D> struct CodeWord {
  int word;

  DEVICE explicit CodeWord(int word) : word(word) {}
  DEVICE int width() const { return BITS; }
  DEVICE int2 keyAt(int p) const { return keyOf<BITS>(word, p); }
  DEVICE int2 valueAt(int p) const { return valueOf<BITS, D>(word, p); }
  DEVICE u32 field(u32 code) const { return code; }
};

template <int D> struct CodeWord<3, D> {
  int word;
  bool isLow;

  DEVICE explicit CodeWord(int word) : word(word), isLow(word < PackedPage<2, D>::CODE_BYTES / 4) {}
  DEVICE int width() const { return isLow ? 2 : 1; }
  DEVICE int upperWord() const { return word - PackedPage<2, D>::CODE_BYTES / 4; }
  DEVICE int2 keyAt(int p) const { return isLow ? keyOf<2>(word, p) : keyOf<1>(upperWord(), p); }
  DEVICE int2 valueAt(int p) const { return isLow ? valueOf<2, D>(word, p) : valueOf<1, D>(upperWord(), p); }
  DEVICE u32 field(u32 code) const { return isLow ? code & 3 : code >> 2; }
};

// Writes the words of a page's keys: codes, scales, zeros.
// other: the fp16 page that shares scales with this one, if 128 tokens do
template <class SPAN, int D, class ROWS, class OTHER>
DEVICE void packKeys(PackingMemory<D>& m, const ROWS& rows, const OTHER& other, u32* out, int group, const SPAN& span = SPAN()) {
  constexpr int BITS = SPAN::WIDTH;
  using Page = PackedPage<BITS, D>;
#pragma unroll 1
  for (int i = threadIdx.x; i < 2 * D; i += blockDim.x) {   // groups (2, D); both equal if 64 tokens share a scale
    const int channel = i % D, first = group == 32 ? i / D * 32 : 0;
    m.groups[i] = group == 2 * PAGE_TOKENS
                      ? groupOfTwo<SPAN>(rows, other, channel)
                      : Group::of<SPAN>([&](int k) { return rows(first + k, channel); }, group);
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < Page::KEY_BYTES / 4; i += blockDim.x) {
    const int at = 4 * i, part = i & 3;
    u32 word = 0;
    if (at < Page::CODE_BYTES) {
      const CodeWord<BITS, D> codes(i);
#pragma unroll 1
      for (int p = 0; p < 16 / codes.width(); p++) {
        const int2 place = codes.keyAt(p);
        const int token = place.x, channel = place.y;
        const Group* groups = m.groups + token / 32 * D + channel;
        word |= codes.field(groups[0].code(span, rows(token, channel))) << codes.width() * p;
        word |= codes.field(groups[1].code(span, rows(token, channel + 1))) << (codes.width() * p + 16);
      }
    } else {
      const bool zero = at >= Page::CODE_BYTES + Page::KEY_SCALE_BYTES;
      const int e = at - Page::CODE_BYTES - (zero ? Page::KEY_SCALE_BYTES : 0);
      const int2 place =
          zero ? keyZeroOf(e) : int2{32 * (e / 64 & 1), 16 * (2 * (e / 128) + (part >> 1)) + 8 * (part & 1) + 2 * (e / 16 & 3)};
      const Group* groups = m.groups + place.x / 32 * D + place.y;
      const Group low = groups[0].stored(span), high = groups[1].stored(span);
      word = zero ? low.zero | (u32)high.zero << 16 : low.scale | (u32)high.scale << 16;
    }
    out[i] = word;
  }
}

// Writes the words of a page's values.
template <class SPAN, int D, class ROWS>
DEVICE void packValues(PackingMemory<D>& m, const ROWS& rows, u32* out, int group, const SPAN& span = SPAN()) {
  constexpr int BITS = SPAN::WIDTH;
  using Page = PackedPage<BITS, D>;
  constexpr int GROUPS = Page::GROUPS;
#pragma unroll 1
  for (int i = threadIdx.x; i < PAGE_TOKENS * GROUPS; i += blockDim.x) {   // groups (64, GROUPS)
    const int token = i / GROUPS, first = i % GROUPS * 32 / group * group;
    m.groups[i] = Group::of<SPAN>([&](int k) { return rows(token, first + k); }, min(group, D - first));
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < Page::VALUE_BYTES / 4; i += blockDim.x) {
    const int at = 4 * i, part = i & 3;
    u32 word = 0;
    if (at < Page::CODE_BYTES) {
      const CodeWord<BITS, D> codes(i);
#pragma unroll 1
      for (int p = 0; p < 16 / codes.width(); p++) {
        const int2 place = codes.valueAt(p);
        const int token = place.x, channel = place.y;
        const Group* groups = m.groups + token * GROUPS + channel / 32;
        word |= codes.field(groups[0].code(span, rows(token, channel))) << codes.width() * p;
        word |= codes.field(groups[GROUPS].code(span, rows(token + 1, channel))) << (codes.width() * p + 16);
      }
    } else if (at < Page::CODE_BYTES + Page::VALUE_SCALE_BYTES) {
      const int e = at - Page::CODE_BYTES, quad = e / 16 & 3, upper = e / 64 & 1, index = e / 128 * 4 + part;
      const int step = index / (2 * Page::PAIRS), pair = index % (2 * Page::PAIRS) / 2;
      const int token = 32 * ((step >> 1) ^ upper) + 8 * (2 * (step & 1) + (index & 1)) + 2 * quad;
      const Group* groups = m.groups + token * GROUPS + (upper ? Page::upperGroup(pair) : Page::lowerGroup(pair));
      word = groups[0].stored(span).scale | (u32)groups[GROUPS].stored(span).scale << 16;
    } else {
      const int2 place = valueZeroOf<D>(at - Page::CODE_BYTES - Page::VALUE_SCALE_BYTES);
      const Group* groups = m.groups + place.x * GROUPS + place.y / 32;
      word = groups[0].stored(span).zero | (u32)groups[GROUPS].stored(span).zero << 16;
    }
    out[i] = word;
  }
}

// Loads rows of an fp16 page to shared memory, by all threads of a block.
template <int D, int WIDTH> DEVICE void loadKeys(const u8* page, u16 (&rows)[PAGE_TOKENS][WIDTH]) {
  for (int i = threadIdx.x; i < PAGE_TOKENS * D; i += blockDim.x) {
    rows[i / D][i % D] = *reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(i / D, i % D));
  }
}

template <int D, int WIDTH> DEVICE void loadValues(const u8* page, u16 (&rows)[PAGE_TOKENS][WIDTH]) {
  for (int i = threadIdx.x; i < PAGE_TOKENS * D; i += blockDim.x) {
    rows[i / D][i % D] = *reinterpret_cast<const u16*>(page + HalfPage<D>::valueOffset(i / D, i % D));
  }
}

// grid (pages, KV heads, layers), 256 threads, PackingMemory<D> of dynamic shared memory.
// halfStride, packedStride: from a layer's page to the next layer's
// keyGroup: tokens that share a channel's scale, 32, 64, or 128 if pages come in pairs
// valueGroup: channels that share a token's scale, a multiple of 32
template <class SPAN, int D>
DEVICE void packPage(const Packing* packings, u64 halfStride, u64 packedStride, u32 keyGroup, u32 valueGroup) {
  constexpr int BITS = SPAN::WIDTH;
  letNextBegin();
  awaitPrevious();
  extern __shared__ __align__(128) u8 dynamicMemory[];
  PackingMemory<D>& m = *reinterpret_cast<PackingMemory<D>*>(dynamicMemory);
  const Packing packing = packings[blockIdx.x];
  const size_t within = blockIdx.z * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  const u8* from = reinterpret_cast<const u8*>(packing.from) + within;
  const u8* other = keyGroup == 2 * PAGE_TOKENS ? reinterpret_cast<const u8*>(packings[blockIdx.x ^ 1].from) + within : from;
  u8* to = reinterpret_cast<u8*>(packing.to) + blockIdx.z * packedStride + (size_t)blockIdx.y * PackedPage<BITS, D>::BYTES;
  loadKeys<D>(from, m.rows);
  __syncthreads();
  packKeys<SPAN, D>(m, PlainRows<D>{m}, PlainKeys<D>{other}, reinterpret_cast<u32*>(to), keyGroup);
  __syncthreads();
  loadValues<D>(from, m.rows);
  __syncthreads();
  packValues<SPAN, D>(m, PlainRows<D>{m}, reinterpret_cast<u32*>(to + PackedPage<BITS, D>::KEY_BYTES), valueGroup);
}

// Reads single numbers of a packed page, like PackedPage.
template <int BITS, int D> struct PackedPlaces {
  using Page = PackedPage<BITS, D>;

  // Returns the index of a word within a lane; with 8 bits the register's upper bit selects the half of a fragment.
  DEVICE static int keyWord(int step, int tile, int reg) {
    return BITS == 2 ? 2 * step + tile / 2 : BITS == 4 ? 4 * step + tile : 8 * step + 2 * tile + reg / 2;
  }
  DEVICE static int valueWord(int step, int tile, int reg) {
    return step * Page::WORDS + (BITS == 2 ? tile / 2 : BITS == 4 ? tile : 2 * tile + reg / 2);
  }

  DEVICE static u32 code(const u8* codes, int index, int lane, int reg, int odd, int half) {
    const int field = BITS == 2 ? reg % 2 + 2 * odd + 4 * (reg / 2) : BITS == 4 ? reg : reg % 2;
    const u32 word = *reinterpret_cast<const u32*>(codes + 512 * (index / 4) + 16 * lane + 4 * (index % 4));
    return word >> (16 * half + BITS * field) & ((1 << BITS) - 1);
  }

  // index: of a fragment among those of 64 keys or of their values
  DEVICE static u32 bit(const u8* codes, int index, int lane, int reg, int half) {
    const u32 word = reinterpret_cast<const u32*>(codes)[index / 4 * 32 + lane];
    return word >> (16 * half + 2 * (index % 4) + reg % 2 + 8 * (reg / 2)) & 1;
  }

  DEVICE static u32 keyCode(const u8* page, int token, int channel) {
    const int tile = token % 32 / 8, step = channel / 16, reg = token / 32 + 2 * (channel % 16 / 8);
    if constexpr (BITS == 1) return bit(page, 4 * step + tile, 4 * (token % 8) + channel % 8 / 2, reg, channel % 2);
    if constexpr (BITS == 3) {
      const u8* upper = page + PackedPage<2, D>::CODE_BYTES;
      return PackedPlaces<2, D>::keyCode(page, token, channel) | PackedPlaces<1, D>::keyCode(upper, token, channel) << 2;
    }
    return code(page, keyWord(step, tile, reg), 4 * (token % 8) + channel % 8 / 2, reg, tile % 2, channel % 2);
  }

  DEVICE static u32 valueCode(const u8* page, int token, int channel) { return codeOfValue(page + Page::KEY_BYTES, token, channel); }

  DEVICE static u32 codeOfValue(const u8* values, int token, int channel) {
    const int upper = channel / (D / 2), tile = channel % (D / 2) / 8, reg = upper + 2 * (token % 16 / 8);
    const int step = 2 * (token / 32 ^ upper) + token % 32 / 16, lane = 4 * (channel % 8) + token % 8 / 2;
    if constexpr (BITS == 1) return bit(values, step * (D / 16) + tile, lane, reg, token % 2);
    if constexpr (BITS == 3) {
      const u8* plane = values + PackedPage<2, D>::CODE_BYTES;
      return PackedPlaces<2, D>::codeOfValue(values, token, channel) | PackedPlaces<1, D>::codeOfValue(plane, token, channel) << 2;
    }
    return code(values, valueWord(step, tile, reg), lane, reg, tile % 2, token % 2);
  }

  DEVICE static float half(const u8* at) { return toFloat(*reinterpret_cast<const u16*>(at)); }

  // Returns the offset of a scale: of keys from the page, of values from the page's values.
  DEVICE static int keyScaleAt(int token, int channel) {
    return Page::CODE_BYTES + 128 * (channel / 32) + 64 * (token / 32) + 16 * (channel % 8 / 2) +
           4 * (2 * (channel % 32 / 16) + channel % 16 / 8) + 2 * (channel % 2);
  }
  DEVICE static int valueScaleAt(int token, int channel) {
    const int upper = channel / (D / 2), step = 2 * (token / 32 ^ upper) + token % 32 / 16;
    const int pair = channel % (D / 2) / 16 * Page::PAIRS / Page::GROUPS;
    const int place = step * 2 * Page::PAIRS + 2 * pair + token % 16 / 8;
    return Page::CODE_BYTES + 128 * (place / 4) + 64 * upper + 16 * (token % 8 / 2) + 4 * (place % 4) + 2 * (token % 2);
  }

  // unit: factor from a stored scale to a quantization step
  DEVICE static float key(const u8* page, int token, int channel, float unit = 1.f) {
    const u32 its = keyCode(page, token, channel);
    const u8* scale = page + keyScaleAt(token, channel);
    const u8* zero = page + Page::CODE_BYTES + Page::KEY_SCALE_BYTES + 64 * (channel / 16) + 16 * (channel % 8 / 2) +
                     4 * (token / 32 + 2 * (channel % 16 / 8)) + 2 * (channel % 2);
    return fmaf(__fmul_rn(half(scale), unit), (float)its, half(zero));
  }

  DEVICE static float value(const u8* page, int token, int channel, float unit = 1.f) {
    return valueIn(page + Page::KEY_BYTES, token, channel, unit);
  }

  DEVICE static float valueIn(const u8* values, int token, int channel, float unit) {
    const u32 its = codeOfValue(values, token, channel);
    const u8* scale = values + valueScaleAt(token, channel);
    const u8* zero = values + Page::CODE_BYTES + Page::VALUE_SCALE_BYTES + 64 * (token % 32 / 16 * Page::GROUPS + channel / 32) +
                     16 * (token % 8 / 2) + 4 * (token / 32 + 2 * (token % 16 / 8)) + 2 * (token % 2);
    return fmaf(__fmul_rn(half(scale), unit), (float)its, half(zero));
  }
};

// The pages and layers to dequantize: grid (pages, KV heads, layers). DequantizeKernel fills it in.
struct Unpacking {
  const Packing* packings;        // reversed: `from` is the fp16 page, 0 for padding
  u64 halfStride, packedStride;   // from a layer's page to the next layer's
  u32 firstLayer;

  DEVICE bool none() const { return packings[blockIdx.x].from == 0; }
  DEVICE u32 layer() const { return firstLayer + blockIdx.z; }
  template <int D> DEVICE u8* halves() const {
    return reinterpret_cast<u8*>(packings[blockIdx.x].from) + layer() * halfStride + (size_t)blockIdx.y * HalfPage<D>::BYTES;
  }
  DEVICE u8* packed(int bytes) const {   // size of a page of one KV head
    return reinterpret_cast<u8*>(packings[blockIdx.x].to) + layer() * packedStride + (size_t)blockIdx.y * bytes;
  }
};

// Writes an fp16 page by all threads of a block, 16 bytes at a time in lane order.
// keys, values: return an element of a token's channel
template <int D, class KEYS, class VALUES> DEVICE void writeHalves(u8* halves, const KEYS& keys, const VALUES& values) {
  constexpr int CHUNKS = D / 16;
  auto keyPair = [&](int token, int channel) { return toHalves(keys(token, channel), keys(token, channel + 1)); };
  auto valuePair = [&](int token, int channel) { return toHalves(values(token, channel), values(token + 1, channel)); };
#pragma unroll 1
  for (int i = threadIdx.x; i < PAGE_TILES * CHUNKS * 32; i += blockDim.x) {
    const int lane = i % 32, chunk = i / 32 % CHUNKS, tile = i / 32 / CHUNKS, r = lane >> 2, q = lane & 3;
    u8* to = halves + tile * HalfPage<D>::TILE_BYTES + 512 * chunk + 16 * lane;
    const int token = TILE_TOKENS * tile + r, channel = 16 * chunk + 2 * q;
    *reinterpret_cast<uint4*>(to) = uint4{keyPair(token, channel), keyPair(token + 8, channel), keyPair(token, channel + 8),
                                          keyPair(token + 8, channel + 8)};
    const int first = TILE_TOKENS * tile + 2 * q, lower = 8 * chunk + r, upper = D / 2 + lower;
    *reinterpret_cast<uint4*>(to + HalfPage<D>::KEY_BYTES) =
        uint4{valuePair(first, lower), valuePair(first, upper), valuePair(first + 8, lower), valuePair(first + 8, upper)};
  }
}

// 256 threads: dequantizes packed pages to the numbers that attention computes with.
template <int BITS, int D> DEVICE void unpackPage(const Unpacking& unpacking, float unit = 1.f) {
  letNextBegin();
  awaitPrevious();
  if (unpacking.none()) return;
  u8* halves = unpacking.halves<D>();
  const u8* page = unpacking.packed(PackedPage<BITS, D>::BYTES);
  writeHalves<D>(
      halves, [&](int token, int channel) { return PackedPlaces<BITS, D>::key(page, token, channel, unit); },
      [&](int token, int channel) { return PackedPlaces<BITS, D>::value(page, token, channel, unit); });
}
