package dev.kvasir.format;

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

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = GgmlGoldenTest.class.getResourceAsStream("golden/" + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}
