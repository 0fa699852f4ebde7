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

class ClassMapTest {
  private final MemorySegment bytes = MemorySegment.ofArray(new byte[ClassMap.BYTES]);

  /** Tokens by rows, ascending within each class. */
  private static byte[] order(long seed) {
    List<Integer> tokens =
        IntStream.range(0, Page.TOKENS).boxed().collect(Collectors.toCollection(ArrayList::new));
    Collections.shuffle(tokens, new Random(seed));
    byte[] order = new byte[Page.TOKENS];
    for (int i = 0; i < order.length; i++) {
      order[i] = tokens.get(i).byteValue();
    }
    for (TokenClass some : TokenClass.values()) {
      Arrays.sort(order, some.firstRow(), some.firstRow() + some.tokens());
    }
    return order;
  }

  @RepeatedTest(20)
  void whatIsWrittenIsReadBack(RepetitionInfo repetition) {
    byte[] order = order(repetition.getCurrentRepetition());
    ClassMap.write(order, bytes, 0);
    byte[] read = new byte[Page.TOKENS];
    ClassMap.read(bytes, 0, read);
    assertThat(read).isEqualTo(order);
    assertThat(ClassMap.isWhole(bytes, 0)).isTrue();
  }

  @Test
  void classesOfOtherSizesAreNoticed() {
    ClassMap.write(order(1), bytes, 0);
    for (int bit = 0; bit < 8 * ClassMap.BYTES; bit++) {
      flip(bit);
      assertThat(ClassMap.isWhole(bytes, 0)).as("bit %d", bit).isFalse();
      flip(bit);
    }
  }

  private void flip(int bit) {
    byte[] all = (byte[]) bytes.heapBase().orElseThrow();
    all[bit / 8] ^= (byte) (1 << bit % 8);
  }
}
