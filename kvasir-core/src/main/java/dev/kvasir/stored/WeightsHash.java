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
 * SHA-256 of every byte of a model's tensors, in hexadecimal digits. A model of gigabytes takes
 * seconds, so it is kept in a file beside the model, with what tells that the model has changed:
 *
 * <pre>
 * hash
 * name size time-of-change    for each file
 * </pre>
 */
public final class WeightsHash {
  private static final String SUFFIX = ".kvasir-sha256";

  private WeightsHash() {}

  /** Of a model that lies in no file of its own. */
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
   * Of a file, any of several that a model is split into, or a folder.
   *
   * @param open opens it to be read
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

  /** Whether a file beside a model is one of these. */
  public static boolean isHashFile(Path file) {
    return file.toString().endsWith(SUFFIX);
  }

  /** What the file says, if it was made of the model as it is. */
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

  /** Where a model's folder cannot be written to, its hash is made anew each time. */
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

  /** The weights' files: of a folder, or all parts of a model that is split. */
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
