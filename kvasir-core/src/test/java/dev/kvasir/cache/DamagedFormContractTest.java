package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizedSequence;
import dev.kvasir.codec.QuantizedSequence.SequenceSnapshot;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Any damage to a stored page or state of any method is rejected with one sentence. */
@Tag("contract")
class DamagedFormContractTest {
  private static final String KINDS = "dev.kvasir.cache.StoredSequences#kinds";
  private static final long SEED = 29;
  private static final int HEADER_BYTES = 10;

  /**
   * Bits or lengths of a serialized form that are tried exhaustively; beyond that, this many at
   * random. All forms share a header, and {@code SnapshotHeaderTest} tries every bit of it.
   */
  private static final int MAX_TRIALS = ContractSpecs.THOROUGH ? 400 : 60;

  private static final int MUTATIONS = ContractSpecs.THOROUGH ? 1000 : 60;

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

  @ParameterizedTest
  @MethodSource(KINDS)
  void everyFlippedBitIsRefused(ShapedSpec kind) {
    forEachForm(
        kind,
        (form, read) ->
            some(form.length * Byte.SIZE)
                .forEach(
                    bit -> {
                      byte[] flipped = form.clone();
                      flipped[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                      assertRefused(read, flipped, "bit " + bit);
                    }));
  }

  @ParameterizedTest
  @MethodSource(KINDS)
  void everyOtherLengthIsRefused(ShapedSpec kind) {
    forEachForm(
        kind,
        (form, read) -> {
          some(form.length)
              .forEach(length -> assertRefused(read, Arrays.copyOf(form, length), "a cut"));
          assertRefused(read, Arrays.copyOf(form, form.length + 1), "a byte more");
        });
  }

  private static IntStream some(int trials) {
    return trials <= MAX_TRIALS
        ? IntStream.range(0, trials)
        : new Random(SEED).ints(MAX_TRIALS, 0, trials);
  }

  /** Simulates a faulty writer: reading either returns what was written or is rejected. */
  @ParameterizedTest
  @MethodSource(KINDS)
  void damageBehindAValidChecksumIsNotMisread(ShapedSpec kind) {
    forEachForm(
        kind,
        (form, read) -> {
          Random random = new Random(SEED);
          for (int i = 0; i < MUTATIONS; i++) {
            byte[] wrong = form.clone();
            int payload = form.length - HEADER_BYTES - 4;
            int described = i % 2 == 0 ? Math.min(payload, 64) : payload;
            if (described > 0) {
              wrong[HEADER_BYTES + random.nextInt(described)] = (byte) random.nextInt();
            }
            try {
              assertThat(read.again(SnapshotAssertions.withChecksum(wrong))).isEqualTo(wrong);
            } catch (InvalidInputException refused) {
              assertThat(refused).hasMessageMatching("a stored (page|state) .*");
            }
          }
        });
  }

  /** Reads a serialized form and writes it again. */
  private interface Reading {
    byte[] again(byte[] form);
  }

  private interface FormTrial {
    void run(byte[] form, Reading read);
  }

  /** Visits the first and last page of a sequence, and its state. */
  private static void forEachForm(ShapedSpec kind, FormTrial trial) {
    PageCodec method = StoredSequences.method(kind);
    SequenceSnapshot before = StoredSequences.stored(kind);
    try (QuantizedSequence sequence = StoredSequences.resume(kind, before)) {
      for (int block : new int[] {0, sequence.blockCount() - 1}) {
        trial.run(
            before.blocks().get(block).get(1),
            form -> {
              try (Page page = sequence.codec().deserialize(1, form)) {
                return page.serialize();
              }
            });
      }
      trial.run(
          before.state(),
          form -> {
            try (SequenceCodec resumed = method.resumeSequence(form)) {
              return resumed.serializeState();
            }
          });
      StoredSequences.assertSameBytes(sequence.snapshot(), before);
    }
  }

  /** Avoids AssertJ, since tens of thousands of assertions would take long. */
  private static void assertRefused(Reading read, byte[] form, String what) {
    try {
      read.again(form);
    } catch (InvalidInputException refused) {
      return;
    }
    throw new AssertionError(what + " is not noticed");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:4 | kivi:2 | kind 9, 4 bits, 20 x 128 | kind 9, 2 bits, 20 x 128",
        "kivi:2,group=32 | kivi:2 | group 32 | group 128",
        "kivi:4,k=2 | kivi:2 | kind 9, 4 bits, 128 x 20 | kind 9, 2 bits, 128 x 20",
        "kivi:2 | patternkv:2 | kind 1 | kind 2",
        "patternkv:2,k-patterns=off | patternkv:2 | keys without | with",
        "patternkv:2 | patternkv:2,v-patterns=off | values with | without",
        "patternkv:2 | patternkv:2,patterns=4 | 32 patterns of keys, 32 of them new | has 0",
        "patternkv:4 | patternkv:2 | 4 bits | 2 bits",
        "kivi:4 | mixkvq,high=2.8,mid=2 | 20 x 128, group 128 | 20 x 128, group 32",
        "pmkvq:2,budget=1MiB | pmkvq:2,budget=1MiB,keys=token | as they were | divided",
        "pmkvq:2,budget=1MiB | pmkvq:2,budget=1MiB,keys=token,smoothing=off | kind 6 | kind 7",
        "commvq:1 | commvq:2 | in 2 stages | in 3 stages",
        "commvq:1 | kivi:2 | kind 6 | kind 1"
      })
  void aPageOfOtherSettingsIsRefusedByBothNames(
      String written, String reading, String found, String expected) {
    try (QuantizedSequence sequence = StoredSequences.begin(written);
        QuantizedSequence other = StoredSequences.begin(reading)) {
      sequence.grow(1);
      byte[] form = sequence.page(0, 0).serialize();
      assertThatThrownBy(() -> other.codec().deserialize(0, form))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith("a stored page ")
          .hasMessageContaining(found)
          .hasMessageContaining(expected);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mixkvq,high=2.8,mid=2 | 3 | 2 | 20 | 2 layers for 2 KV heads of 20 | for 3, 2 and 20",
        "mixkvq,high=2.8,mid=2 | 2 | 2 | 24 | 2 layers for 2 KV heads of 20 | for 2, 2 and 24",
        "pmkvq:2,budget=1MiB | 3 | 2 | 20 | 2 layers | 3"
      })
  void aStateOfAnotherModelIsRefusedByBothNames(
      String spec, int layers, int kvHeads, int headDim, String found, String expected) {
    PageCodec other = StoredSequences.method(spec, new CacheShape(layers, kvHeads, headDim));
    try (QuantizedSequence sequence = StoredSequences.filled(spec)) {
      byte[] state = sequence.codec().serializeState();
      assertThatThrownBy(() -> other.resumeSequence(state))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith("a stored state ")
          .hasMessageContaining(found)
          .hasMessageContaining(expected);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:2 | 128 x 20 | 128 x 24",
        "patternkv:2,v-patterns=off | 128 x 20 | 128 x 24",
        "mixkvq,high=2.8,mid=2 | 128 x 20 | 128 x 24",
        "pmkvq:2,budget=1MiB | 128 x 20 | 128 x 24",
        "commvq:2 | 2 heads of 20 in 6 stages | 2 heads of 24 in 8 stages",
        "toy | valueDim=20 | valueDim=24"
      })
  void aPageWithValuesOfAnotherWidthIsRefusedByBothNames(
      String spec, String found, String expected) {
    ShapedSpec wider = new ShapedSpec(new CacheShape(2, 2, 20, 24), spec);
    try (QuantizedSequence sequence = StoredSequences.begin(spec);
        QuantizedSequence other = StoredSequences.begin(wider)) {
      sequence.grow(1);
      byte[] form = sequence.page(0, 0).serialize();
      assertThatThrownBy(() -> other.codec().deserialize(0, form))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith("a stored page ")
          .hasMessageContaining(found)
          .hasMessageContaining(expected);
    }
  }

  @Test
  void aPageThatIsNarrowerThanItsLayerMayBeIsRefused() {
    String narrow = "pmkvq:2,budget=1MiB,widths=same";
    try (QuantizedSequence sequence = StoredSequences.begin(narrow);
        QuantizedSequence other = StoredSequences.begin("pmkvq:8,budget=1MiB,widths=same")) {
      sequence.grow(1);
      sequence.requantize();
      sequence.requantize();
      byte[] form = sequence.page(1, 0).serialize();
      assertThatThrownBy(() -> other.codec().deserialize(1, form))
          .hasMessage("a stored page has 4 bits in layer 1; this cache has 16, halved down to 8");
      PageCodec wider = StoredSequences.method("pmkvq:8,budget=1MiB,widths=same");
      assertThatThrownBy(() -> wider.resumeSequence(sequence.codec().serializeState()))
          .hasMessage("a stored state has 4 bits in layer 0; this cache has 16, halved down to 8");
    }
  }
}
