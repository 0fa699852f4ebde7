package dev.kvasir.lab.codebook;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Samples in memory-mapped files of a folder. Each file has a header with the conditions it was
 * made under; a file with other conditions is replaced.
 *
 * <pre>4096 bytes, conditions in words; then the sample</pre>
 */
public final class SampleFolder implements SampleStorage, AutoCloseable {
  private static final int HEADER = 4096;

  private final Path folder;
  private final byte[] header;
  private final Arena arena = Arena.ofShared();

  /**
   * @param conditions description of everything that determines the samples
   */
  public SampleFolder(Path folder, String conditions) {
    byte[] words = conditions.getBytes(StandardCharsets.UTF_8);
    if (words.length > HEADER) {
      throw new IllegalArgumentException(
          "conditions have %d bytes; expected up to %d".formatted(words.length, HEADER));
    }
    this.folder = folder;
    this.header = Arrays.copyOf(words, HEADER);
  }

  @Override
  public MemorySegment allocate(String name, long bytes) {
    Path file = folder.resolve(name);
    try {
      Files.createDirectories(folder);
      if (!isUsable(file, bytes)) {
        create(file, bytes);
      }
      try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
        return channel.map(MapMode.READ_WRITE, HEADER, bytes, arena);
      }
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: %d bytes for vectors cannot be written there: %s"
              .formatted(file, HEADER + bytes, e.getMessage()),
          e);
    }
  }

  private boolean isUsable(Path file, long bytes) throws IOException {
    if (!Files.exists(file) || Files.size(file) != HEADER + bytes) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(file, READ)) {
      ByteBuffer found = ByteBuffer.allocate(HEADER);
      while (found.hasRemaining() && channel.read(found) >= 0) {}
      return Arrays.equals(found.array(), header);
    }
  }

  /**
   * Writes every byte, because writing to mapped memory without disk space kills the process. The
   * header comes last, so that an interrupted file is never reused.
   */
  private void create(Path file, long bytes) throws IOException {
    Files.deleteIfExists(file);
    requireDiskSpace(file, HEADER + bytes);
    try (FileChannel channel = FileChannel.open(file, CREATE_NEW, WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
      for (long at = HEADER; at < HEADER + bytes; ) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), HEADER + bytes - at));
        at += channel.write(zeros, at);
      }
      channel.write(ByteBuffer.wrap(header), 0);
    } catch (IOException e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  private static void requireDiskSpace(Path file, long bytes) throws IOException {
    long free = Files.getFileStore(file.toAbsolutePath().getParent()).getUsableSpace();
    if (free < bytes) {
      throw new InvalidInputException(
          "%s: its vectors take %d bytes; the disk has %d left".formatted(file, bytes, free));
    }
  }

  /** Unmaps all samples; files stay. */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  /** Unmaps all samples and deletes them, together with those of earlier runs. */
  public void delete() {
    close();
    CheckpointFolder.delete(folder);
  }
}
