package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.LookupTables;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.page.CodeRoom;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums over packed codes have the bits that the scalar ones give, and so have their tables. */
public abstract class LookupContract {
  private static final long SEED = 13;
  private static final int HEADS = LookupTables.MOST_HEADS;

  private final Random random = new Random(SEED);
  private final Kernels scalar = new ScalarKernels();
  private final Kernels tested;

  protected LookupContract(Kernels tested) {
    this.tested = tested;
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 20, 64, 80, 96, 124, 128, 256, 576, 1024})
  void tables(int entries) {
    for (int heads = 1; heads <= HEADS; heads++) {
      assertTablesAgree(randomWeights(heads * (entries + 3) + 2), heads, entries);
    }
  }

  @Test
  void tablesOfExtremeWeights() {
    for (float weight : new float[] {0, -0f, 1, -1, 1e-38f, -1e-38f, 1e-28f, 1e35f, -1e35f}) {
      float[] weights = new float[2 + 3 * 67];
      Arrays.fill(weights, weight);
      assertTablesAgree(weights, 3, 64);
      weights[40] = -7;
      assertTablesAgree(weights, 3, 64);
    }
  }

  private void assertTablesAgree(float[] weights, int heads, int entries) {
    for (boolean exact : new boolean[] {false, true}) {
      LookupTables expected = new LookupTables(HEADS, LookupTables.MOST_ENTRIES);
      LookupTables found = new LookupTables(HEADS, LookupTables.MOST_ENTRIES);
      scalar.lookups().buildTables(weights, 2, entries + 3, heads, entries, exact, expected);
      tested.lookups().buildTables(weights, 2, entries + 3, heads, entries, exact, found);
      assertThat(found.bytes()).as("seed %d", SEED).isEqualTo(expected.bytes());
      for (int head = 0; head < heads; head++) {
        assertThat(found.step(head)).isEqualTo(expected.step(head)).isFinite();
        assertThat(found.unit(head)).isEqualTo(expected.unit(head)).isFinite();
        assertThat(found.constant(head, 3)).isEqualTo(expected.constant(head, 3)).isFinite();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 7, 8})
  void sums(int bits) {
    for (int entries : new int[] {4, 20, 64, 80, 96, 128, 256, 576}) {
      for (int lanes : new int[] {16, 32, 48, 80, 128, 512}) {
        PlaneLayout layout = new PlaneLayout(lanes, entries, bits);
        MemorySegment codes = pack(layout, randomCodes(layout));
        for (int heads = 1; heads <= HEADS; heads++) {
          float[] weights = randomWeights(heads * entries);
          assertSumsAgree(layout, codes, weights, heads, 0, layout.tiles());
        }
      }
    }
  }

  @Test
  void sumsOfARangeOfTiles() {
    PlaneLayout layout = new PlaneLayout(208, 96, 3);
    MemorySegment codes = pack(layout, randomCodes(layout));
    float[] weights = randomWeights(3 * 96);
    for (int first = 0; first <= layout.tiles(); first++) {
      for (int end = first; end <= layout.tiles(); end++) {
        assertSumsAgree(layout, codes, weights, 3, first, end);
      }
    }
  }

  /** Every byte at 255 and every sum at its largest. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void theLargestSums(int bits) {
    int entries = LookupTables.MOST_ENTRIES;
    PlaneLayout layout = new PlaneLayout(48, entries, bits);
    byte[] highest = new byte[48 * entries];
    Arrays.fill(highest, (byte) ((1 << bits) - 1));
    float[] weights = new float[7 * entries];
    for (float weight : new float[] {0.1f, -0.1f, 3e35f, 0}) {
      Arrays.fill(weights, weight);
      assertSumsAgree(layout, pack(layout, highest), weights, 7, 0, 2);
      assertSumsAgree(layout, pack(layout, new byte[48 * entries]), weights, 7, 0, 2);
    }
  }

  private void assertSumsAgree(
      PlaneLayout layout, MemorySegment codes, float[] weights, int heads, int first, int end) {
    int entries = layout.entries();
    int stride = layout.lanes() + 3;
    for (boolean exact : new boolean[] {false, true}) {
      LookupTables tables = new LookupTables(heads, entries);
      scalar.lookups().buildTables(weights, 0, entries, heads, entries, exact, tables);
      float[] expected = randomWeights(heads * stride + 1);
      float[] found = expected.clone();
      scalar.lookups().lookup(layout, codes, 5, first, end, tables, expected, 1, stride);
      tested.lookups().lookup(layout, codes, 5, first, end, tables, found, 1, stride);
      assertThat(found)
          .as("seed %d, %s, %d heads, exact %b", SEED, layout, heads, exact)
          .isEqualTo(expected);
    }
  }

  /** From byte 5 on, up to the end. */
  private static MemorySegment pack(PlaneLayout layout, byte[] codes) {
    MemorySegment packed = MemorySegment.ofArray(new byte[5 + layout.bytes()]);
    layout.pack(new CodeRoom(), codes, packed, 5);
    return packed;
  }

  private byte[] randomCodes(PlaneLayout layout) {
    byte[] codes = new byte[layout.entries() * layout.lanes()];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) random.nextInt(1 << layout.bits());
    }
    return codes;
  }

  private float[] randomWeights(int count) {
    float[] weights = new float[count];
    for (int i = 0; i < count; i++) {
      weights[i] = (float) random.nextGaussian();
    }
    return weights;
  }
}
