package dev.kvasir.format;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Compares decoded blocks with ggml's; the README next to the files has the details. */
class GgmlGoldenTest {
  private static final int VALUES = 512;
  private static final int SWEPT_BLOCKS = 4096;

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "F32")
  void decodesExactlyLikeTheReference(GgmlType type) throws IOException {
    String name = type.name().toLowerCase(Locale.ROOT);
    byte[] blocks = resource(name + ".blocks");
    ByteBuffer wanted = ByteBuffer.wrap(resource(name + ".f32")).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(blocks).hasSize((int) type.bytesFor(VALUES));
    assertThat(wanted.remaining()).isEqualTo(VALUES * Float.BYTES);

    float[] decoded = new float[VALUES];
    type.decode(MemorySegment.ofArray(blocks), 0, VALUES, decoded, 0);

    for (int i = 0; i < VALUES; i++) {
      // Compare with ==: a zero may differ in sign if a bias is part of the minimum.
      float expected = wanted.getFloat();
      assertThat(decoded[i] == expected)
          .as("value %d is %s, the reference has %s", i, decoded[i], expected)
          .isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"F32", "F16", "BF16"})
  void decodesThousandsOfRandomBlocksToTheBitsOfTheReference(GgmlType type) throws IOException {
    byte[] blocks = RandomBlocks.of(type, SWEPT_BLOCKS, type.wireNumber());
    float[] decoded = new float[SWEPT_BLOCKS * type.blockLength()];
    type.decode(MemorySegment.ofArray(blocks), 0, decoded.length, decoded, 0);
    String lines = new String(resource("sweep.txt"), US_ASCII);
    assertThat(lines.lines()).contains("%s %016x".formatted(type, hash(decoded)));
  }

  /** Returns the FNV-1a hash of little-endian floats, with zeros unsigned. */
  private static long hash(float[] values) {
    long hash = 0xcbf29ce484222325L;
    for (float value : values) {
      int bits = Float.floatToRawIntBits(value + 0f);
      for (int at = 0; at < Float.SIZE; at += Byte.SIZE) {
        hash = (hash ^ (bits >>> at & 255)) * 0x100000001b3L;
      }
    }
    return hash;
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = GgmlGoldenTest.class.getResourceAsStream("golden/" + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}
