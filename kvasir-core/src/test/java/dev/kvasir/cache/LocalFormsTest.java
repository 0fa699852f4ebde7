package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The serialized caches of sliding-window layers, for one KV head of four channels. */
class LocalFormsTest {
  private static final CacheShape WHOLE = new CacheShape(4, 1, 4);

  /** Two layers have the same window; the first is never quantized. */
  private static final CacheShape LOCAL =
      WHOLE.withWindows(new LayerWindows(List.of(5, LayerWindows.UNBOUNDED, 200, 200)));

  private static final int TOKENS = 1 + 4 * 128 + 3;

  /** Offset of the layer kinds in a block: header, position, precision, layers. */
  private static final int BLOCK_KINDS = 10 + 7;

  /** Offset of the state in a residual snapshot: header, fixed fields. */
  private static final int STATE = 10 + 17;

  private long bytesBefore;

  @BeforeEach
  void count() {
    bytesBefore = CountedArena.liveBytes();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private static KvCache filled(String spec, CacheShape shape) {
    KvCache cache = CacheSpec.parse(spec).newCache(shape, CacheContext.unknown());
    float[] x = SnapshotAssertions.wholeNumbers(TOKENS * 4);
    cache.reserve(TOKENS);
    for (int position = 0; position < TOKENS; position++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        cache.append(layer, position, x, position * 4, x, (TOKENS - 1 - position) * 4);
      }
    }
    cache.advance(TOKENS);
    return cache;
  }

  private static KvCache restored(String spec, CacheSnapshot snapshot) {
    return CacheSpec.parse(spec).restore(LOCAL, CacheContext.unknown(), snapshot);
  }

  @Test
  void quantizedBlocksAndTheResidual() {
    try (KvCache cache = filled("kivi:1,window=0,sinks=1", LOCAL)) {
      CacheSnapshot snapshot = cache.snapshot();
      SnapshotAssertions.assertBytes(
          snapshot.block(0),
          987,
          "5ee99d03",
          "4b56424c 01 03 cd030000", // magic, version, kind, bytes
          "01000000 01 0400", // position, halves, layers
          "00 01 00 00", // evicted, a page, evicted
          "00000000 b2030000 00000000 00000000", // bytes of each
          "4b565047 02 01"); // the page
      SnapshotAssertions.assertBytes(
          snapshot.block(3),
          4927,
          "3bf13c25",
          "4b56424c 01 03 31130000", //
          "81010000 01 0400", //
          "02 01 01 01", // numbers, pages
          "00080000 b2030000 b2030000 b2030000", //
          "00c0 80c9"); // start of the first layer's keys
      SnapshotAssertions.assertBytes(
          snapshot.residual(),
          261,
          "08fd3e9d",
          "4b565254 01 02 f7000000", //
          "04020000 04000000 01000000 01", // positions, whole blocks, sinks, halves
          "0e000000 4b565354 01 00 00000000 12f087be", // state
          "00 01 00 00", // layers that retain the sinks
          "01 01 01 01", // layers that retain the last tokens
          "80c9 0042 00c6 0048"); // the sink's key
    }
  }

  /** If no layer is quantized, a block behind the window is not whole once it is truncated. */
  @Test
  void aTruncatedDenseCacheIsRestored() {
    CacheShape shape = WHOLE.withWindows(new LayerWindows(List.of(150, 150, 150, 150)));
    String spec = "kivi:2,window=100";
    try (KvCache cache = filled(spec, shape)) {
      for (int length : new int[] {TOKENS - 10, TOKENS - 100, TOKENS - 128}) {
        cache.truncate(length);
        assertThat(cache.length()).isEqualTo(length);
        CacheSpec.parse(spec).restore(shape, CacheContext.unknown(), cache.snapshot()).close();
      }
    }
  }

  @Test
  void patternsOfLayersThatEvictPages() {
    try (KvCache cache = filled("patternkv:2,patterns=1,rope=static,window=0", LOCAL)) {
      byte[] rest = cache.snapshot().residual();
      SnapshotAssertions.assertBytes(
          Arrays.copyOfRange(rest, STATE, STATE + 82),
          82,
          "dcc33362",
          "4b565354 01 04 44000000", //
          "00000000 00020000", // patterns from there on and up to there
          "01 00000000 01", // one version of keys: its position, its patterns
          "0000 0000 0000 0000", // of the first layer, which is never quantized
          "00a4 0023 0098 80a4 00a4 0023 0098 80a4", // of the last two
          "01 00000000 01"); // the same for values
    }
  }

  /** A sequence that was stored with all tokens evicts in its next step. */
  @ParameterizedTest
  @ValueSource(
      strings = {"fp16", "kivi:1,window=0,sinks=1", "kivi:2", "patternkv:2,rope=static,window=0"})
  void snapshotsOfAllLayersAreRead(String spec) {
    try (KvCache whole = filled(spec, WHOLE);
        KvCache local = filled(spec, LOCAL);
        KvCache read = restored(spec, SnapshotBytes.of(whole.snapshot()))) {
      assertThat(read.bytes().total()).isEqualTo(whole.bytes().total());
      for (int layer = 0; layer < WHOLE.layers(); layer++) {
        assertThat(read.firstRetained(layer)).isZero();
        assertThat(lastKeys(read, layer)).isEqualTo(lastKeys(whole, layer));
      }
      read.quantizeWindow();
      for (int layer = 0; layer < WHOLE.layers(); layer++) {
        assertThat(read.firstRetained(layer)).isEqualTo(local.firstRetained(layer));
      }
    }
  }

  private static float[] lastKeys(KvCache cache, int layer) {
    float[] keys = new float[128 * 4];
    cache.view(layer, cache.blockOf(TOKENS - 1) - 1).expandKeys(new ScalarKernels(), 0, 128, keys);
    return keys;
  }

  private static SnapshotBytes changed(SnapshotBytes snapshot, int block, int at, int value) {
    List<String> blocks = new ArrayList<>(snapshot.hexBlocks());
    byte[] bytes = HexFormat.of().parseHex(blocks.get(block));
    bytes[at] = (byte) value;
    blocks.set(block, HexFormat.of().formatHex(SnapshotAssertions.withChecksum(bytes)));
    return new SnapshotBytes(snapshot.length(), snapshot.ends(), blocks, snapshot.hexResidual());
  }

  @Test
  void aLayerThatIsMissingWhereItIsReadIsRefused() {
    String spec = "fp16";
    try (KvCache cache = filled(spec, LOCAL)) {
      SnapshotBytes snapshot = SnapshotBytes.of(cache.snapshot());
      int last = snapshot.blocks() - 1;
      assertRefused(
          changed(snapshot, last, BLOCK_KINDS + 2, BlockSerializer.EVICTED),
          "a stored block has layer 2 as kind 0 and layer 3, which looks as far back, as kind 2");
      assertRefused(
          changed(snapshot, last, BLOCK_KINDS + 1, BlockSerializer.PAGE),
          "a stored block has layer 1 as kind 1, which this cache does not keep it as");
      assertRefused(
          changed(snapshot, last, BLOCK_KINDS, BlockSerializer.EVICTED),
          "a stored block has 2048 bytes of layer 0, which has evicted it");
    }
    assertRefused(
        storedWithin(5, 200, 200, 200),
        "the rest of a stored cache lacks block 0 of layer 1, which it needs");
    assertRefused(
        storedWithin(5, LayerWindows.UNBOUNDED, 5, 5),
        "the rest of a stored cache lacks what a token behind its 516 reads");
  }

  private static SnapshotBytes storedWithin(Integer... windows) {
    CacheShape shape = WHOLE.withWindows(new LayerWindows(List.of(windows)));
    try (KvCache cache = filled("fp16", shape)) {
      return SnapshotBytes.of(cache.snapshot());
    }
  }

  private static void assertRefused(SnapshotBytes snapshot, String sentence) {
    assertThatThrownBy(() -> restored("fp16", snapshot))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(sentence);
  }
}
