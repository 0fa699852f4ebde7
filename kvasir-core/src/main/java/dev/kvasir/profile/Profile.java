package dev.kvasir.profile;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.SafetensorsBytes;
import dev.kvasir.format.SafetensorsFile;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Calibration data of one model: thresholds, widths, codebooks. A profile is immutable; adding a
 * part creates another one.
 *
 * <p>It is a safetensors file. Every name starts with the part it belongs to, as in {@code
 * mixkvq/thresholds}, so that methods share a file independently. Notes are the file's metadata:
 * its model, its format, and remarks of a part.
 */
public final class Profile {
  private static final String FORMAT = "kvasir.profile";
  private static final String VERSION = "1";
  private static final String MODEL = "kvasir.model";

  /**
   * Files up to this size are copied, so that they can be replaced or removed on every system while
   * in use. Larger files stay mapped.
   */
  private static final long MAX_COPIED_BYTES = 64L << 20;

  /** Names in older files, mapped to current names. */
  private static final Map<String, String> FORMER_NAMES = Map.of("pmkvq/widths", "layers/widths");

  private final String name;
  private final Map<String, Tensor> tensors;
  private final Map<String, String> notes;

  private Profile(String name, Map<String, Tensor> tensors, Map<String, String> notes) {
    this.name = name;
    this.tensors = tensors;
    this.notes = notes;
  }

  /**
   * Returns a profile without any part.
   *
   * @param model fingerprint of the model that it will belong to
   */
  public static Profile empty(String model) {
    return new Profile(
        "profile", new TreeMap<>(), new TreeMap<>(Map.of(FORMAT, VERSION, MODEL, model)));
  }

  public static Profile open(Path file) {
    try (SafetensorsFile opened = SafetensorsFile.open(file)) {
      if (opened.dataBytes() <= MAX_COPIED_BYTES) {
        return of(opened, Profile::copy);
      }
    }
    return of(SafetensorsFile.openAuto(file), UnaryOperator.identity());
  }

  /**
   * Opens a model's profile to add to; returns an empty one if the file does not exist.
   *
   * @param model fingerprint of the model
   * @param modelName the model's name in messages
   */
  public static Profile openOrEmpty(Path file, String model, String modelName) {
    return Files.exists(file) ? open(file).requireModel(model, modelName) : empty(model);
  }

  /** Reads a profile from the bytes of a resource, in place. */
  public static Profile of(String name, MemorySegment bytes) {
    return of(SafetensorsFile.ofAuto(name, bytes), UnaryOperator.identity());
  }

  private static Profile of(SafetensorsFile file, UnaryOperator<MemorySegment> retained) {
    String version = file.metadata().get(FORMAT);
    if (!VERSION.equals(version) || file.metadata().get(MODEL) == null) {
      throw new InvalidInputException(
          "%s: is no profile of version %s; its metadata says %s=%s"
              .formatted(file.name(), VERSION, FORMAT, version));
    }
    Map<String, Tensor> tensors = new TreeMap<>();
    for (Tensor mapped : file.tensors()) {
      String key = FORMER_NAMES.getOrDefault(mapped.name(), mapped.name());
      MemorySegment data = retained.apply(mapped.data());
      tensors.put(key, new Tensor(key, mapped.type(), mapped.shape(), data));
    }
    return new Profile(file.name(), tensors, new TreeMap<>(file.metadata()));
  }

  private static MemorySegment copy(MemorySegment data) {
    return MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE)).asReadOnly();
  }

  /** Returns the file's name for messages. */
  public String name() {
    return name;
  }

  /** Returns the fingerprint of its model. */
  public String model() {
    return notes.get(MODEL);
  }

  /** Rejects a profile of another model. */
  public Profile requireModel(String fingerprint, String modelName) {
    if (!model().equals(fingerprint)) {
      throw new InvalidInputException(
          "%s: belongs to a model with fingerprint %s; %s has %s"
              .formatted(name, model(), modelName, fingerprint));
    }
    return this;
  }

  public SortedSet<String> parts() {
    TreeSet<String> parts = new TreeSet<>();
    tensors.keySet().forEach(key -> parts.add(partOf(key)));
    return parts;
  }

  public boolean has(String part) {
    return parts().contains(part);
  }

  private static String partOf(String key) {
    int slash = key.indexOf('/');
    return slash < 0 ? key : key.substring(0, slash);
  }

  /**
   * Returns the numbers under a name; rejects another shape.
   *
   * @param key {@code part/name}
   */
  public float[] floats(String key, long... shape) {
    Tensor all = numbers(key, shape);
    return TensorChunks.slice(name, all, 0, all.values());
  }

  /**
   * Returns some of the numbers under a name, which may be too many for one array.
   *
   * @param first index over all dimensions
   */
  public float[] slice(String key, long first, long count, long... shape) {
    return TensorChunks.slice(name, numbers(key, shape), first, count);
  }

  /** Rejects the profile unless it has numbers of this shape under a name. */
  public void require(String key, long... shape) {
    numbers(key, shape);
  }

  private Tensor numbers(String key, long... shape) {
    Tensor tensor = tensors.get(key);
    if (tensor == null) {
      throw new InvalidInputException("%s: has no '%s'".formatted(name, key));
    }
    if (!Arrays.equals(tensor.shape(), shape)) {
      throw new InvalidInputException(
          "%s: '%s' has shape %s; expected %s"
              .formatted(name, key, Arrays.toString(tensor.shape()), Arrays.toString(shape)));
    }
    return tensor;
  }

  /** Returns the dimensions of the numbers under a name. */
  public Optional<long[]> shape(String key) {
    return Optional.ofNullable(tensors.get(key)).map(tensor -> tensor.shape().clone());
  }

  /**
   * Returns the name of the note that tells what a part was made of: texts, tokens, settings.
   *
   * @param part a part that calibration adds
   */
  public static String originNote(String part) {
    return part + "/made-of";
  }

  /** Returns the name of the note that tells how a part fared in the check after calibration. */
  public static String checkNote(String part) {
    return part + "/check";
  }

  /** Returns a remark. */
  public Optional<String> note(String key) {
    return Optional.ofNullable(notes.get(key));
  }

  public Profile with(String key, float[] values, long... shape) {
    return with(key, Stream.of(values), shape);
  }

  /**
   * Returns a profile with more numbers, which may be too many for one array.
   *
   * @param chunks one after another
   */
  public Profile with(String key, Stream<float[]> chunks, long... shape) {
    return with(TensorChunks.joined(key, GgmlType.F32, chunks, shape));
  }

  /** Returns a profile with more numbers, rounded to halves to save space. */
  public Profile withHalves(String key, float[] values, long... shape) {
    return withHalves(key, Stream.of(values), shape);
  }

  /** Does the same with numbers that may be too many for one array. */
  public Profile withHalves(String key, Stream<float[]> chunks, long... shape) {
    return with(TensorChunks.joined(key, GgmlType.F16, chunks, shape));
  }

  /**
   * Returns a profile with 16-bit codes. The file types them as halves; they are never converted.
   *
   * @param chunks one after another
   */
  public Profile withWords(String key, Stream<short[]> chunks, long... shape) {
    return with(TensorChunks.joinedWords(key, chunks, shape));
  }

  /**
   * Returns some of the 16-bit codes under a name.
   *
   * @param first index over all dimensions
   */
  public short[] words(String key, long first, long count, long... shape) {
    return TensorChunks.sliceWords(name, requireWords(key, shape), first, count);
  }

  /** Rejects the profile unless it has 16-bit codes of this shape under a name. */
  public Tensor requireWords(String key, long... shape) {
    Tensor tensor = numbers(key, shape);
    if (tensor.type() != GgmlType.F16) {
      throw new InvalidInputException(
          "%s: '%s' has numbers of type %s; expected words of two bytes, F16"
              .formatted(name, key, tensor.type()));
    }
    return tensor;
  }

  private Profile with(Tensor tensor) {
    Map<String, Tensor> more = new TreeMap<>(tensors);
    more.put(tensor.name(), tensor);
    return new Profile(name, more, notes);
  }

  public Profile withNote(String key, String value) {
    Map<String, String> more = new TreeMap<>(notes);
    more.put(key, value);
    return new Profile(name, tensors, more);
  }

  /** Returns a profile with only these parts and their notes. */
  public Profile only(Set<String> retained) {
    Map<String, Tensor> fewer = new TreeMap<>(tensors);
    fewer.keySet().removeIf(key -> !retained.contains(partOf(key)));
    Map<String, String> fewerNotes = new TreeMap<>(notes);
    fewerNotes
        .keySet()
        .removeIf(
            key -> !key.equals(FORMAT) && !key.equals(MODEL) && !retained.contains(partOf(key)));
    return new Profile(name, fewer, fewerNotes);
  }

  /** Returns all tensors, by name. */
  public Collection<Tensor> tensors() {
    return Collections.unmodifiableCollection(tensors.values());
  }

  /** Returns all notes, by name. */
  public Map<String, String> notes() {
    return Collections.unmodifiableMap(notes);
  }

  /** Returns a profile without a part and its notes. */
  public Profile without(String part) {
    Map<String, Tensor> fewer = new TreeMap<>(tensors);
    fewer.keySet().removeIf(key -> partOf(key).equals(part));
    Map<String, String> fewerNotes = new TreeMap<>(notes);
    fewerNotes.keySet().removeIf(key -> partOf(key).equals(part));
    return new Profile(name, fewer, fewerNotes);
  }

  /** Writes the file atomically. */
  public void write(Path file) {
    AtomicFile.write(file, out -> SafetensorsBytes.write(tensors.values(), notes, out));
  }
}
