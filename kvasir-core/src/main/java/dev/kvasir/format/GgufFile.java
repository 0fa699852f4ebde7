package dev.kvasir.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;

/** An open GGUF file: metadata read, tensors mapped, every offset and size checked. */
public final class GgufFile implements TensorSource {
  private final String name;
  private final GgufMetadata metadata;
  private final Map<String, Tensor> tensors;
  private final Arena arena;

  private GgufFile(String name, GgufMetadata metadata, Map<String, Tensor> tensors, Arena arena) {
    this.name = name;
    this.metadata = metadata;
    this.tensors = Collections.unmodifiableMap(tensors);
    this.arena = arena;
  }

  /** Maps the file; nothing but its head is read. */
  public static GgufFile open(Path file) {
    MappedFile mapped = MappedFile.open(file);
    return of(mapped.name(), mapped.bytes(), mapped.arena());
  }

  /** A GGUF file that already lies in memory; closing the result closes the arena. */
  public static GgufFile of(String name, MemorySegment bytes, Arena arena) {
    try {
      GgufHeader header = GgufHeader.read(name, bytes);
      return new GgufFile(name, header.metadata(), header.tensors(), arena);
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
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
