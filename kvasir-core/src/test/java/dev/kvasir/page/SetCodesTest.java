package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SetCodesTest {
  private static final int TOKENS = PageSize.TOKENS;
  private static final int OFFSET = 5;

  private final Random random = new Random(3);

  @ParameterizedTest
  @ValueSource(ints = {4, 5, 6})
  void stageCodesRoundTrip(int indexBits) {
    StageCodes codes = new StageCodes(3, indexBits);
    assertThat(codes.bytes()).isEqualTo(3 * TOKENS * 2 * indexBits / 8);
    byte[][] expected = new byte[codes.sets()][TOKENS];
    short[] words = new short[1 + TOKENS * codes.words()];
    for (int token = 0; token < TOKENS; token++) {
      for (int stage = 0; stage < 3; stage++) {
        int a = random.nextInt(1 << indexBits);
        int b = random.nextInt(1 << indexBits);
        expected[2 * stage][token] = (byte) a;
        expected[2 * stage + 1][token] = (byte) b;
        words[1 + token * 3 + stage] = (short) (a | b << 6);
      }
    }
    assertRoundTrip(codes, words, expected);
  }

  @Test
  void bitCodesRoundTrip() {
    BitCodes codes = new BitCodes(37);
    assertThat(codes.bytes()).isEqualTo(37 * 16);
    assertThat(codes.words()).isEqualTo(3);
    byte[][] expected = new byte[37][TOKENS];
    short[] words = new short[1 + TOKENS * 3];
    for (int token = 0; token < TOKENS; token++) {
      for (int set = 0; set < 37; set++) {
        int bit = random.nextInt(2);
        expected[set][token] = (byte) bit;
        words[1 + token * 3 + set / 16] |= (short) (bit << set % 16);
      }
    }
    assertRoundTrip(codes, words, expected);
  }

  private static void assertRoundTrip(SetCodes codes, short[] words, byte[][] expected) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(OFFSET + codes.bytes() + 1);
      data.fill((byte) 0x5A);
      codes.pack(words, 1, data, OFFSET);
      assertThat(data.get(ValueLayout.JAVA_BYTE, OFFSET - 1)).isEqualTo((byte) 0x5A);
      assertThat(data.get(ValueLayout.JAVA_BYTE, OFFSET + codes.bytes())).isEqualTo((byte) 0x5A);
      byte[] indices = new byte[codes.sets() * TOKENS];
      codes.unpack(data, OFFSET, indices);
      for (int set = 0; set < codes.sets(); set++) {
        for (int token = 0; token < TOKENS; token++) {
          assertThat(indices[set * TOKENS + token])
              .as("set %d, token %d", set, token)
              .isEqualTo(expected[set][token]);
        }
      }
    }
  }

  @Test
  void otherIndexSizesAreRejected() {
    assertThatThrownBy(() -> new StageCodes(2, 7))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("indices of 7 bits; expected 4 to 6");
  }
}
