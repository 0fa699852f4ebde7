package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.RowCodeLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BitAllocatorTest {
  private static final int CHANNELS = 64;

  private static List<BitAllocator.Row> rows(int count) {
    Random random = new Random(5);
    List<BitAllocator.Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double[] energies = random.doubles(CHANNELS).map(x -> Math.exp(8 * x)).toArray();
      rows.add(new BitAllocator.Row(energies, SaliencyTier.of(i % SaliencyTier.COUNT)));
    }
    return rows;
  }

  /** Returns the average bits of a token, including scales. */
  private static double spent(List<BitAllocator.Row> rows) {
    double spent = 0;
    for (int i = 0; i < rows.size(); i++) {
      int bits = Arrays.stream(rows.get(i).bits()).sum();
      int bytes = bits == 0 ? 0 : (bits + RowCodeLayout.SCALE_BITS + 7) / 8;
      spent += 8 * bytes * SaliencyTier.of(i % SaliencyTier.COUNT).fraction();
    }
    return spent;
  }

  @Test
  void aBudgetIsSpentAndNotExceeded() {
    for (double budget : new double[] {0, 3, 50, 500, 1200}) {
      List<BitAllocator.Row> rows = rows(9);
      BitAllocator.allocate(rows, budget);
      assertThat(spent(rows)).isLessThanOrEqualTo(budget);
      assertThat(spent(rows)).isGreaterThan(budget - 8 * SaliencyTier.HIGH.fraction() - 1e-9);
    }
  }

  @Test
  void bitsGoWhereTheGainIsLarger() {
    double[] energies = new double[CHANNELS];
    Arrays.setAll(energies, i -> Math.pow(0.8, i));
    List<BitAllocator.Row> rows =
        List.of(
            new BitAllocator.Row(energies, SaliencyTier.LOW),
            new BitAllocator.Row(
                Arrays.stream(energies).map(x -> 100 * x).toArray(), SaliencyTier.LOW));
    BitAllocator.allocate(rows, 100);
    assertThat(Arrays.stream(rows.get(1).bits()).sum())
        .isGreaterThan(Arrays.stream(rows.get(0).bits()).sum());
    for (BitAllocator.Row row : rows) {
      for (int i = 1; i < CHANNELS; i++) {
        assertThat(row.bits()[i]).isLessThanOrEqualTo(row.bits()[i - 1]);
      }
    }
  }

  @Test
  void channelsWithoutEnergyGetNoBits() {
    List<BitAllocator.Row> rows =
        List.of(new BitAllocator.Row(new double[CHANNELS], SaliencyTier.MEDIUM));
    BitAllocator.allocate(rows, 1000);
    assertThat(rows.getFirst().bits()).containsOnly(0);
  }

  @Test
  void noChannelHasMoreThanAByte() {
    List<BitAllocator.Row> rows = rows(3);
    BitAllocator.allocate(rows, 1e6);
    rows.forEach(row -> assertThat(row.bits()).containsOnly(RowCodeLayout.MAX_BITS));
  }
}
