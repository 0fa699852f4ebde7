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

/** What ggml decodes from a block, Kvasir decodes too; the README beside the files says more. */
class GgmlGoldenTest {
  private static final int VALUES = 512;
  private static final int SWEPT_BLOCKS = 4096;

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "F32")
  void decodesExactlyWhatTheReferenceDecodes(GgmlType type) throws IOException {
    String name = type.name().toLowerCase(Locale.ROOT);
    byte[] blocks = resource(name + ".blocks");
    ByteBuffer wanted = ByteBuffer.wrap(resource(name + ".f32")).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(blocks).hasSize((int) type.bytesFor(VALUES));
    assertThat(wanted.remaining()).isEqualTo(VALUES * Float.BYTES);

    float[] decoded = new float[VALUES];
    type.decode(MemorySegment.ofArray(blocks), 0, VALUES, decoded, 0);

    for (int i = 0; i < VALUES; i++) {
      // == and not equals: a zero may differ in sign where a bias is folded into the minimum.
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

  /** FNV-1a of little-endian floats, of which a zero has no sign. */
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
