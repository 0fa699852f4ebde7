package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.ContentHash;
import dev.kvasir.format.GgufFile;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Low-rank adapters (LoRA, arXiv:2106.09685) in GGUF files of llama.cpp or folders of PEFT. An
 * adapter of a matrix {@code W} has factors {@code a} (rank, columns) and {@code b} (rows, rank):
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
   * @param file a GGUF file, or a folder of PEFT
   * @param scale factor of its effect
   */
  public record Source(Path file, float scale) {}

  public static final LoraAdapters NONE = new LoraAdapters(List.of());

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private final List<LoraAdapter> adapters;

  private LoraAdapters(List<LoraAdapter> adapters) {
    this.adapters = adapters;
  }

  /** Reads the files. */
  public static LoraAdapters read(List<Source> sources) {
    return sources.isEmpty()
        ? NONE
        : new LoraAdapters(sources.stream().map(LoraAdapter::read).toList());
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
    List<byte[]> hashes = adapters.stream().map(LoraAdapter::hash).toList();
    return model -> hashes.isEmpty() ? model : identity(model, hashes);
  }

  private static String identity(String model, List<byte[]> hashes) {
    MessageDigest digest = ContentHash.newDigest();
    digest.update(model.getBytes(StandardCharsets.UTF_8));
    hashes.forEach(digest::update);
    return HexFormat.of().formatHex(digest.digest(), 0, model.length() / 2);
  }

  /** Rejects GGUF adapters of models of another family. */
  private void requireFamily(TensorSource model) {
    for (LoraAdapter each : adapters) {
      if (each instanceof GgufAdapter adapter && model instanceof GgufFile file) {
        String family = file.metadata().requireString("general.architecture");
        if (!adapter.family().equals(family)) {
          throw new InvalidInputException(
              "%s: adapts models of the family '%s'; the model's is '%s'"
                  .formatted(adapter.name(), adapter.family(), family));
        }
      }
    }
  }

  /**
   * Applies the adapters to the matrices of a model, and ensures that none is left over.
   *
   * @throws InvalidInputException if one does not fit the model
   */
  Application apply(
      ModelConfig config, TensorSource model, TensorNames names, SegmentAllocator memory) {
    requireFamily(model);
    List<Applied> applied = new ArrayList<>();
    for (LoraAdapter adapter : adapters) {
      Map<String, LoraPair> pairs = new LinkedHashMap<>();
      adapter.pairsOf(config, names, model.name()).forEach(pair -> pairs.put(pair.tensor(), pair));
      applied.add(new Applied(adapter.name(), pairs));
    }
    return new Application(applied, memory);
  }

  /** An adapter with its factors by tensors of the model. */
  private record Applied(String name, Map<String, LoraPair> pairs) {}

  /** The adapters during the loading of a model. */
  static final class Application {
    private final List<Applied> adapters;
    private final SegmentAllocator memory;
    private final Set<String> used = new HashSet<>();

    private Application(List<Applied> adapters, SegmentAllocator memory) {
      this.adapters = adapters;
      this.memory = memory;
    }

    /**
     * Returns a matrix with its adapters.
     *
     * @param inFile the name of its tensor
     * @param firstRow of the tensor, where the matrix is a part of it
     */
    Matrix adapted(String inFile, long firstRow, Matrix base) {
      String tensor = ModuleNames.plain(inFile);
      List<LoraPair> found = new ArrayList<>();
      for (Applied adapter : adapters) {
        LoraPair pair = adapter.pairs().get(tensor);
        if (pair != null) {
          found.add(checked(adapter, pair, (int) firstRow, base));
        }
      }
      used.add(tensor);
      return found.isEmpty() ? base : stacked(found, (int) firstRow, base);
    }

    private static LoraPair checked(Applied adapter, LoraPair pair, int firstRow, Matrix base) {
      if (pair.columns() != base.columns() || pair.rows() < firstRow + base.rows()) {
        throw new InvalidInputException(
            "%s: adapts '%s' as %d x %d; the model's is %d x %d"
                .formatted(
                    adapter.name(),
                    pair.tensor(),
                    pair.rows(),
                    pair.columns(),
                    base.rows(),
                    base.columns()));
      }
      return pair;
    }

    /** Returns a matrix with one adapter of all ranks together. */
    private Matrix stacked(List<LoraPair> pairs, int firstRow, Matrix base) {
      int rank = pairs.stream().mapToInt(LoraPair::rank).sum();
      float[] down = new float[rank * base.columns()];
      float[] up = new float[base.rows() * rank];
      int at = 0;
      for (LoraPair pair : pairs) {
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
      for (Applied adapter : adapters) {
        Optional<String> unused =
            adapter.pairs().keySet().stream().filter(name -> !used.contains(name)).findFirst();
        if (unused.isPresent()) {
          throw new InvalidInputException(
              "%s: adapts '%s', which this model does not have, or which takes no adapters"
                  .formatted(adapter.name(), unused.get()));
        }
      }
    }
  }
}
