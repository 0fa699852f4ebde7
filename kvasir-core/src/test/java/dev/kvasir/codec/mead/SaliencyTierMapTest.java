package dev.kvasir.codec.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.Page;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SaliencyTierMapTest {
  private final MemorySegment bytes = MemorySegment.ofArray(new byte[SaliencyTierMap.BYTES]);

  /** Returns a random token for each row, ascending within each tier. */
  private static byte[] order(long seed) {
    List<Integer> tokens =
        IntStream.range(0, Page.TOKENS).boxed().collect(Collectors.toCollection(ArrayList::new));
    Collections.shuffle(tokens, new Random(seed));
    byte[] order = new byte[Page.TOKENS];
    for (int i = 0; i < order.length; i++) {
      order[i] = tokens.get(i).byteValue();
    }
    for (SaliencyTier some : SaliencyTier.values()) {
      Arrays.sort(order, some.firstRow(), some.firstRow() + some.tokens());
    }
    return order;
  }

  @RepeatedTest(20)
  void whatIsWrittenIsReadBack(RepetitionInfo repetition) {
    byte[] order = order(repetition.getCurrentRepetition());
    SaliencyTierMap.write(order, bytes, 0);
    byte[] read = TierOrder.read(bytes, 0);
    assertThat(read).isEqualTo(order);
    assertThat(SaliencyTierMap.isValid(bytes, 0)).isTrue();
  }

  @Test
  void tiersOfOtherSizesAreRejected() {
    SaliencyTierMap.write(order(1), bytes, 0);
    for (int bit = 0; bit < 8 * SaliencyTierMap.BYTES; bit++) {
      flip(bit);
      assertThat(SaliencyTierMap.isValid(bytes, 0)).as("bit %d", bit).isFalse();
      flip(bit);
    }
  }

  private void flip(int bit) {
    byte[] all = (byte[]) bytes.heapBase().orElseThrow();
    all[bit / 8] ^= (byte) (1 << bit % 8);
  }
}
