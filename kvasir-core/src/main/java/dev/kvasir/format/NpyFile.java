package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * An open npy file of 32-bit little-endian floats in C order, memory-mapped and checked. The format
 * is defined in {@code numpy.lib.format}.
 */
public final class NpyFile implements AutoCloseable {
  private final Tensor tensor;
  private final Arena arena;

  private NpyFile(Tensor tensor, Arena arena) {
    this.tensor = tensor;
    this.arena = arena;
  }

  /** Maps the file and reads its header. */
  public static NpyFile open(Path file) {
    MappedFile mapped = MappedFile.open(file);
    return of(mapped.name(), mapped.bytes(), mapped.arena());
  }

  /** Reads an npy file in memory; closing the result closes the arena. */
  public static NpyFile of(String name, MemorySegment bytes, Arena arena) {
    try {
      return new NpyFile(read(name, bytes), arena);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  private static Tensor read(String name, MemorySegment bytes) {
    NpyHeader header = NpyHeader.read(name, bytes);
    MemorySegment data = bytes.asSlice(header.dataAt());
    long size = Tensor.bytes(name, GgmlType.F32, header.shape());
    if (size != data.byteSize()) {
      throw new InvalidInputException(
          "%s: shape %s takes %d bytes; the file holds %d after its head%s"
              .formatted(
                  name,
                  Tensor.text(header.shape()),
                  size,
                  data.byteSize(),
                  size > data.byteSize() ? ", so it is truncated" : ""));
    }
    return new Tensor(name, GgmlType.F32, header.shape(), data);
  }

  /** Returns the array, named after the file. */
  public Tensor tensor() {
    return tensor;
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
