package dev.kvasir.lab.pytorch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Writes files as {@code torch.save} does, instruction by instruction. */
public final class TorchWriter {
  private final ByteArrayOutputStream pickle = new ByteArrayOutputStream();
  private final List<byte[]> storages = new ArrayList<>();
  private int memo;

  public TorchWriter() {
    bytes(0x80, 2);
  }

  public TorchWriter bytes(int... instructions) {
    for (int instruction : instructions) {
      pickle.write(instruction);
    }
    return this;
  }

  /** Text, and its place in the memo. */
  public TorchWriter text(String text) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    return bytes('X').number(encoded.length, Integer.BYTES).raw(encoded).remember();
  }

  public TorchWriter decimal(double number) {
    return bytes('G').raw(ByteBuffer.allocate(Double.BYTES).putDouble(number).array());
  }

  public TorchWriter remember() {
    int key = memo++;
    return key < 256 ? bytes('q', key) : bytes('r').number(key, Integer.BYTES);
  }

  public TorchWriter name(String module, String name) {
    return bytes('c').raw((module + "\n" + name + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** A tensor of two dimensions in 32-bit floats. */
  public TorchWriter matrix(float[] numbers, int rows, int columns) {
    return matrix(numbers, rows, columns, columns, 1);
  }

  public TorchWriter matrix(
      float[] numbers, int rows, int columns, int rowStride, int columnStride) {
    ByteBuffer storage =
        ByteBuffer.allocate(Float.BYTES * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
    storage.asFloatBuffer().put(numbers);
    storages.add(storage.array());
    name("torch._utils", "_rebuild_tensor_v2").remember().bytes('(', '(');
    text("storage").name("torch", "FloatStorage").remember();
    text(String.valueOf(storages.size() - 1)).text("cuda:0");
    integer(numbers.length).bytes('t', 'Q').integer(0);
    integer(rows).integer(columns).bytes(0x86).remember();
    integer(rowStride).integer(columnStride).bytes(0x86).remember();
    bytes(0x89).name("collections", "OrderedDict").remember().bytes(')', 'R').remember();
    return bytes('t').remember().bytes('R').remember();
  }

  private TorchWriter integer(int number) {
    return number < 256 ? bytes('K', number) : bytes('J').number(number, Integer.BYTES);
  }

  private TorchWriter number(int number, int count) {
    for (int i = 0; i < count; i++) {
      pickle.write(number >> Byte.SIZE * i);
    }
    return this;
  }

  private TorchWriter raw(byte[] bytes) {
    pickle.writeBytes(bytes);
    return this;
  }

  public void write(Path file) throws IOException {
    bytes('.');
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
      entry(zip, "archive/data.pkl", pickle.toByteArray());
      entry(zip, "archive/version", new byte[] {'3', '\n'});
      for (int i = 0; i < storages.size(); i++) {
        entry(zip, "archive/data/" + i, storages.get(i));
      }
    }
  }

  private static void entry(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(bytes);
    zip.closeEntry();
  }
}
