// All kernels of the module, by the names that dev.kvasir.cuda uses.
#include "attend.cuh"
#include "baselines.cuh"
#include "bits.cuh"
#include "encode.cuh"
#include "experts.cuh"
#include "gemm.cuh"
#include "gemv.cuh"
#include "kivi.cuh"
#include "mead.cuh"
#include "meadpack.cuh"
#include "meadread.cuh"
#include "mining.cuh"
#include "mixed.cuh"
#include "operands.cuh"
#include "patterns.cuh"
#include "products.cuh"
#include "prompt.cuh"
#include "residuals.cuh"
#include "store.cuh"
#include "turns.cuh"
#include "widths.cuh"

#define HALVES(D)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(512, 1) attend_fp16_d##D(const __grid_constant__ Attention a) {          \
    attendHalves<D>(a);                                                                                                \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(512, 1) attend_fp16_d##D##_limited(const __grid_constant__ Attention a) { \
    attendHalves<D, Limited>(a);                                                                                       \
  }                                                                                                                    \
  extern "C" __global__ void append_d##D(const PageEntry* places, u64 offset, const u16* keys, const u16* values) {     \
    appendRow<D>(places, offset, keys, values);                                                                        \
  }

#define PACKED(BITS, D)                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) pack_kivi##BITS##_d##D(                                             \
      const Packing* packings, u64 halfStride, u64 packedStride, u32 keyGroup, u32 valueGroup) {                        \
    packPage<StepSpan<BITS>, D>(packings, halfStride, packedStride, keyGroup, valueGroup);                             \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_kivi##BITS##_d##D(                                           \
      const __grid_constant__ Unpacking unpacking) {                                                                   \
    unpackPage<BITS, D>(unpacking);                                                                                    \
  }

// THREADS bounds registers: 512 leave 128 per thread.
#define ATTEND(BITS, D, SETS, THREADS)                                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                             \
      attend_kivi##BITS##_d##D##_sets##SETS(const __grid_constant__ Attention a) {                                     \
    attendInTurn<FixedCodes<BITS, D>, D, SETS>(a);                                                                                    \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                             \
      attend_kivi##BITS##_d##D##_sets##SETS##_limited(const __grid_constant__ Attention a) {                           \
    attendInTurn<FixedCodes<BITS, D>, D, SETS, Limited>(a);                                                                           \
  }

HALVES(64) HALVES(96) HALVES(128) HALVES(256)
PACKED(2, 64) PACKED(2, 96) PACKED(2, 128) PACKED(2, 256)
PACKED(4, 64) PACKED(4, 96) PACKED(4, 128) PACKED(4, 256)
ATTEND(2, 64, 1, 512) ATTEND(2, 96, 1, 512) ATTEND(2, 128, 1, 512) ATTEND(2, 256, 1, 256)
ATTEND(4, 64, 1, 512) ATTEND(4, 96, 1, 512) ATTEND(4, 128, 1, 512) ATTEND(4, 256, 1, 256)
ATTEND(2, 64, 2, 256) ATTEND(2, 96, 2, 256) ATTEND(2, 128, 2, 256)
ATTEND(4, 64, 2, 256) ATTEND(4, 96, 2, 256) ATTEND(4, 128, 2, 256)

// Codes of any width. All layers have the bounds of `limited` kernels, some of them none that matter.
#define ANY_CODES(D, THREADS)                                                                                          \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) attend_kivi_d##D##_sets1(const __grid_constant__ Attention a) { \
    attendInTurn<AnyCodes<D>, D, 1, Limited>(a);                                                                       \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) pack_kivi_d##D(                                                     \
      const Packing* packings, u64 halfStride, u64 packedStride, u32 keyGroup, u32 valueGroup,                         \
      const __grid_constant__ LayerCodes layers) {                                                                     \
    packAnyPage<D>(packings, halfStride, packedStride, keyGroup, valueGroup, layers);                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_kivi_d##D(                                                   \
      const __grid_constant__ Unpacking unpacking, const __grid_constant__ LayerCodes layers) {                        \
    unpackAnyPage<D>(unpacking, layers);                                                                               \
  }

ANY_CODES(64, 512) ANY_CODES(96, 512) ANY_CODES(128, 512) ANY_CODES(256, 256)

// 384 threads leave 168 registers each; shared memory does not fit more warps either. Patterns that rotate take more of both.
#define PATTERNS(BITS, D)                                                                                              \
  extern "C" __global__ void __launch_bounds__(384, 1)                                                                 \
      attend_patterns##BITS##_d##D##_sets1(const __grid_constant__ Attention a) {                                      \
    attendPacked<BITS, D, 1, PatternPart<BITS, D>>(a);                                                                 \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256, 1)                                                                 \
      attend_rotary##BITS##_d##D##_sets1(const __grid_constant__ Attention a) {                                        \
    attendPacked<BITS, D, 1, RotaryPart<BITS, D>>(a);                                                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(D / 2) grow_patterns##BITS##_d##D(                                       \
      const __grid_constant__ Patterning p) {                                                                          \
    growBank<BITS, D>(p);                                                                                              \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) label_patterns##BITS##_d##D(                                        \
      const __grid_constant__ Patterning p, double ratio) {                                                            \
    labelPage<BITS, D>(p, ratio);                                                                                      \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) pack_patterns##BITS##_d##D(                                         \
      const __grid_constant__ Patterning p, u32 keyGroup, u32 valueGroup) {                                            \
    packResiduals<BITS, D>(p, keyGroup, valueGroup);                                                                   \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_patterns##BITS##_d##D(                                       \
      const __grid_constant__ Unpacking unpacking, const BlockBank* banks, u64 bankStride, const u8* rotation) {       \
    addToResiduals<BITS, D>(unpacking, banks, bankStride, rotation);                                                   \
  }

#define PATTERN_TABLES(D)                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) score_patterns_d##D(const __grid_constant__ PatternTables t) {      \
    scorePatterns<D>(t);                                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) add_patterns_d##D(const __grid_constant__ PatternTables t) {        \
    addPatterns<D>(t);                                                                                                 \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(MINED_THREADS, 2) mine_patterns_d##D(const __grid_constant__ Mining m) { \
    minePatterns<D>(m);                                                                                                \
  }

PATTERNS(2, 64) PATTERNS(2, 128) PATTERNS(4, 64) PATTERNS(4, 128)
PATTERN_TABLES(64) PATTERN_TABLES(128)

// Pages that are requantized, with keys by channel (widths) or by token (tokenwidths).
#define WIDTH(NAME, BY_TOKEN, BITS, D)                                                                                 \
  extern "C" __global__ void __launch_bounds__(256) pack_##NAME##BITS##_d##D(                                           \
      const __grid_constant__ WidthPacking packing) {                                                                  \
    packWidth<BITS, D, BY_TOKEN>(packing);                                                                             \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_##NAME##BITS##_d##D(                                         \
      const __grid_constant__ Unpacking unpacking, const float* factors) {                                             \
    unpackWidth<BITS, D, BY_TOKEN>(unpacking, factors);                                                                \
  }

#define NARROW(NAME, BY_TOKEN, FROM, TO, D)                                                                            \
  extern "C" __global__ void __launch_bounds__(256) narrow_##NAME##FROM##_##TO##_d##D(                                  \
      const Packing* packings, u64 fromStride, u64 toStride, u32 shift) {                                              \
    narrowPage<FROM, TO, D, BY_TOKEN>(packings, fromStride, toStride, shift);                                          \
  }

#define WIDTHS(NAME, BY_TOKEN, KEYS, D)                                                                                \
  extern "C" __global__ void __launch_bounds__(384, 1) attend_##NAME##_d##D##_sets1(const __grid_constant__ Attention a) { \
    attendWidths<D, KEYS<D>>(a);                                                                                       \
  }                                                                                                                    \
  WIDTH(NAME, BY_TOKEN, 8, D) WIDTH(NAME, BY_TOKEN, 4, D) WIDTH(NAME, BY_TOKEN, 2, D)                                  \
  NARROW(NAME, BY_TOKEN, 8, 4, D) NARROW(NAME, BY_TOKEN, 8, 2, D) NARROW(NAME, BY_TOKEN, 4, 2, D)

WIDTHS(widths, false, ChannelKeys, 64) WIDTHS(widths, false, ChannelKeys, 128)
WIDTHS(tokenwidths, true, TokenKeys, 64) WIDTHS(tokenwidths, true, TokenKeys, 128)

#define MIXED(D)                                                                                                       \
  extern "C" __global__ void __launch_bounds__(384, 1) attend_mixed_d##D##_sets1(const __grid_constant__ Attention a) { \
    attendPacked<2, D, 1, MixedPart<D>>(a);                                                                            \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(D) see_queries_d##D(const __grid_constant__ SeenQueries seen) {          \
    seeQueries<D>(seen);                                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(D) see_runs_d##D(const __grid_constant__ SeenQueries seen) {             \
    seeRuns<D>(seen);                                                                                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(D) judge_mixed_d##D(                                                     \
      const Packing* packings, u64 halfStride, u32 pagesTogether, u64 sums, u64 sumStride, u32 which, u32 count,       \
      float* saliences) {                                                                                              \
    judgeKeys<D>(packings, halfStride, pagesTogether, sums, sumStride, which, count, saliences);                       \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) pack_mixed_d##D(                                                    \
      const Packing* packings, const TierPlan<D>* plans, u64 halfStride, u64 packedStride, u32 keyGroup,               \
      u32 valueGroup) {                                                                                                \
    packMixed<D>(packings, plans, halfStride, packedStride, keyGroup, valueGroup);                                     \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_mixed_d##D(                                                  \
      const __grid_constant__ Unpacking unpacking) {                                                                   \
    unpackMixed<D>(unpacking);                                                                                         \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(32) pretend_mixed_d##D(                                                  \
      u8* pages, u64 wider, u64 widerBytes, u32 mid, u32 kept) {                                                       \
    pretendTiers<D>(pages, wider, widerBytes, mid, kept);                                                              \
  }

MIXED(64) MIXED(128)

extern "C" __global__ void __launch_bounds__(ROW_THREADS) add_and_normalize(float* x, const float* update,
                                                                            const float* weight, float epsilon, u32 hidden,
                                                                            const u32* rowOf, CodedRows coded) {
  addAndNormalize(x, update, weight, epsilon, hidden, rowOf, coded);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) activate(const float* gateAndUp, u32 columns, CodedRows coded) {
  activatePart<Silu>(gateAndUp, columns, coded);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) activate_gelu(const float* gateAndUp, u32 columns, CodedRows coded) {
  activatePart<Gelu>(gateAndUp, columns, coded);
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) finish_update(float* update, const float* bias, const float* norm,
                                                                        float epsilon, float scale, u32 hidden) {
  finishUpdate(update, bias, norm, epsilon, scale, hidden);
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) normalize_all_heads(const __grid_constant__ AllHeadsNorm n) {
  normalizeAllHeads(n);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) cap_logits(float* logits, u32 vocabulary, float scale, float cap) {
  capLogits(logits, vocabulary, scale, cap);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) code_halves(const u16* x, u32 columns, CodedRows coded) {
  codePart(x, columns, coded);
}

// BLOCKS of a multiprocessor bound registers: queries and outputs of heads of 256 take all that a thread can have.
#define READ(NAME, BITS, D, BLOCKS)                                                                                    \
  extern "C" __global__ void __launch_bounds__(32 * PROMPT_WARPS, BLOCKS)                                              \
      read_##NAME##_d##D(const __grid_constant__ Prompt p) {                                                           \
    readPrompt<BITS, D>(p);                                                                                            \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(32 * PROMPT_WARPS, BLOCKS)                                              \
      read_##NAME##_d##D##_limited(const __grid_constant__ Prompt p) {                                                 \
    readPrompt<BITS, D, true>(p);                                                                                      \
  }
READ(fp16, 16, 64, 2) READ(fp16, 16, 96, 2) READ(fp16, 16, 128, 2) READ(fp16, 16, 256, 1)
READ(kivi2, 2, 64, 2) READ(kivi2, 2, 96, 2) READ(kivi2, 2, 128, 2) READ(kivi2, 2, 256, 1)
READ(kivi4, 4, 64, 2) READ(kivi4, 4, 96, 2) READ(kivi4, 4, 128, 2) READ(kivi4, 4, 256, 1)

#define TURN(D) \
  extern "C" __global__ void turn_d##D(const __grid_constant__ Turning t) { turnRow<D>(t); }
TURN(64) TURN(96) TURN(128) TURN(256)

extern "C" __global__ void rotary_angles(const float* frequencies, const u32* positions, float2* angles) {
  rotaryAngles(frequencies, positions, angles);
}

// Up to 8 * COLUMNS rows at a time. At least two blocks fit on a multiprocessor.
#define PRODUCT(NAME, KIND, COLUMNS, TILES)                                                                            \
  extern "C" __global__ void __launch_bounds__(256, 2) multiply_##NAME##_columns##COLUMNS##_tiles##TILES(               \
      const __grid_constant__ Product p) {                                                                             \
    multiply<KIND, COLUMNS, TILES>(p);                                                                                 \
  }

#define WEIGHTS(NAME, KIND)                                                                                            \
  extern "C" __global__ void __launch_bounds__(ROW_THREADS) embed_##NAME(                                               \
      const __grid_constant__ Weights embedding, const u32* tokens, u32 hidden, float* x, float scale) {               \
    embedRow<KIND>(embedding, tokens, hidden, x, scale);                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256, 2) multiply_experts_##NAME(                                         \
      const __grid_constant__ ExpertProduct e) {                                                                       \
    multiplyExperts<KIND>(e);                                                                                          \
  }                                                                                                                    \
  PRODUCT(NAME, KIND, 1, 1)                                                                                            \
  PRODUCT(NAME, KIND, 2, 1) PRODUCT(NAME, KIND, 2, 2)                                                                  \
  PRODUCT(NAME, KIND, 4, 1) PRODUCT(NAME, KIND, 4, 2)

WEIGHTS(bytes, ByteWeights)
WEIGHTS(nibbles, NibbleWeights)
WEIGHTS(super4, SuperWeights<FourBits>)
WEIGHTS(super5, SuperWeights<FiveBits>)
WEIGHTS(super6, SixBitWeights)
WEIGHTS(groups8, GroupWeights<8>)
WEIGHTS(groups4, GroupWeights<4>)
WEIGHTS(sixteens, SixteenWeights)
WEIGHTS(halves, HalfWeights)

extern "C" __global__ void __launch_bounds__(ROW_THREADS) route_experts(const __grid_constant__ Routed r) { routeExperts(r); }

extern "C" __global__ void __launch_bounds__(ROW_THREADS) order_pairs(const __grid_constant__ Ordering o) { orderPairs(o); }

extern "C" __global__ void __launch_bounds__(PART_THREADS) gather_rows(const __grid_constant__ Gathering g) { gatherRow(g); }

extern "C" __global__ void __launch_bounds__(PART_THREADS) activate_experts_bounded(const __grid_constant__ BiasedExperts b) {
  activateExperts<BoundedSilu>(b);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) combine_experts(const __grid_constant__ Combining c) {
  combineExperts(c);
}

// Weights in blocks, for 9.0 alone: instructions of warpgroups exist nowhere else.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
extern "C" __global__ void __launch_bounds__(ROW_THREADS) normalize_to_blocks(
    float* x, const float* update, const float* weight, float epsilon, u32 hidden, const u32* rowOf, BlockRows to) {
  normalizeToBlocks(x, update, weight, epsilon, hidden, rowOf, to);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) activate_to_blocks(const float* gateAndUp, u32 columns, BlockRows to) {
  activateToBlocks<Silu>(gateAndUp, columns, to);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) activate_gelu_to_blocks(const float* gateAndUp, u32 columns,
                                                                                   BlockRows to) {
  activateToBlocks<Gelu>(gateAndUp, columns, to);
}

extern "C" __global__ void __launch_bounds__(PART_THREADS) halves_to_blocks(const u16* x, u32 columns, BlockRows to) {
  halvesToBlocks(x, columns, to);
}

// The stages are those of dev.kvasir.cuda.kernels.BlockGemm: as many as fit.
#define GEMM(NAME, KIND, ROWS, ROW_STAGES, WEIGHT_STAGES)                                                              \
  extern "C" __global__ void __launch_bounds__(GEMM_THREADS, 1) gemm_##NAME##_rows##ROWS(                               \
      const __grid_constant__ TensorMap map, const __grid_constant__ BlockProduct p) {                                 \
    multiplyBlocks<KIND, ROWS, ROW_STAGES, WEIGHT_STAGES, 1>(map, p);                                                  \
  }

// The same, with outputs that are sums of parts of the columns.
#define GEMM_IN_PARTS(NAME, KIND, ROWS, ROW_STAGES, WEIGHT_STAGES)                                                     \
  extern "C" __global__ void __launch_bounds__(GEMM_THREADS, GEMM_BLOCKS<ROWS>) gemm_parts_##NAME##_rows##ROWS(          \
      const __grid_constant__ TensorMap map, const __grid_constant__ BlockProduct p) {                                 \
    multiplyBlocks<KIND, ROWS, ROW_STAGES, WEIGHT_STAGES, COLUMN_PARTS>(map, p);                                       \
  }

#define BLOCKS(NAME, KIND, SLOTS)                                                                                      \
  extern "C" __global__ void __launch_bounds__(ROW_THREADS) embed_##NAME(                                               \
      const u8* embedding, const u32* tokens, u32 hidden, float* x, float scale) {                                     \
    embedFromBlocks<KIND>(embedding, tokens, hidden, x, scale);                                                        \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(32 * GEMV_WARPS, 1) gemv_##NAME(                                         \
      const __grid_constant__ FewRowsProduct p) {                                                                      \
    multiplyFew<KIND, SLOTS>(p);                                                                                       \
  }

BLOCKS(byte_blocks, ByteBlock, 2)
GEMM(byte_blocks, ByteBlock, 64, 8, 4) GEMM(byte_blocks, ByteBlock, 128, 8, 2)
GEMM(byte_blocks, ByteBlock, 160, 6, 2) GEMM(byte_blocks, ByteBlock, 256, 4, 2)
GEMM_IN_PARTS(byte_blocks, ByteBlock, 32, 10, 2) GEMM_IN_PARTS(byte_blocks, ByteBlock, 64, 8, 4)
GEMM_IN_PARTS(byte_blocks, ByteBlock, 128, 8, 2)

BLOCKS(signed_nibble_blocks, SignedNibbleBlock, 2)
GEMM(signed_nibble_blocks, SignedNibbleBlock, 64, 8, 6) GEMM(signed_nibble_blocks, SignedNibbleBlock, 128, 8, 4)
GEMM(signed_nibble_blocks, SignedNibbleBlock, 160, 7, 3) GEMM(signed_nibble_blocks, SignedNibbleBlock, 256, 5, 3)
GEMM_IN_PARTS(signed_nibble_blocks, SignedNibbleBlock, 32, 9, 4) GEMM_IN_PARTS(signed_nibble_blocks, SignedNibbleBlock, 64, 8, 6)
GEMM_IN_PARTS(signed_nibble_blocks, SignedNibbleBlock, 128, 8, 4)

BLOCKS(nibble_blocks, NibbleBlock, 2)
GEMM(nibble_blocks, NibbleBlock, 64, 8, 6) GEMM(nibble_blocks, NibbleBlock, 128, 8, 4)
GEMM(nibble_blocks, NibbleBlock, 160, 7, 3) GEMM(nibble_blocks, NibbleBlock, 256, 5, 3)
GEMM_IN_PARTS(nibble_blocks, NibbleBlock, 32, 9, 4) GEMM_IN_PARTS(nibble_blocks, NibbleBlock, 64, 8, 6)
GEMM_IN_PARTS(nibble_blocks, NibbleBlock, 128, 8, 4)

BLOCKS(five_bit_blocks, FiveBitBlock, 2)
GEMM(five_bit_blocks, FiveBitBlock, 64, 8, 5) GEMM(five_bit_blocks, FiveBitBlock, 128, 7, 3)
GEMM(five_bit_blocks, FiveBitBlock, 160, 6, 3) GEMM(five_bit_blocks, FiveBitBlock, 256, 4, 3)
GEMM_IN_PARTS(five_bit_blocks, FiveBitBlock, 32, 10, 3) GEMM_IN_PARTS(five_bit_blocks, FiveBitBlock, 64, 8, 5)
GEMM_IN_PARTS(five_bit_blocks, FiveBitBlock, 128, 7, 3)

BLOCKS(six_bit_blocks, SixBitBlock, 2)
GEMM(six_bit_blocks, SixBitBlock, 64, 8, 5) GEMM(six_bit_blocks, SixBitBlock, 128, 7, 3)
GEMM(six_bit_blocks, SixBitBlock, 160, 6, 3) GEMM(six_bit_blocks, SixBitBlock, 256, 4, 3)
GEMM_IN_PARTS(six_bit_blocks, SixBitBlock, 32, 7, 3) GEMM_IN_PARTS(six_bit_blocks, SixBitBlock, 64, 8, 5)
GEMM_IN_PARTS(six_bit_blocks, SixBitBlock, 128, 7, 3)

BLOCKS(half_blocks, HalfBlock, 1)
GEMM(half_blocks, HalfBlock, 64, 8, 8) GEMM(half_blocks, HalfBlock, 128, 6, 7)
GEMM(half_blocks, HalfBlock, 160, 5, 6) GEMM(half_blocks, HalfBlock, 256, 4, 5)
GEMM_IN_PARTS(half_blocks, HalfBlock, 32, 10, 4) GEMM_IN_PARTS(half_blocks, HalfBlock, 64, 8, 8)
GEMM_IN_PARTS(half_blocks, HalfBlock, 128, 6, 7)
#endif

extern "C" __global__ void __launch_bounds__(ROW_THREADS) likeliest(const float* logits, u32 vocabulary, u32* tokens) {
  pickLikeliest(logits, vocabulary, tokens);
}

// BITS is approximate bits per channel: STAGES is the nearest number of 12-bit codes.
#define COMMVQ(BITS, D, STAGES)                                                                                        \
  extern "C" __global__ void __launch_bounds__(D == 64 ? 512 : 384, 1)                                                 \
      score_commvq##BITS##_d##D(const __grid_constant__ Scoring s) {                                                   \
    scorePages<D, STAGES>(s);                                                                                          \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(384, 1)                                                                 \
      attend_commvq##BITS##_d##D##_sets1(const __grid_constant__ Attention a) {                                        \
    attendCommvq<D, STAGES>(a, Mixing{(const u8*)a.collected, (const u8*)a.tables});                                   \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) tabulate_commvq##BITS##_d##D(                                       \
      const __grid_constant__ TableScoring t) {                                                                        \
    tabulateQueries<D, STAGES>(t);                                                                                     \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(384) look_up_commvq##BITS##_d##D(                                        \
      const __grid_constant__ TableScoring t) {                                                                        \
    scoreByTables<D, STAGES>(t);                                                                                       \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) decode_commvq##BITS##_d##D(const __grid_constant__ Decoding d) {    \
    decodePages<D, STAGES>(d);                                                                                         \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(384, 1)                                                                 \
      attend_commvq##BITS##_decoded_d##D##_sets1(const __grid_constant__ Attention a) {                                \
    attendDecoded<D>(a);                                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_commvq##BITS##_d##D(                                         \
      const __grid_constant__ Unpacking unpacking, const __grid_constant__ Codebooks books) {                          \
    expandPage<D, STAGES>(unpacking, books);                                                                           \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) write_commvq##BITS##_d##D(const __grid_constant__ Encoding e) {     \
    writePage<STAGES>(e);                                                                                              \
  }

COMMVQ(1, 64, 5) COMMVQ(2, 64, 11)
COMMVQ(1, 128, 11) COMMVQ(2, 128, 21)

// Values that a network has encoded.
#define COMMVQ_BITS(BITS, D, STAGES)                                                                                   \
  extern "C" __global__ void __launch_bounds__(D == 64 ? 512 : 384, 1)                                                 \
      score_commvq##BITS##_bits_d##D(const __grid_constant__ Scoring s) {                                              \
    scorePages<D, STAGES, BitPage<D, STAGES, BITS>>(s);                                                                \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(384, 1)                                                                 \
      attend_commvq##BITS##_bits_d##D##_sets1(const __grid_constant__ Attention a) {                                   \
    attendBits<D, STAGES, BITS>(a, Mixing{(const u8*)a.collected, (const u8*)a.tables});                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_commvq##BITS##_bits_d##D(                                    \
      const __grid_constant__ Unpacking unpacking, const __grid_constant__ Codebooks books) {                          \
    expandBits<D, STAGES, BITS>(unpacking, books);                                                                     \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) write_commvq##BITS##_bits_d##D(                                     \
      const __grid_constant__ Encoding e, const __grid_constant__ Network n) {                                         \
    writeBits<D, STAGES, BITS>(e, n);                                                                                  \
  }

COMMVQ_BITS(1, 64, 5) COMMVQ_BITS(2, 64, 11)
COMMVQ_BITS(1, 128, 11) COMMVQ_BITS(2, 128, 21)

#define COMMVQ_HEADS(D)                                                                                                \
  extern "C" __global__ void prepare_commvq_d##D(const __grid_constant__ Encoding e) { prepareVectors<D>(e); }         \
  extern "C" __global__ void normalize_commvq_d##D(const __grid_constant__ Network n) { normalizeValues<D>(n); }

COMMVQ_HEADS(64) COMMVQ_HEADS(128)

extern "C" __global__ void __launch_bounds__(32 * SEARCH_WARPS, 1)
    search_commvq(const __grid_constant__ CodedVectors v, const __grid_constant__ Search s) {
  searchCodes(v, s);
}

extern "C" __global__ void __launch_bounds__(256) multiply_commvq(const __grid_constant__ HostProduct h) {
  multiplyAsHost(h);
}

extern "C" __global__ void __launch_bounds__(256) choose_commvq(const __grid_constant__ Network n, u32 width) {
  chooseBits(n, width);
}

// Residuals of predictions, with a width for each channel and tier.
#define MEAD(D)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) pack_mead_d##D(                                                     \
      const __grid_constant__ MeadPacking p, const __grid_constant__ MeadTables t) {                                   \
    packMead<D>(p, t);                                                                                                 \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) unpack_mead_d##D(                                                   \
      const __grid_constant__ Unpacking unpacking, const __grid_constant__ MeadTables t) {                             \
    unpackMead<D>(unpacking, t);                                                                                       \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) decode_mead_d##D(                                                   \
      const __grid_constant__ MeadDecoding d, const __grid_constant__ MeadTables t) {                                  \
    decodeMead<D>(d, t);                                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(384, 1)                                                                 \
      attend_mead_decoded_d##D##_sets1(const __grid_constant__ Attention a) {                                          \
    attendDecoded<D>(a);                                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(512, 1) attend_mead_d##D##_sets1(const __grid_constant__ Attention a) {  \
    attendMead<D>(a);                                                                                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(D) finish_mead_d##D(                                                     \
      const __grid_constant__ MeadFinishing f, const __grid_constant__ MeadTables t) {                                 \
    finishMead<D>(f, t);                                                                                               \
  }

MEAD(64) MEAD(128)

extern "C" __global__ void nothing() {}
