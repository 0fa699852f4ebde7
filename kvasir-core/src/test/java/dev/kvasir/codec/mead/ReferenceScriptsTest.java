package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.Page;
import dev.kvasir.kernel.RowCodeLayout;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that pages equal those of the reference scripts bit by bit. The scripts used 64-bit floats.
 * No number of these pages is near enough to a rounding boundary for 32 bits to change its code.
 */
class ReferenceScriptsTest {
  private static final double BITS = 2;
  private static final int TOKENS = Page.TOKENS;
  private static final int DIM = ReferencePages.DIM;
  private static final int BOTH = 2 * DIM;

  private final MeadTables tables =
      MeadTables.of(
          new CacheShape(1, ReferencePages.KV_HEADS, DIM, DIM),
          ReferencePages.profile(),
          Optional.empty(),
          LayerRotations.ofAll(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, DIM))),
          Arena.ofAuto());
  private final LayerCodeLayout layer =
      MeadRates.of(tables, SaliencyMetric.ATTENTION, List.of(new MeadRate.RateTarget(BITS, BITS)))
          .descending()
          .getFirst()
          .layers()
          .getFirst();

  /** Contents of a page, for one head. */
  private record QuantizedPage(int[] tiers, int[] scales, int[] codes, int[] means) {}

  @Test
  void bitWidthsMatchTheScripts() {
    for (int head = 0; head < ReferencePages.KV_HEADS; head++) {
      int[] bits = new int[SaliencyTier.COUNT * BOTH];
      for (SaliencyTier tokens : SaliencyTier.values()) {
        for (int i = 0; i < BOTH; i++) {
          bits[tokens.ordinal() * BOTH + i] = codesOf(head, side(i), tokens).bits(i % DIM);
        }
      }
      assertThat(bits).as("bits of head %d", head).isEqualTo(ReferencePages.bits(head));
    }
  }

  @Test
  void pagesHaveCodesOfEveryWidth() {
    int[] widths =
        IntStream.range(0, ReferencePages.KV_HEADS)
            .flatMap(head -> Arrays.stream(ReferencePages.bits(head)))
            .distinct()
            .toArray();
    assertThat(widths).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7, RowCodeLayout.MAX_BITS);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
  void tiersMatchTheScripts(int page, int head) {
    assertThat(quantize(page, head).tiers).isEqualTo(ReferencePages.tiers(page, head));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
  void scalesMatchTheScripts(int page, int head) {
    assertThat(quantize(page, head).scales).isEqualTo(ReferencePages.scales(page, head));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
  void codesMatchTheScripts(int page, int head) {
    assertThat(quantize(page, head).codes).isEqualTo(ReferencePages.codes(page, head));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
  void meanErrorsMatchTheScripts(int page, int head) {
    assertThat(quantize(page, head).means).isEqualTo(ReferencePages.means(page, head));
  }

  private QuantizedPage quantize(int page, int head) {
    MemorySegment out = MemorySegment.ofArray(new byte[(int) layer.layout().bytes()]);
    HeadTables ofHead = tables.head(0, head);
    HeadEncodingScratch tokens = tokens(ofHead, page, head);
    tokens.subtractTableRows(ofHead);
    new HeadTierAssigner(tables.sizes(), SaliencyMetric.ATTENTION)
        .assign(ofHead, tokens, ReferencePages.received(page, head), new boolean[TOKENS]);
    new HeadEncoder(tables.sizes(), true).encode(ofHead, layer, head, tokens, out);
    MemorySegment stored = MemorySegment.ofArray(new byte[(int) layer.layout().bytes()]);
    ValueColumns.toStored(layer, out, stored);
    return read(stored, head);
  }

  private HeadEncodingScratch tokens(HeadTables ofHead, int page, int head) {
    HeadEncodingScratch tokens = new HeadEncodingScratch(tables.sizes());
    float[] components = components(ofHead, ReferencePages.values(page, head));
    System.arraycopy(ReferencePages.keys(page, head), 0, tokens.keys, 0, tokens.keys.length);
    System.arraycopy(components, 0, tokens.components, 0, components.length);
    for (KvSide side : KvSide.values()) {
      System.arraycopy(ReferencePages.tableRows(page), 0, tokens.tableRows(side), 0, TOKENS);
    }
    return tokens;
  }

  /** Computes components by sums whose order is fixed, unlike those of kernels. */
  private static float[] components(HeadTables head, float[] values) {
    float[] components = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      double sum = 0;
      for (int channel = 0; channel < DIM; channel++) {
        double factor = head.valueTo()[i % DIM * DIM + channel];
        sum += factor * values[i - i % DIM + channel];
      }
      components[i] = (float) sum;
    }
    return components;
  }

  private QuantizedPage read(MemorySegment page, int head) {
    byte[] order = TierOrder.read(page, layer.layout().tierMapAt(head));
    int[] tiers = new int[TOKENS];
    int[] scales = new int[TOKENS * KvSide.COUNT];
    int[] codes = new int[TOKENS * BOTH];
    Arrays.fill(scales, ReferencePages.NO_SCALE);
    for (SaliencyTier tokens : SaliencyTier.values()) {
      for (int row = 0; row < tokens.tokens(); row++) {
        int token = order[tokens.firstRow() + row];
        tiers[token] = tokens.ordinal();
        for (KvSide side : KvSide.values()) {
          RowCodeLayout layout = codesOf(head, side, tokens);
          if (layout.rowBytes() > 0) {
            long at = layer.layout().rowsAt(head, side, tokens) + (long) row * layout.rowBytes();
            scales[token * KvSide.COUNT + side.ordinal()] =
                number(page, Byte.SIZE * at, RowCodeLayout.SCALE_BITS);
            for (int i = 0; i < DIM; i++) {
              codes[token * BOTH + side.ordinal() * DIM + i] =
                  number(page, Byte.SIZE * at + layout.offset(i), layout.bits(i));
            }
          }
        }
      }
    }
    return new QuantizedPage(tiers, scales, codes, means(page, head));
  }

  private int[] means(MemorySegment page, int head) {
    int[] means = new int[DIM];
    for (int i = 0; i < DIM; i++) {
      int nibble = number(page, Byte.SIZE * layer.layout().meansAt(head) + 4L * i, 4);
      means[i] = nibble < 8 ? nibble : nibble - 16;
    }
    return means;
  }

  /** Reads bits from one on, low bits first. */
  private static int number(MemorySegment page, long firstBit, int bits) {
    int number = 0;
    for (int i = 0; i < bits; i++) {
      long bit = firstBit + i;
      int there = page.get(ValueLayout.JAVA_BYTE, bit / Byte.SIZE) >> bit % Byte.SIZE & 1;
      number |= there << i;
    }
    return number;
  }

  private RowCodeLayout codesOf(int head, KvSide side, SaliencyTier tokens) {
    return layer.heads().get(head).of(side, tokens);
  }

  private static KvSide side(int channel) {
    return channel < DIM ? KvSide.KEYS : KvSide.VALUES;
  }
}
