// Quantizes fp16 pages to codebook indices with the same bits as the search on the host (dev.kvasir.codec.commvq). Float
// sums have as many partial sums as on the host, in its order, and its first choice wins a tie.
//
// There are three kinds of kernels for a block of 128 tokens, of all layers. The first rotates vectors back, subtracts their
// means and divides by their token's length. The second searches codes (search.cuh). The third writes the pages.
#pragma once
#include "search.cuh"
#include "store.cuh"

// CommvqPageQuantizer has the same fields in the same order.
struct Encoding {
  const Packing* packings;   // of the two pages
  const u64* position;       // of the first token, or null for a sequence's first packed position
  u64 halfStride, packedStride;
  const float2* places;      // (128, D / 2) cosines and sines of token indices in a block
  const float2* pageTurns;   // (pages, D / 2), of a page's first position
  const u16* order;          // (2, D / 2) channels of pairs
  u32 firstPosition, turnPages;
  u32 kvHeads;
  u32 unused;
  CodedVectors keys;         // a vector is a KV head's key
  CodedVectors values;       // a vector has the values of all KV heads that share codes

  DEVICE u32 blockPosition() const { return position == nullptr ? firstPosition : (u32)*position; }

  DEVICE const float2* turnOfBlock(int pairs) const {
    return pageTurns + (size_t)min((blockPosition() - firstPosition) / PAGE_TOKENS, turnPages - 1) * pairs;
  }
};

// Rotates back; every product and sum is rounded separately, as in Java.
DEVICE float2 turnedBack(float2 x, float2 turn) {
  return float2{__fadd_rn(__fmul_rn(x.x, turn.x), __fmul_rn(x.y, turn.y)),
                __fsub_rn(__fmul_rn(x.y, turn.x), __fmul_rn(x.x, turn.y))};
}

// grid (128 tokens, layers, keys and values), D / 2 threads. A thread has two channels of each head.
template <int D> DEVICE void prepareVectors(const Encoding& e) {
  __shared__ float row[D];
  __shared__ float factor;
  letNextBegin();
  awaitPrevious();
  const int token = blockIdx.x, layer = blockIdx.y, i = threadIdx.x, within = token % PAGE_TOKENS;
  const bool isKey = blockIdx.z == 0;
  const CodedVectors& v = isKey ? e.keys : e.values;
  const int span = v.length / D;   // heads of a vector
  const int first = isKey ? i : 2 * i, second = isKey ? D / 2 + i : 2 * i + 1;
  auto placeOf = [&](int head) { return v.vector(layer, head / span, token) * v.length + head % span * D; };
  const u8* page = reinterpret_cast<const u8*>(e.packings[token / PAGE_TOKENS].from) + layer * e.halfStride;
  double square = 0;   // squared length of a vector, thread 0 alone
  float all = 0.f;     // of all vectors of the token
  for (int head = 0; head < e.kvHeads; head++, page += HalfPage<D>::BYTES) {
    const float* mean = v.mean(layer, head / span) + head % span * D;
    float2 x;
    if (isKey) {
      x.x = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(within, e.order[i])));
      x.y = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::keyOffset(within, e.order[D / 2 + i])));
      x = turnedBack(turnedBack(x, e.turnOfBlock(D / 2)[i]), e.places[token * (D / 2) + i]);
    } else {
      x.x = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::valueOffset(within, first)));
      x.y = toFloat(*reinterpret_cast<const u16*>(page + HalfPage<D>::valueOffset(within, second)));
    }
    row[first] = x.x = __fsub_rn(x.x, mean[first]);
    row[second] = x.y = __fsub_rn(x.y, mean[second]);
    float* vector = v.vectors + placeOf(head);
    vector[first] = x.x;
    vector[second] = x.y;
    __syncthreads();
    if (i == 0) {
      for (int c = 0; c < D; c++) square = fma((double)row[c], (double)row[c], square);   // products of floats are exact
      if (head % span == span - 1) {
        all = __fadd_rn(all, (float)square);
        square = 0;
      }
    }
    __syncthreads();
  }
  if (i == 0) {
    const float length = (float)sqrt((double)all);
    v.lengths[layer * BLOCK_TOKENS + token] = length;
    factor = length == 0.f ? 0.f : __fdiv_rn(1.f, length);
  }
  __syncthreads();
  for (int head = 0; head < e.kvHeads; head++) {   // each thread reads only what it has written itself
    float* vector = v.vectors + placeOf(head);
    vector[first] = __fmul_rn(vector[first], factor);
    vector[second] = __fmul_rn(vector[second], factor);
  }
}

// Returns the scale that fits a token's codes best, over all its vectors.
DEVICE u16 fittedScale(const CodedVectors& v, int layer, int token) {
  double product = 0, square = 0;
  for (int which = 0; which < v.count; which++) {
    const double2 fit = v.fits[v.vector(layer, which, token)];
    product += fit.x;
    square += fit.y;
  }
  const double scale = square == 0 ? 0 : v.lengths[layer * BLOCK_TOKENS + token] * product / square;
  return toHalf((float)fmin(fmax(scale, 0.), 65504.));
}

// Returns the index of a set of rows; heads that share a vector have its sets in turn.
DEVICE u32 indexOf(const CodedVectors& v, int layer, int head, int heads, int token, int sets, int set) {
  const int span = heads / v.count, own = head % span * sets + set;
  return v.codes[v.vector(layer, head / span, token) * v.stages + own / 2] >> INDEX_BITS * (own % 2) & 63;
}

// Writes the key words and the position of a page by all threads of a block.
template <class PAGE> DEVICE void writeKeys(const Encoding& e, u8* page, int layer, int head, int before) {
  for (int i = threadIdx.x; i < PAGE::KEY_WORDS * PAGE_TOKENS; i += blockDim.x) {
    const int word = i / PAGE_TOKENS, token = before + i % PAGE_TOKENS;
    u32 bits = 0;
    for (int k = 0; k < 5; k++) {
      const int set = 5 * word + k;
      if (set < PAGE::SETS) bits |= indexOf(e.keys, layer, head, e.kvHeads, token, PAGE::SETS, set) << INDEX_BITS * k;
    }
    if (word == PAGE::KEY_WORDS - 1) bits |= (u32)fittedScale(e.keys, layer, token) << 16;
    reinterpret_cast<u32*>(page)[i] = bits;
  }
  if (threadIdx.x == 0) *reinterpret_cast<u32*>(page + PAGE::POSITION_AT) = e.blockPosition() + before;
}

template <class PAGE> DEVICE u8* packedPage(const Encoding& e, int layer, int head) {
  return reinterpret_cast<u8*>(e.packings[blockIdx.x].to) + layer * e.packedStride + (size_t)head * PAGE::BYTES;
}

// grid (2 pages, KV heads, layers), 256 threads
template <int STAGES> DEVICE void writePage(const Encoding& e) {
  using Page = CommvqPage<STAGES>;
  letNextBegin();
  awaitPrevious();
  const int head = blockIdx.y, layer = blockIdx.z, before = PAGE_TOKENS * blockIdx.x;
  u8* page = packedPage<Page>(e, layer, head);
  writeKeys<Page>(e, page, layer, head, before);
  for (int i = threadIdx.x; i < 12 * Page::SETS; i += blockDim.x) {
    const int set = i % Page::SETS, word = i / Page::SETS;
    u32 bits = 0;
    for (int token = 0; token < TILE_TOKENS; token++) {
      const int shift = INDEX_BITS * token - 32 * (word % 3);
      if (shift > -INDEX_BITS && shift < 32) {
        const int own = before + word / 3 * TILE_TOKENS + token;
        const u32 its = indexOf(e.values, layer, head, e.kvHeads, own, Page::SETS, set);
        bits |= shift < 0 ? its >> -shift : its << shift;
      }
    }
    reinterpret_cast<u32*>(page + Page::VALUE_AT)[i] = bits;
  }
  for (int token = threadIdx.x; token < PAGE_TOKENS; token += blockDim.x) {
    reinterpret_cast<u16*>(page + Page::VALUE_SCALES_AT)[token] = fittedScale(e.values, layer, before + token);
  }
}
