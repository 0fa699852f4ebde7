package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tables by which a device rotates patterns. */
class KeyRotationTest {
  private static final int DIM = 64;
  private static final int HALF = DIM / 2;
  private static final int SINKS = 5;

  private static KeyRotation rotation(RopeLayout layout) {
    float[] frequencies = new float[HALF - 4]; // the last channels do not rotate
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(10_000, -(double) pair / frequencies.length);
    }
    return new KeyRotation(new Rope(layout, frequencies), SINKS, 1000);
  }

  private static MemorySegment tables(KeyRotation rotation) {
    MemorySegment tables = Arena.ofAuto().allocate(rotation.bytes(DIM), 128);
    rotation.put(tables, DIM);
    return tables;
  }

  /** Rotates pairs by angles of a table, as rotary.cuh does. */
  private static void rotate(MemorySegment tables, float[] x, long angles) {
    for (int pair = 0; pair < HALF; pair++) {
      float cos = tables.get(JAVA_FLOAT, angles + 8L * pair);
      float sin = tables.get(JAVA_FLOAT, angles + 8L * pair + 4);
      int first = tables.get(JAVA_SHORT, 128 + 2L * pair);
      int second = tables.get(JAVA_SHORT, 128 + 2L * (HALF + pair));
      float a = x[first];
      float b = x[second];
      x[first] = a * cos - b * sin;
      x[second] = b * cos + a * sin;
    }
  }

  @ParameterizedTest
  @EnumSource
  void anglesOfOffsetAndBlockRotateLikeTheHost(RopeLayout layout) {
    KeyRotation keys = rotation(layout);
    MemorySegment tables = tables(keys);
    int block = 6;
    float[] rows = new float[128 * DIM];
    Random random = new Random(3);
    IntStream.range(0, rows.length).forEach(i -> rows[i] = (float) random.nextGaussian());
    float[] wanted = rows.clone();
    Rotation rope = keys.rotation();
    rope.rotateConsecutive(wanted, 0, DIM, 128);
    rope.rotate(wanted, 0, DIM, 128, SINKS + 128 * block);
    for (int token = 0; token < 128; token++) {
      float[] row = Arrays.copyOfRange(rows, token * DIM, (token + 1) * DIM);
      rotate(tables, row, 128 + 68L * DIM + 8L * token * HALF);
      rotate(tables, row, 128 + 580L * DIM + 8L * keys.turn(SINKS + 128 * block) * HALF);
      assertThat(row).isEqualTo(Arrays.copyOfRange(wanted, token * DIM, (token + 1) * DIM));
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyChannelHasOnePlaceAndKnowsItsPair(RopeLayout layout) {
    KeyRotation keys = rotation(layout);
    MemorySegment tables = tables(keys);
    int[] places = keys.places(DIM);
    assertThat(places).containsExactlyInAnyOrder(IntStream.range(0, DIM).toArray());
    for (int channel = 0; channel < DIM; channel++) {
      int which = tables.get(JAVA_SHORT, 128 + 2L * (DIM + channel)) & 0xFFFF;
      int second = which >> 15;
      int pair = which & 0x7FFF;
      assertThat(tables.get(JAVA_SHORT, 128 + 2L * (second * HALF + pair)))
          .isEqualTo((short) channel);
      assertThat(places[channel]).isEqualTo(KeyRotation.place(pair) + 2 * second);
    }
  }

  @Test
  void positionsCoverTheContext() {
    MemorySegment tables = tables(rotation(RopeLayout.HALVES));
    int positions = tables.get(JAVA_INT, 0);
    assertThat(32 * positions).isGreaterThanOrEqualTo(1000 + 64);
    assertThat(tables.byteSize()).isEqualTo(128 + 580L * DIM + 8L * positions * HALF);
  }
}
