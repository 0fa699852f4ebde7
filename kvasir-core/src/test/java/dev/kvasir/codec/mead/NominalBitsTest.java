package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the bits of a spec are those of a sequence of 8,192 tokens. */
class NominalBitsTest {
  private static final CacheShape SHAPE = new CacheShape(8, 2, 64);
  private static final int LENGTH = 8192;
  private static final int TOKENS = 128;

  private final ModelTables tables = new ModelTables();
  private final CacheContext context =
      CacheContext.unknown()
          .withRotation(
              Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 64))))
          .withProfile(Optional.of(SyntheticMeadTables.addTo(Profile.empty("none"), SHAPE)))
          .withTables(Optional.of(tables))
          .withQueryHeads(SHAPE.kvHeads())
          .withContextLimit(LENGTH);

  @AfterEach
  void close() {
    tables.close();
  }

  @ParameterizedTest
  @CsvSource({
    "mead:0.75, 0.75",
    "mead:1, 1",
    "'mead:1.5,tables=off,first=coded', 1.5",
    "'mead:2.5,tables=centroids,first=coded', 2.5",
    "mead:6, 6",
    "'mead:1.75,profile=none', 1.75",
    "'mead:3,profile=none', 3"
  })
  void countAllBytesOfTheSequence(String typed, double bits) {
    CacheSpec spec = CacheSpec.parse(typed);
    double values = (double) SHAPE.valuesInWindows(1);
    double bytes =
        IntStream.rangeClosed(LENGTH - TOKENS + 1, LENGTH)
            .mapToDouble(tokens -> spec.bytesFor(SHAPE, context, tokens).total() / (double) tokens)
            .average()
            .orElseThrow();
    assertThat(Byte.SIZE * bytes / values).isCloseTo(bits, within(0.02 * bits));
  }

  @Test
  void fewerThanWindowAndSinksTakeAreRejected() {
    assertThatThrownBy(() -> CacheSpec.parse("mead:0.5").config())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("0.5")
        .hasMessageContaining("0.75");
  }

  @Test
  void pagesOfVersionsThatCountedLessAreRefused() {
    PageCodec codec =
        CacheSpec.parse("mead:2")
            .configFor(SHAPE)
            .cacheConfig(SHAPE, context)
            .codec()
            .orElseThrow();
    byte[] page = SnapshotHeader.PAGE.wrap(62, Double.BYTES, out -> out.putDouble(2));
    try (SequenceCodec sequence = codec.newSequence()) {
      assertThatThrownBy(() -> sequence.deserialize(1, page))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage(
              "a stored page is of kind 62, from a version of Kvasir whose mead counted fewer"
                  + " bytes of a sequence; this cache has smaller pages, so the text must be read"
                  + " again");
    }
  }
}
