package dev.kvasir.cli.run;

import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.runtime.LoadedModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Writes the bundled model as one GGUF file and as several parts. */
final class BundledParts {
  private static final String RESOURCE = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";
  private static final int PAIR_COUNT_AT = 16;
  private static final int PAIRS_AT = 24;
  private static final int ALIGNMENT = 32;
  private static final int UINT16 = 2;
  private static final int INT32 = 5;

  private BundledParts() {}

  static Path writeWhole(Path file) throws IOException {
    return Files.write(file, whole());
  }

  static List<Path> write(Path folder, int count) throws IOException {
    List<Path> files = new ArrayList<>();
    try (GgufFile model = BundledFiles.open()) {
      List<Tensor> tensors = List.copyOf(model.tensors());
      for (int index = 0; index < count; index++) {
        int from = index * tensors.size() / count;
        int to = (index + 1) * tensors.size() / count;
        ByteBuffer placing = littleEndian(200);
        pair(placing, "split.no", UINT16).putShort((short) index);
        pair(placing, "split.count", UINT16).putShort((short) count);
        pair(placing, "split.tensors.count", INT32).putInt(tensors.size());
        Path file = folder.resolve("mini-%05d-of-%05d.gguf".formatted(index + 1, count));
        files.add(Files.write(file, part(index, placing.flip(), tensors.subList(from, to))));
      }
    }
    return files;
  }

  private static byte[] part(int index, ByteBuffer placing, List<Tensor> tensors)
      throws IOException {
    byte[] whole = whole();
    long pairCount = 3;
    byte[] pairs = new byte[0];
    if (index == 0) {
      pairCount += ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).getLong(PAIR_COUNT_AT);
      pairs = Arrays.copyOfRange(whole, PAIRS_AT, find(whole, tensors.getFirst().name()));
    }
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    ByteBuffer entries = littleEndian(200 * tensors.size());
    for (Tensor tensor : tensors) {
      entry(entries, tensor, data.size());
      data.writeBytes(tensor.data().toArray(ValueLayout.JAVA_BYTE));
      pad(data);
    }
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    ByteBuffer head = littleEndian(PAIRS_AT).put(whole, 0, 8);
    file.writeBytes(head.putLong(tensors.size()).putLong(pairCount).array());
    file.writeBytes(pairs);
    file.write(placing.array(), 0, placing.limit());
    file.write(entries.array(), 0, entries.position());
    pad(file);
    file.writeBytes(data.toByteArray());
    return file.toByteArray();
  }

  private static void entry(ByteBuffer out, Tensor tensor, long offset) {
    string(out, tensor.name()).putInt(tensor.shape().length);
    for (int d = tensor.shape().length - 1; d >= 0; d--) {
      out.putLong(tensor.shape()[d]);
    }
    out.putInt(tensor.type().wireNumber()).putLong(offset);
  }

  private static ByteBuffer pair(ByteBuffer out, String key, int type) {
    return string(out, key).putInt(type);
  }

  private static ByteBuffer string(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return out.putLong(bytes.length).put(bytes);
  }

  /** Returns the offset of a string, which is preceded by its length. */
  private static int find(byte[] file, String text) {
    byte[] wanted = new byte[Long.BYTES + text.length()];
    string(ByteBuffer.wrap(wanted).order(ByteOrder.LITTLE_ENDIAN), text);
    int at = 0;
    while (!Arrays.equals(file, at, at + wanted.length, wanted, 0, wanted.length)) {
      at++;
    }
    return at;
  }

  private static void pad(ByteArrayOutputStream out) {
    out.writeBytes(new byte[-out.size() & (ALIGNMENT - 1)]);
  }

  private static ByteBuffer littleEndian(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] whole() throws IOException {
    try (InputStream stream = LoadedModel.class.getResourceAsStream(RESOURCE)) {
      return stream.readAllBytes();
    }
  }
}
