package dev.kvasir.stored;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Computes the SHA-256 of a model's tensors, in hexadecimal digits. That takes seconds for a model
 * of gigabytes, so the hash is cached in a file next to the model. The file also records the state
 * of the model's files, to detect changes:
 *
 * <pre>
 * hash
 * name size time-of-change    for each file
 * </pre>
 */
public final class WeightsHash {
  private static final String SUFFIX = ".kvasir-sha256";

  private WeightsHash() {}

  /** Returns the hash of a model that has no file of its own. */
  public static String of(TensorSource source) {
    List<byte[]> hashes =
        source.tensors().stream()
            .sorted(Comparator.comparing(Tensor::name))
            .toList()
            .parallelStream()
            .map(WeightsHash::hash)
            .toList();
    Sha256 all = new Sha256();
    hashes.forEach(all::add);
    source
        .pairedBytes()
        .forEach((name, bytes) -> all.add(new Sha256().add(name).add(bytes).finish()));
    return HexFormat.of().formatHex(all.finish());
  }

  private static byte[] hash(Tensor tensor) {
    return new Sha256()
        .add(tensor.name())
        .add(tensor.type().toString())
        .add(tensor.shapeText())
        .add(tensor.data())
        .finish();
  }

  /**
   * Returns the hash of a file, of any part of a split model, or of a folder.
   *
   * @param open opens the model for reading
   */
  public static String of(Path fileOrFolder, Supplier<TensorSource> open) {
    String state = stateOf(fileOrFolder);
    Path hashFile = fileOrFolder.resolveSibling(fileOrFolder.getFileName() + SUFFIX);
    Optional<String> cached = cached(hashFile, state);
    if (cached.isPresent()) {
      return cached.get();
    }
    try (TensorSource source = open.get()) {
      String hash = of(source);
      save(hashFile, hash + "\n" + state);
      return hash;
    }
  }

  /** Returns whether a file is a cached hash. */
  public static boolean isHashFile(Path file) {
    return file.toString().endsWith(SUFFIX);
  }

  /** Returns the cached hash if the model has not changed since. */
  private static Optional<String> cached(Path hashFile, String state) {
    try {
      String text = Files.readString(hashFile);
      int line = text.indexOf('\n');
      boolean fits = line == 2 * Sha256.BYTES && text.substring(line + 1).equals(state);
      return fits ? Optional.of(text.substring(0, line)) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Caches the hash. If the folder is read-only, the hash is recomputed each time. */
  private static void save(Path hashFile, String text) {
    try {
      AtomicFile.write(hashFile, text);
    } catch (InvalidInputException e) {
      return;
    }
  }

  private static String stateOf(Path fileOrFolder) {
    StringBuilder state = new StringBuilder();
    for (Path file : files(fileOrFolder)) {
      try {
        state
            .append(file.getFileName())
            .append(' ')
            .append(Files.size(file))
            .append(' ')
            .append(Files.getLastModifiedTime(file).toInstant())
            .append('\n');
      } catch (IOException e) {
        throw new InvalidInputException("%s: cannot be read".formatted(file), e);
      }
    }
    return state.toString();
  }

  /** Returns the weight files of a folder, or all parts of a split model. */
  private static List<Path> files(Path fileOrFolder) {
    if (!Files.isDirectory(fileOrFolder)) {
      return GgufFile.parts(fileOrFolder);
    }
    try (Stream<Path> all = Files.list(fileOrFolder)) {
      return all.filter(file -> file.toString().endsWith(".safetensors")).sorted().toList();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(fileOrFolder), e);
    }
  }
}
