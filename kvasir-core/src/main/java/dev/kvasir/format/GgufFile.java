package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.ProtectedMappings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * An open GGUF file, or all files of a split model. Tensors are memory-mapped, and every offset and
 * size is checked.
 */
public final class GgufFile implements TensorSource {
  private final String name;
  private final GgufMetadata metadata;
  private final Map<String, Tensor> tensors;
  private final Arena arena;

  private GgufFile(GgufHeader header, Arena arena) {
    this.name = header.fileName();
    this.metadata = header.metadata();
    this.tensors = Collections.unmodifiableMap(header.tensors());
    this.arena = arena;
  }

  /**
   * Maps the file and reads its header. The other parts of a split model are found in the same
   * folder; the result has the name of the first.
   */
  public static GgufFile open(Path file) {
    Arena arena = Arena.ofShared();
    return closingOnFailure(
        arena,
        () -> {
          GgufHeader header =
              GgufHeader.read(file.toString(), MappedFile.open(file, arena).bytes());
          return GgufParts.isSplit(header) ? GgufParts.join(file, header, arena) : header;
        });
  }

  /** Returns the files that {@link #open} would find, in order, without opening them. */
  public static List<Path> parts(Path file) {
    return GgufParts.siblings(file);
  }

  /** Reads a GGUF file in memory; closing the result closes the arena. */
  public static GgufFile of(String name, MemorySegment bytes, Arena arena) {
    return closingOnFailure(
        arena,
        () -> {
          GgufHeader header = GgufHeader.read(name, bytes);
          if (GgufParts.isSplit(header)) {
            throw new InvalidInputException(
                "%s: is one of %d parts; in memory, one file was expected"
                    .formatted(name, header.metadata().requireInteger("split.count")));
          }
          return header;
        });
  }

  private static GgufFile closingOnFailure(Arena arena, Supplier<GgufHeader> header) {
    try {
      return new GgufFile(header.get(), arena);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return name;
  }

  public GgufMetadata metadata() {
    return metadata;
  }

  @Override
  public Collection<Tensor> tensors() {
    return tensors.values();
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    return Optional.ofNullable(tensors.get(tensorName));
  }

  @Override
  public void protect() {
    ProtectedMappings.protect(arena);
  }

  @Override
  public boolean isIntact() {
    return ProtectedMappings.isIntact(arena);
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
