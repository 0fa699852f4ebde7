package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.QuantizedSequence;
import dev.kvasir.codec.QuantizedSequence.SequenceSnapshot;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.spi.QuantizationMethod;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of every method's stored pages and sequence state. */
@Tag("contract")
class StoredFormContractTest {
  private static final PageWorkspace WORKSPACE =
      new PageWorkspace(KernelChoice.ofThisProcess().kernels());
  private static final String KINDS = "dev.kvasir.cache.StoredSequences#kinds";
  private static final int KIND_AT = 5;

  private long bytesBefore;
  private long arenasBefore;

  @BeforeAll
  static void createSharedTables() {
    assertThat(StoredSequences.kinds()).isNotEmpty();
  }

  @BeforeEach
  void count() {
    bytesBefore = CountedArena.liveBytes() - StoredSequences.tableBytes();
    arenasBefore = CountedArena.liveArenas() - StoredSequences.tables();
  }

  @AfterEach
  void nothingIsLeftBehind() {
    assertThat(CountedArena.liveBytes() - StoredSequences.tableBytes()).isEqualTo(bytesBefore);
    assertThat(CountedArena.liveArenas() - StoredSequences.tables()).isEqualTo(arenasBefore);
  }

  @Test
  void everyMethodIsCovered() {
    Set<QuantizationMethod> covered = new HashSet<>();
    ContractSpecs.specs().forEach(spec -> covered.add(CacheSpec.parse(spec).method()));
    assertThat(covered).containsExactlyInAnyOrderElementsOf(MethodRegistry.all());
  }

  /** Kind numbers in existing files belong to one class each, forever. */
  @Test
  void everyNumberStandsForOneKind() {
    Map<Integer, Class<?>> pages = new TreeMap<>();
    Map<Integer, Class<?>> states = new TreeMap<>();
    StoredSequences.kinds()
        .filter(kind -> !kind.spec().startsWith("toy")) // never stored in files
        .forEach(
            kind -> {
              try (QuantizedSequence sequence = StoredSequences.begin(kind)) {
                sequence.grow(1);
                Page page = sequence.page(0, 0);
                assertOwn(pages, page.serialize(), page.getClass());
                byte[] state = sequence.codec().serializeState();
                if (state[KIND_AT] != 0) { // 0 is the empty state of any method
                  assertOwn(states, state, sequence.codec().getClass());
                }
              }
            });
    assertThat(pages.values().stream().map(Class::getSimpleName))
        .containsExactly(
            "UniformPage",
            "PatternkvPage",
            "PmkvqPage",
            "CommvqPage",
            "CommvqPage",
            "SlicedPage",
            "BasisPage",
            "RotatekvPage",
            "KvarnPage",
            "OttPage",
            "RankedPage",
            "SkvqPage",
            "KvquantPage",
            "VqllmPage",
            "LatentPage",
            "TokenIdPage",
            "MeadPage",
            "MeadPage");
    assertThat(states.values().stream().map(Class::getSimpleName))
        .containsExactly(
            "PatternkvSequence",
            "MixkvqSequence",
            "PmkvqSequence",
            "RankedSequence",
            "LatentSequence",
            "RequantizingLatentSequence",
            "MeadSequence",
            "RequantizingMeadSequence",
            "PromptFittedSequence");
  }

  private static void assertOwn(Map<Integer, Class<?>> kinds, byte[] form, Class<?> type) {
    assertThat(kinds.merge((int) form[KIND_AT], type, (first, second) -> first)).isEqualTo(type);
  }

  @ParameterizedTest
  @MethodSource(KINDS)
  void aStoredSequenceIsReadAsItWas(ShapedSpec kind) {
    try (QuantizedSequence sequence = StoredSequences.filled(kind)) {
      SequenceSnapshot stored = sequence.snapshot();
      try (QuantizedSequence read = StoredSequences.resume(kind, stored)) {
        StoredSequences.assertSameBytes(read.snapshot(), stored);
        assertThat(read.codec().tableBytes()).isEqualTo(sequence.codec().tableBytes());
        for (int layer = 0; layer < kind.shape().layers(); layer++) {
          for (int block = 0; block < sequence.blockCount(); block++) {
            assertSameNumbers(kind.shape(), read.page(layer, block), sequence.page(layer, block));
          }
          assertThat(attended(kind.shape(), read, layer))
              .isDeepEqualTo(attended(kind.shape(), sequence, layer));
        }
      }
    }
  }

  /** The original continues first, since the restored one must not depend on it. */
  @ParameterizedTest
  @MethodSource(KINDS + "OfOneWidth")
  void aRestoredSequenceContinuesBitIdentically(ShapedSpec kind) {
    assertContinues(kind, 0);
    if (StoredSequences.observesQueries(kind)) { // otherwise both trials are alike
      assertContinues(kind, 5);
    }
  }

  /**
   * @param beyond tokens observed but not quantized when it stops
   */
  private static void assertContinues(ShapedSpec kind, int beyond) {
    SequenceSnapshot middle;
    SequenceSnapshot whole;
    SequenceSnapshot cut;
    try (QuantizedSequence sequence = StoredSequences.filled(kind)) {
      sequence.observeBeyond(beyond);
      middle = sequence.snapshot();
      continueWith(sequence);
      whole = sequence.snapshot();
      sequence.truncate(sequence.blockCount() / 2);
      continueWith(sequence);
      cut = sequence.snapshot();
    }
    try (QuantizedSequence read = StoredSequences.resume(kind, middle)) {
      continueWith(read);
      StoredSequences.assertSameBytes(read.snapshot(), whole);
      read.truncate(read.blockCount() / 2);
      continueWith(read);
      StoredSequences.assertSameBytes(read.snapshot(), cut);
    }
  }

  private static void continueWith(QuantizedSequence sequence) {
    sequence.grow(1);
    sequence.requantize();
    sequence.grow(2);
  }

  /** Pages that were stored while their sequence still exists. */
  @ParameterizedTest
  @MethodSource(KINDS)
  void aPageComesBackToTheSequenceThatItCameFrom(ShapedSpec kind) {
    try (QuantizedSequence sequence = StoredSequences.filled(kind)) {
      SequenceSnapshot before = sequence.snapshot();
      for (int block = sequence.blockCount() - 1; block >= 0; block--) {
        for (int layer = 0; layer < kind.shape().layers(); layer++) {
          byte[] form = before.blocks().get(block).get(layer);
          try (Page page = sequence.codec().deserialize(layer, form)) {
            assertSameNumbers(kind.shape(), page, sequence.page(layer, block));
          }
        }
      }
      StoredSequences.assertSameBytes(sequence.snapshot(), before);
    }
  }

  private static void assertSameNumbers(CacheShape shape, Page found, Page expected) {
    assertThat(found.codeBytes()).isEqualTo(expected.codeBytes());
    assertThat(found.scaleBytes()).isEqualTo(expected.scaleBytes());
    for (int head = 0; head < shape.kvHeads(); head++) {
      int kvHead = head;
      assertThat(
              expanded(
                  shape.keyDim(), out -> found.dequantizeKeys(WORKSPACE, kvHead, Page.TOKENS, out)))
          .isEqualTo(
              expanded(
                  shape.keyDim(),
                  out -> expected.dequantizeKeys(WORKSPACE, kvHead, Page.TOKENS, out)));
      assertThat(
              expanded(
                  shape.valueDim(),
                  out -> found.dequantizeValues(WORKSPACE, kvHead, Page.TOKENS, out)))
          .isEqualTo(
              expanded(
                  shape.valueDim(),
                  out -> expected.dequantizeValues(WORKSPACE, kvHead, Page.TOKENS, out)));
    }
  }

  private static float[] expanded(int width, Consumer<float[]> expand) {
    float[] out = new float[Page.TOKENS * width];
    expand.accept(out);
    return out;
  }

  /** Returns the scores and accumulators of a few query rows over all pages of a head. */
  private static float[][] attended(CacheShape shape, QuantizedSequence sequence, int layer) {
    int rows = 3;
    PageReaders readers =
        new PageReaders(KernelChoice.ofThisProcess().kernels(), shape.keyDim(), shape.valueDim());
    float[] queries = SnapshotAssertions.wholeNumbers(rows * shape.keyDim());
    float[] accumulator = new float[rows * shape.valueDim()];
    int head = shape.kvHeads() - 1;
    float[] scores = new float[rows * Page.TOKENS];
    float[] sum = new float[scores.length];
    readers.beginPass();
    for (int block = 0; block < sequence.blockCount(); block++) {
      Page page = sequence.page(layer, block);
      PageReader reader = page.reader(readers);
      reader.score(page, head, queries, rows, scores);
      reader.accumulate(page, head, scores, rows, accumulator);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += scores[i];
      }
    }
    readers.endPass(rows, accumulator);
    return new float[][] {sum, accumulator};
  }
}
