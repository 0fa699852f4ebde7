package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.ContentHash;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.AdaptedMatrix;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * Low-rank adapters (LoRA, arXiv:2106.09685) in the GGUF files of llama.cpp. For a matrix {@code W}
 * a file has {@code W.lora_a} (rank, columns) and {@code W.lora_b} (rows, rank):
 *
 * <pre>
 * y = W x + scale * alpha / rank * b (a x)
 * </pre>
 *
 * <p>Both products are computed beside that of the weights, which may be quantized or mapped.
 */
public final class LoraAdapters {
  /**
   * An adapter to apply.
   *
   * @param scale factor of its effect
   */
  public record Source(Path file, float scale) {}

  public static final LoraAdapters NONE = new LoraAdapters(List.of());

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final String DOWN = ".lora_a";
  private static final String UP = ".lora_b";

  private final List<Adapter> adapters;

  private LoraAdapters(List<Adapter> adapters) {
    this.adapters = adapters;
  }

  /** The tensors of a file, copied. */
  private record Adapter(String file, String architecture, List<Pair> pairs, byte[] hash) {}

  /** The factors of one matrix; the scale is part of the second. */
  private record Pair(String tensor, int rank, int columns, int rows, float[] down, float[] up) {}

  /** Reads the files. */
  public static LoraAdapters read(List<Source> sources) {
    return sources.isEmpty()
        ? NONE
        : new LoraAdapters(sources.stream().map(LoraAdapters::read).toList());
  }

  private static Adapter read(Source source) {
    if (!Float.isFinite(source.scale())) {
      throw new InvalidInputException(
          "%s: the scale is %s; expected a finite number".formatted(source.file(), source.scale()));
    }
    try (GgufFile file = GgufFile.open(source.file())) {
      require(file, "general.type", "adapter");
      require(file, "adapter.type", "lora");
      float alpha = file.metadata().number("adapter.lora.alpha").orElse(0.0).floatValue();
      MessageDigest digest = ContentHash.newDigest();
      digest.update(effect(alpha, source.scale()).getBytes(StandardCharsets.UTF_8));
      List<Pair> pairs = new ArrayList<>();
      for (String name : tensorNames(file)) {
        pairs.add(pair(file, name, alpha, source.scale()));
        for (String end : List.of(DOWN, UP)) {
          digest.update((name + end).getBytes(StandardCharsets.UTF_8));
          digest.update(file.find(name + end).orElseThrow().data().asByteBuffer());
        }
      }
      return new Adapter(
          file.name(),
          file.metadata().requireString("general.architecture"),
          List.copyOf(pairs),
          digest.digest());
    }
  }

  /** A file without alpha has no factor but the user's. */
  private static String effect(float alpha, float scale) {
    return alpha == 0 ? "plain " + scale : Float.toString(scale * alpha);
  }

  private static void require(GgufFile file, String key, String expected) {
    String found = file.metadata().string(key).orElse("");
    if (!found.equals(expected)) {
      throw new InvalidInputException(
          "%s: %s is '%s'; an adapter has '%s'".formatted(file.name(), key, found, expected));
    }
  }

  private static Set<String> tensorNames(GgufFile file) {
    Set<String> names = new TreeSet<>();
    for (Tensor tensor : file.tensors()) {
      String name = tensor.name();
      if (!name.endsWith(DOWN) && !name.endsWith(UP)) {
        throw new InvalidInputException(
            "%s: tensor '%s' is not supported; expected names that end with %s or %s"
                .formatted(file.name(), name, DOWN, UP));
      }
      names.add(name.substring(0, name.length() - DOWN.length()));
    }
    return names;
  }

  private static Pair pair(GgufFile file, String name, float alpha, float scale) {
    Tensor down = matrix(file, name + DOWN);
    Tensor up = matrix(file, name + UP);
    int rank = (int) down.shape()[0];
    if (up.shape()[1] != rank) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected %d columns"
              .formatted(file.name(), up.name(), up.shapeText(), rank));
    }
    float[] scaled = up.toFloats();
    float factor = alpha == 0 ? scale : scale * alpha / rank;
    if (!Float.isFinite(factor)) {
      throw new InvalidInputException(
          "%s: adapter.lora.alpha is %s; expected a finite number".formatted(file.name(), alpha));
    }
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] *= factor;
    }
    return new Pair(
        name, rank, (int) down.shape()[1], (int) up.shape()[0], down.toFloats(), scaled);
  }

  private static Tensor matrix(GgufFile file, String name) {
    Tensor tensor =
        file.find(name)
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: tensor '%s' is missing".formatted(file.name(), name)));
    if (tensor.shape().length != 2) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected a matrix"
              .formatted(file.name(), name, tensor.shapeText()));
    }
    return tensor;
  }

  public boolean isEmpty() {
    return adapters.isEmpty();
  }

  /**
   * Returns the fingerprint, or the hash of the weights, of a model with these adapters: its keys
   * and values are others.
   *
   * @param model that of the model without adapters, in hexadecimal digits
   */
  public String identity(String model) {
    return identities().apply(model);
  }

  /** Returns a function that computes identities and keeps only the hashes of the adapters. */
  public UnaryOperator<String> identities() {
    List<byte[]> hashes = adapters.stream().map(Adapter::hash).toList();
    return model -> hashes.isEmpty() ? model : identity(model, hashes);
  }

  private static String identity(String model, List<byte[]> hashes) {
    MessageDigest digest = ContentHash.newDigest();
    digest.update(model.getBytes(StandardCharsets.UTF_8));
    hashes.forEach(digest::update);
    return HexFormat.of().formatHex(digest.digest(), 0, model.length() / 2);
  }

  /** Rejects adapters of models of another family. */
  void requireFamily(TensorSource model) {
    for (Adapter adapter : adapters) {
      String architecture = architecture(model);
      if (!adapter.architecture().equals(architecture)) {
        throw new InvalidInputException(
            "%s: adapts models of the family '%s'; the model's is '%s'"
                .formatted(adapter.file(), adapter.architecture(), architecture));
      }
    }
  }

  /** Applies the adapters to the matrices of a model, and ensures that none is left over. */
  Application apply(SegmentAllocator memory) {
    return new Application(memory);
  }

  private static String architecture(TensorSource model) {
    if (model instanceof GgufFile file) {
      return file.metadata().requireString("general.architecture");
    }
    throw new IllegalArgumentException(model.name() + " has no GGUF names");
  }

  /** The adapters during the loading of a model. */
  final class Application {
    private final SegmentAllocator memory;
    private final Set<String> used = new HashSet<>();

    private Application(SegmentAllocator memory) {
      this.memory = memory;
    }

    /**
     * Returns a matrix with its adapters.
     *
     * @param firstRow of the tensor, where the matrix is a part of it
     */
    Matrix adapted(String tensor, long firstRow, Matrix base) {
      List<Pair> found = new ArrayList<>();
      for (Adapter adapter : adapters) {
        adapter.pairs().stream()
            .filter(pair -> pair.tensor().equals(tensor))
            .findFirst()
            .ifPresent(pair -> found.add(checked(adapter, pair, (int) firstRow, base)));
      }
      used.add(tensor);
      return found.isEmpty() ? base : stacked(found, (int) firstRow, base);
    }

    private static Pair checked(Adapter adapter, Pair pair, int firstRow, Matrix base) {
      if (pair.columns() != base.columns() || pair.rows() < firstRow + base.rows()) {
        throw new InvalidInputException(
            "%s: adapts '%s' as %d x %d; the model's is %d x %d"
                .formatted(
                    adapter.file(),
                    pair.tensor(),
                    pair.rows(),
                    pair.columns(),
                    base.rows(),
                    base.columns()));
      }
      return pair;
    }

    /** Returns a matrix with one adapter of all ranks together. */
    private Matrix stacked(List<Pair> pairs, int firstRow, Matrix base) {
      int rank = pairs.stream().mapToInt(Pair::rank).sum();
      float[] down = new float[rank * base.columns()];
      float[] up = new float[base.rows() * rank];
      int at = 0;
      for (Pair pair : pairs) {
        System.arraycopy(pair.down(), 0, down, at * base.columns(), pair.down().length);
        for (int row = 0; row < base.rows(); row++) {
          System.arraycopy(
              pair.up(), (firstRow + row) * pair.rank(), up, row * rank + at, pair.rank());
        }
        at += pair.rank();
      }
      return new AdaptedMatrix(
          base, matrix(rank, base.columns(), down), matrix(base.rows(), rank, up));
    }

    private DenseMatrix matrix(int rows, int columns, float[] values) {
      MemorySegment data = memory.allocate((long) values.length * Float.BYTES, Float.BYTES);
      MemorySegment.copy(values, 0, data, FLOAT, 0, values.length);
      return new DenseMatrix(DenseMatrix.Precision.F32, rows, columns, data);
    }

    /** Rejects adapters of matrices that the model does not have, or that take none. */
    void requireAllUsed() {
      for (Adapter adapter : adapters) {
        Optional<Pair> unused =
            adapter.pairs().stream().filter(pair -> !used.contains(pair.tensor())).findFirst();
        if (unused.isPresent()) {
          throw new InvalidInputException(
              "%s: adapts '%s', which this model does not have, or which takes no adapters"
                  .formatted(adapter.file(), unused.get().tensor()));
        }
      }
    }
  }
}
