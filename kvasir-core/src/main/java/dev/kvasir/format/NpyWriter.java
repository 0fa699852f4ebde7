package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Writes an array of floats as an npy file. Values may be written in any order, so the array may be
 * larger than the heap; missing values are zero. {@link #finish} gives the file its name; closing
 * without it deletes the partial file.
 */
public final class NpyWriter implements AutoCloseable {
  /** The format aligns data to a multiple of this. */
  private static final int ALIGNMENT = 64;

  private static final int BUFFER_VALUES = 16_384;

  private final Path file;
  private final Path partFile;
  private final FileChannel channel;
  private final long values;
  private final int dataAt;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(Float.BYTES * BUFFER_VALUES).order(ByteOrder.LITTLE_ENDIAN);
  private boolean finished;

  private NpyWriter(Path file, Path partFile, FileChannel channel, long... shape)
      throws IOException {
    this.file = file;
    this.partFile = partFile;
    this.channel = channel;
    this.values = Arrays.stream(shape).reduce(1, Math::multiplyExact);
    byte[] header = header(shape);
    this.dataAt = header.length;
    writeFully(ByteBuffer.wrap(header), 0);
    if (values > 0) {
      // Write the last value first: the file then has its full length, and holes are zero.
      writeFully(ByteBuffer.wrap(new byte[Float.BYTES]), dataAt + Float.BYTES * (values - 1));
    }
  }

  public static NpyWriter create(Path file, long... shape) {
    // The process id separates processes that write the same file.
    String name = "%s.%d.part".formatted(file.getFileName(), ProcessHandle.current().pid());
    Path partFile = file.resolveSibling(name);
    try {
      FileChannel channel =
          FileChannel.open(
              partFile,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE);
      try {
        return new NpyWriter(file, partFile, channel, shape);
      } catch (IOException | RuntimeException | Error e) {
        channel.close();
        Files.deleteIfExists(partFile);
        throw e;
      }
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  /** Returns everything before the data, byte for byte as numpy 2 writes it. */
  static byte[] header(long... shape) {
    String dimensions =
        Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(", "));
    String dictionary =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%s%s), }"
            .formatted(dimensions, shape.length == 1 ? "," : "");
    int before = NpyHeader.MAGIC.length + 4;
    int length = Math.ceilDiv(before + dictionary.length() + 1, ALIGNMENT) * ALIGNMENT;
    ByteBuffer header = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    header.put(NpyHeader.MAGIC).put((byte) 1).put((byte) 0).putShort((short) (length - before));
    header.put(dictionary.getBytes(StandardCharsets.US_ASCII));
    Arrays.fill(header.array(), header.position(), length - 1, (byte) ' ');
    header.array()[length - 1] = '\n';
    return header.array();
  }

  /** Writes consecutive values in C order, starting at {@code index}. */
  public void write(long index, float[] from, int at, int count) {
    Objects.checkFromIndexSize(index, count, values);
    try {
      for (int done = 0; done < count; done += BUFFER_VALUES) {
        int length = Math.min(BUFFER_VALUES, count - done);
        buffer.clear();
        buffer.asFloatBuffer().put(from, at + done, length);
        buffer.limit(Float.BYTES * length);
        writeFully(buffer, dataAt + Float.BYTES * (index + done));
      }
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  private void writeFully(ByteBuffer bytes, long position) throws IOException {
    while (bytes.hasRemaining()) {
      position += channel.write(bytes, position);
    }
  }

  /** Renames the partial file atomically. */
  public void finish() {
    try {
      channel.close();
      Files.move(partFile, file, StandardCopyOption.ATOMIC_MOVE);
      finished = true;
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  private static InvalidInputException unwritable(Path file, IOException e) {
    String reason =
        switch (e) {
          case AccessDeniedException _ -> "this user may not write there";
          case FileSystemException system when system.getReason() != null -> system.getReason();
          default -> String.valueOf(e.getMessage());
        };
    return new InvalidInputException("%s: cannot be written: %s".formatted(file, reason), e);
  }

  @Override
  public void close() {
    if (finished) {
      return;
    }
    try {
      channel.close();
      Files.deleteIfExists(partFile);
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }
}
