package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Forms;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.Methods;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.SealedSequence;
import dev.kvasir.codec.SealedSequence.Stored;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every method promises of its pages, and of what it keeps of a sequence, once stored. */
class StoredFormContractTest {
  private static final PageRoom ROOM = new PageRoom(new ScalarKernels());
  private static final String SPECS = "dev.kvasir.cache.StoredSequences#specs";
  private static final CacheShape SHAPE = StoredSequences.SHAPE;
  private static final int KIND_AT = 5;

  private long bytesBefore;
  private long arenasBefore;

  @BeforeAll
  static void makeWhatAllShare() {
    assertThat(StoredSequences.specs()).isNotEmpty();
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
  void everyMethodIsHeldToThis() {
    Set<Method> held = new HashSet<>();
    CodecContractTest.specs().forEach(spec -> held.add(CacheSpec.parse(spec).method()));
    assertThat(held).containsExactlyInAnyOrderElementsOf(Methods.all());
  }

  /** Numbers in files that exist belong to one class each, for ever. */
  @Test
  void everyNumberStandsForOneKind() {
    Map<Integer, Class<?>> pages = new HashMap<>();
    Map<Integer, Class<?>> states = new HashMap<>();
    StoredSequences.specs()
        .filter(spec -> !spec.startsWith("toy")) // which is in no file
        .forEach(
            spec -> {
              try (SealedSequence sequence = StoredSequences.begin(spec)) {
                sequence.grow(1);
                Page page = sequence.page(0, 0);
                assertOwn(pages, page.form(), page.getClass());
                byte[] state = sequence.codec().state();
                if (state[KIND_AT] != 0) { // which is the empty state of any method
                  assertOwn(states, state, sequence.codec().getClass());
                }
              }
            });
    assertThat(pages.values().stream().map(Class::getSimpleName))
        .containsExactly("UniformPage", "PatternkvPage", "PmkvqPage", "CommvqPage");
    assertThat(states.values().stream().map(Class::getSimpleName))
        .containsExactly("PatternkvSequence", "MixkvqSequence", "PmkvqSequence");
  }

  private static void assertOwn(Map<Integer, Class<?>> kinds, byte[] form, Class<?> type) {
    assertThat(kinds.merge((int) form[KIND_AT], type, (first, second) -> first)).isEqualTo(type);
  }

  @ParameterizedTest
  @MethodSource(SPECS)
  void aStoredSequenceIsReadAsItWas(String spec) {
    try (SealedSequence sequence = StoredSequences.filled(spec)) {
      Stored stored = sequence.stored();
      try (SealedSequence read = StoredSequences.resume(spec, stored)) {
        StoredSequences.assertSameBytes(read.stored(), stored);
        assertThat(read.codec().tableBytes()).isEqualTo(sequence.codec().tableBytes());
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          for (int block = 0; block < sequence.blockCount(); block++) {
            assertSameNumbers(read.page(layer, block), sequence.page(layer, block));
          }
          assertThat(attended(read, layer)).isDeepEqualTo(attended(sequence, layer));
        }
      }
    }
  }

  /** The one that was stored goes first: what was read must not depend on it. */
  @ParameterizedTest
  @MethodSource(SPECS)
  void whatFollowsHasTheSameBitsAsIfItHadNeverStopped(String spec) {
    for (int beyond : new int[] {0, 5}) {
      assertGoesOn(spec, beyond);
    }
  }

  /**
   * @param beyond tokens that it has seen and not sealed when it stops
   */
  private static void assertGoesOn(String spec, int beyond) {
    Stored middle;
    Stored whole;
    Stored cut;
    try (SealedSequence sequence = StoredSequences.filled(spec)) {
      sequence.goBeyond(beyond);
      middle = sequence.stored();
      goOn(sequence);
      whole = sequence.stored();
      sequence.truncate(sequence.blockCount() / 2);
      goOn(sequence);
      cut = sequence.stored();
    }
    try (SealedSequence read = StoredSequences.resume(spec, middle)) {
      goOn(read);
      StoredSequences.assertSameBytes(read.stored(), whole);
      read.truncate(read.blockCount() / 2);
      goOn(read);
      StoredSequences.assertSameBytes(read.stored(), cut);
    }
  }

  private static void goOn(SealedSequence sequence) {
    sequence.grow(1);
    sequence.shrink();
    sequence.grow(2);
  }

  /** Pages that were put away while their sequence lives on. */
  @ParameterizedTest
  @MethodSource(SPECS)
  void aPageComesBackToTheSequenceThatItCameFrom(String spec) {
    try (SealedSequence sequence = StoredSequences.filled(spec)) {
      Stored before = sequence.stored();
      for (int block = sequence.blockCount() - 1; block >= 0; block--) {
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          byte[] form = before.blocks().get(block).get(layer);
          try (Page page = sequence.codec().read(layer, form)) {
            assertSameNumbers(page, sequence.page(layer, block));
          }
        }
      }
      StoredSequences.assertSameBytes(sequence.stored(), before);
    }
  }

  private static void assertSameNumbers(Page found, Page expected) {
    assertThat(found.codeBytes()).isEqualTo(expected.codeBytes());
    assertThat(found.scaleBytes()).isEqualTo(expected.scaleBytes());
    for (int head = 0; head < SHAPE.kvHeads(); head++) {
      int kvHead = head;
      assertThat(expanded(out -> found.expandKeys(ROOM, kvHead, Page.TOKENS, out)))
          .isEqualTo(expanded(out -> expected.expandKeys(ROOM, kvHead, Page.TOKENS, out)));
      assertThat(expanded(out -> found.expandValues(ROOM, kvHead, Page.TOKENS, out)))
          .isEqualTo(expanded(out -> expected.expandValues(ROOM, kvHead, Page.TOKENS, out)));
    }
  }

  private static float[] expanded(Consumer<float[]> expand) {
    float[] out = new float[Page.TOKENS * SHAPE.headDim()];
    expand.accept(out);
    return out;
  }

  /** What a few query rows get of a walk over all pages of a head: scores, then what is mixed. */
  private static float[][] attended(SealedSequence sequence, int layer) {
    int rows = 3;
    PageReaders readers = new PageReaders(new ScalarKernels(), SHAPE.headDim());
    float[] queries = Forms.wholeNumbers(rows * SHAPE.headDim());
    float[] mixed = new float[queries.length];
    float[] scores = new float[rows * Page.TOKENS];
    float[] sum = new float[scores.length];
    readers.begin();
    for (int block = 0; block < sequence.blockCount(); block++) {
      Page page = sequence.page(layer, block);
      PageReader reader = page.reader(readers);
      reader.score(page, 1, queries, rows, scores);
      reader.mix(page, 1, scores, rows, mixed);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += scores[i];
      }
    }
    readers.end(rows, mixed);
    return new float[][] {sum, mixed};
  }
}
