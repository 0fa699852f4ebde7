package dev.kvasir.server;

import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Writes a model with its matrices in half precision, which stay mapped while they are used. */
final class HalfPrecisionModel {
  private static final int HEADER_BYTES = 24;
  private static final int TENSOR_COUNT_AT = 8;
  private static final int ALIGNMENT = 32;
  private static final int F32 = 0;
  private static final int F16 = 1;

  private HalfPrecisionModel() {}

  /**
   * @param source a GGUF file of any type
   * @param layers how many of its layers it is known to have
   */
  static void write(Path source, int layers, Path target) throws IOException {
    byte[] original = Files.readAllBytes(source);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GgufFile file = GgufFile.open(source)) {
      List<Tensor> tensors =
          file.tensors().stream().filter(one -> layer(one.name()) < layers).toList();
      ByteBuffer.wrap(original)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putLong(TENSOR_COUNT_AT, tensors.size());
      out.write(original, 0, firstTensor(original, file));
      long offset = 0;
      for (Tensor tensor : tensors) {
        out.write(description(tensor, offset));
        offset += data(tensor).length;
      }
      out.write(new byte[Math.floorMod(-out.size(), ALIGNMENT)]);
      for (Tensor tensor : tensors) {
        out.write(data(tensor));
      }
    }
    Files.write(target, out.toByteArray());
  }

  private static int layer(String tensor) {
    return tensor.startsWith("blk.") ? Integer.parseInt(tensor.split("\\.")[1]) : -1;
  }

  /** Returns where the descriptions of the tensors begin, after the metadata. */
  private static int firstTensor(byte[] bytes, GgufFile file) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    return file.tensors().stream()
        .mapToInt(
            tensor -> {
              ByteBuffer length = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
              length.putLong(tensor.name().length());
              String entry =
                  new String(length.array(), StandardCharsets.ISO_8859_1) + tensor.name();
              return text.indexOf(entry, HEADER_BYTES);
            })
        .min()
        .orElseThrow();
  }

  private static boolean isMatrix(Tensor tensor) {
    return tensor.shape().length == 2;
  }

  private static byte[] description(Tensor tensor, long offset) {
    byte[] name = tensor.name().getBytes(StandardCharsets.US_ASCII);
    long[] shape = tensor.shape();
    ByteBuffer bytes =
        ByteBuffer.allocate(2 * Long.BYTES + 2 * Integer.BYTES + name.length + 8 * shape.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(name.length).put(name).putInt(shape.length);
    for (int i = shape.length - 1; i >= 0; i--) {
      bytes.putLong(shape[i]);
    }
    return bytes.putInt(isMatrix(tensor) ? F16 : F32).putLong(offset).array();
  }

  private static byte[] data(Tensor tensor) {
    float[] values = tensor.toFloats();
    int each = isMatrix(tensor) ? Short.BYTES : Float.BYTES;
    ByteBuffer bytes = ByteBuffer.allocate(values.length * each).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      if (isMatrix(tensor)) {
        bytes.putShort(Float.floatToFloat16(value));
      } else {
        bytes.putFloat(value);
      }
    }
    return Arrays.copyOf(bytes.array(), Math.ceilDiv(bytes.capacity(), ALIGNMENT) * ALIGNMENT);
  }
}
