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
 * Numbers that methods learned of one model: thresholds, widths, codebooks. A profile never
 * changes; adding a part makes another one.
 *
 * <p>It is a safetensors file. Every name begins with the part it belongs to, as in {@code
 * mixkvq/thresholds}, so that methods share a file without knowing of each other. Notes are the
 * file's metadata: which model it belongs to, its format, and what a part has to say in words.
 */
public final class Profile {
  private static final String FORMAT = "kvasir.profile";
  private static final String VERSION = "1";
  private static final String MODEL = "kvasir.model";

  /**
   * Files up to here are copied, so that they can be replaced or removed on every system while they
   * are in use; larger ones are read where they are mapped.
   */
  private static final long MAX_COPIED_BYTES = 64L << 20;

  /** What numbers were called in files that are about; they are read by the names of today. */
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
   * A profile without any part.
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
   * What a file holds for a model, to add to; without any part where there is no file yet.
   *
   * @param model fingerprint of the model
   * @param modelName what a message calls it
   */
  public static Profile openOrEmpty(Path file, String model, String modelName) {
    return Files.exists(file) ? open(file).requireModel(model, modelName) : empty(model);
  }

  /** A profile's bytes, as a resource holds them; they are read where they lie. */
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

  /** The file, as messages name it. */
  public String name() {
    return name;
  }

  /** Fingerprint of the model that it belongs to. */
  public String model() {
    return notes.get(MODEL);
  }

  /** Refuses a profile that was made for another model. */
  public Profile requireModel(String fingerprint, String modelName) {
    if (!model().equals(fingerprint)) {
      throw new InvalidInputException(
          "%s: belongs to a model with fingerprint %s; %s has %s"
              .formatted(name, model(), modelName, fingerprint));
    }
    return this;
  }

  /** The parts that it holds. */
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
   * The numbers under a name, refused unless they have that shape.
   *
   * @param key {@code part/name}
   */
  public float[] floats(String key, long... shape) {
    Tensor all = numbers(key, shape);
    return TensorChunks.slice(name, all, 0, all.values());
  }

  /**
   * Some of the numbers under a name, for those that are too many for an array.
   *
   * @param first of them, counted through all dimensions
   */
  public float[] slice(String key, long first, long count, long... shape) {
    return TensorChunks.slice(name, numbers(key, shape), first, count);
  }

  /** Refuses it unless it has numbers of that shape under a name. */
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

  /** The dimensions of the numbers under a name. */
  public Optional<long[]> shape(String key) {
    return Optional.ofNullable(tensors.get(key)).map(tensor -> tensor.shape().clone());
  }

  /** What a part says in words. */
  public Optional<String> note(String key) {
    return Optional.ofNullable(notes.get(key));
  }

  public Profile with(String key, float[] values, long... shape) {
    return with(key, Stream.of(values), shape);
  }

  /**
   * The same with numbers that may be too many for an array.
   *
   * @param pieces one after another
   */
  public Profile with(String key, Stream<float[]> chunks, long... shape) {
    return with(TensorChunks.joined(key, GgmlType.F32, chunks, shape));
  }

  /** Rounded to halves, for what is large. */
  public Profile withHalves(String key, float[] values, long... shape) {
    return withHalves(key, Stream.of(values), shape);
  }

  /** The same with numbers that may be too many for an array. */
  public Profile withHalves(String key, Stream<float[]> chunks, long... shape) {
    return with(TensorChunks.joined(key, GgmlType.F16, chunks, shape));
  }

  /**
   * Words that are codes and no numbers. The file calls them halves, the one type of two bytes that
   * stands for what it will; nobody converts them.
   *
   * @param pieces one after another
   */
  public Profile withWords(String key, Stream<short[]> chunks, long... shape) {
    return with(TensorChunks.joinedWords(key, chunks, shape));
  }

  /**
   * Some of the words under a name.
   *
   * @param first of them, counted through all dimensions
   */
  public short[] words(String key, long first, long count, long... shape) {
    return TensorChunks.sliceWords(name, requireWords(key, shape), first, count);
  }

  /** Refuses it unless it has words of that shape under a name. */
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

  /** Some parts and their notes, and nothing else. */
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

  /** All numbers, by name. */
  public Collection<Tensor> tensors() {
    return Collections.unmodifiableCollection(tensors.values());
  }

  /** All that it says in words, by name. */
  public Map<String, String> notes() {
    return Collections.unmodifiableMap(notes);
  }

  /** The same without a part and its notes. */
  public Profile without(String part) {
    Map<String, Tensor> fewer = new TreeMap<>(tensors);
    fewer.keySet().removeIf(key -> partOf(key).equals(part));
    Map<String, String> fewerNotes = new TreeMap<>(notes);
    fewerNotes.keySet().removeIf(key -> partOf(key).equals(part));
    return new Profile(name, fewer, fewerNotes);
  }

  /** Writes it whole or not at all. */
  public void write(Path file) {
    AtomicFile.write(file, out -> SafetensorsBytes.write(tensors.values(), notes, out));
  }
}
