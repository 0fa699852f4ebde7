package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.RowCodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BitAllocationTest {
  private static final int CHANNELS = 64;

  private static List<BitAllocation.Row> rows(int count) {
    Random random = new Random(5);
    List<BitAllocation.Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double[] energies = random.doubles(CHANNELS).map(x -> Math.exp(8 * x)).toArray();
      rows.add(new BitAllocation.Row(energies, TokenClass.of(i % TokenClass.COUNT)));
    }
    return rows;
  }

  /** Bits of a token on the average, scales included. */
  private static double spent(List<BitAllocation.Row> rows) {
    double spent = 0;
    for (int i = 0; i < rows.size(); i++) {
      int bits = Arrays.stream(rows.get(i).bits()).sum();
      int bytes = bits == 0 ? 0 : (bits + RowCodes.SCALE_BITS + 7) / 8;
      spent += 8 * bytes * TokenClass.of(i % TokenClass.COUNT).share();
    }
    return spent;
  }

  @Test
  void aBudgetIsSpentAndNotExceeded() {
    for (double budget : new double[] {0, 3, 50, 500, 1200}) {
      List<BitAllocation.Row> rows = rows(9);
      BitAllocation.share(rows, budget);
      assertThat(spent(rows)).isLessThanOrEqualTo(budget);
      assertThat(spent(rows)).isGreaterThan(budget - 8 * TokenClass.FEW.share() - 1e-9);
    }
  }

  @Test
  void moreGoesWhereMoreIsToBeGained() {
    double[] energies = new double[CHANNELS];
    Arrays.setAll(energies, i -> Math.pow(0.8, i));
    List<BitAllocation.Row> rows =
        List.of(
            new BitAllocation.Row(energies, TokenClass.MOST),
            new BitAllocation.Row(
                Arrays.stream(energies).map(x -> 100 * x).toArray(), TokenClass.MOST));
    BitAllocation.share(rows, 100);
    assertThat(Arrays.stream(rows.get(1).bits()).sum())
        .isGreaterThan(Arrays.stream(rows.get(0).bits()).sum());
    for (BitAllocation.Row row : rows) {
      for (int i = 1; i < CHANNELS; i++) {
        assertThat(row.bits()[i]).isLessThanOrEqualTo(row.bits()[i - 1]);
      }
    }
  }

  @Test
  void nothingIsGivenToWhatHasNothingToLose() {
    List<BitAllocation.Row> rows =
        List.of(new BitAllocation.Row(new double[CHANNELS], TokenClass.SOME));
    BitAllocation.share(rows, 1000);
    assertThat(rows.getFirst().bits()).containsOnly(0);
  }

  @Test
  void noChannelHasMoreThanAByte() {
    List<BitAllocation.Row> rows = rows(3);
    BitAllocation.share(rows, 1e6);
    rows.forEach(row -> assertThat(row.bits()).containsOnly(RowCodes.MOST_BITS));
  }
}
