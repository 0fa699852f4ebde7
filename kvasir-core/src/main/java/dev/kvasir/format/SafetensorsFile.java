package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.ProtectedMappings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An open safetensors file. Tensors are memory-mapped, and every offset and size is checked. */
public final class SafetensorsFile implements TensorSource {
  private final String name;
  private final Map<String, Tensor> tensors;
  private final Map<String, String> unsupported;
  private final Map<String, ByteTensor> byteTensors;
  private final Map<String, String> metadata;
  private final Optional<Arena> arena; // empty with automatic unmapping

  private SafetensorsFile(String name, SafetensorsHeader header, Optional<Arena> arena) {
    this.name = name;
    this.tensors = Collections.unmodifiableMap(header.tensors());
    this.unsupported = header.unsupported();
    this.byteTensors = header.byteTensors();
    this.metadata = Collections.unmodifiableMap(header.metadata());
    this.arena = arena;
  }

  /** Maps the file and reads its header. */
  public static SafetensorsFile open(Path file) {
    MappedFile mapped = MappedFile.open(file);
    return of(mapped.name(), mapped.bytes(), mapped.arena());
  }

  /** Maps the file until none of its tensors is reachable; closing does nothing. */
  public static SafetensorsFile openAuto(Path file) {
    MappedFile mapped = MappedFile.open(file, Arena.ofAuto());
    return ofAuto(mapped.name(), mapped.bytes());
  }

  /** Reads a safetensors file in memory that the garbage collector frees; closing does nothing. */
  public static SafetensorsFile ofAuto(String name, MemorySegment bytes) {
    return new SafetensorsFile(name, SafetensorsHeader.read(name, bytes), Optional.empty());
  }

  /** Reads a safetensors file in memory; closing the result closes the arena. */
  public static SafetensorsFile of(String name, MemorySegment bytes, Arena arena) {
    try {
      return new SafetensorsFile(name, SafetensorsHeader.read(name, bytes), Optional.of(arena));
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return name;
  }

  /** Returns the metadata of the file. */
  public Map<String, String> metadata() {
    return metadata;
  }

  @Override
  public Collection<Tensor> tensors() {
    return tensors.values();
  }

  /** Returns the bytes of all tensors. */
  public long dataBytes() {
    return tensors.values().stream().mapToLong(tensor -> tensor.data().byteSize()).sum();
  }

  /** Returns the names of all tensors, including those with an unsupported dtype. */
  public Set<String> names() {
    Set<String> names = new LinkedHashSet<>(tensors.keySet());
    names.addAll(unsupported.keySet());
    return names;
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    if (unsupported.containsKey(tensorName)) {
      String dtype = unsupported.get(tensorName);
      throw new InvalidInputException(
          "%s: tensor '%s' has dtype %s; supported are F32, F16, BF16%s"
              .formatted(
                  name,
                  Excerpt.of(tensorName),
                  Excerpt.of(dtype),
                  dtype.startsWith("F8_") ? ": " + UnsupportedQuantization.ADVICE : ""));
    }
    return Optional.ofNullable(tensors.get(tensorName));
  }

  Optional<ByteTensor> findBytes(String tensorName) {
    return Optional.ofNullable(byteTensors.get(tensorName));
  }

  @Override
  public void protect() {
    arena.ifPresent(ProtectedMappings::protect);
  }

  @Override
  public boolean isIntact() {
    return arena.stream().allMatch(ProtectedMappings::isIntact);
  }

  @Override
  public void close() {
    arena.filter(open -> open.scope().isAlive()).ifPresent(Arena::close);
  }
}
