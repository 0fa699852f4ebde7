package dev.kvasir.cli.serve;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.server.ServableModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A folder with models: GGUF files, folders in the format of Hugging Face, and folders with the
 * GGUF files of one model.
 */
record ModelFolder(Path folder) {
  private static final String SUFFIX = ".gguf";

  /** A projector belongs to a model, and further parts of a split model are found by the first. */
  private static final Pattern NO_MODEL =
      Pattern.compile("mmproj.*|\\..*|.*-(?!00001)[0-9]{5}-of-[0-9]{5}\\.gguf");

  /**
   * Returns the path of each model by its name, sorted.
   *
   * @throws InvalidInputException if the folder cannot be read
   */
  Map<String, Path> models() {
    Map<String, Path> models = new TreeMap<>();
    for (Path path : entries(folder)) {
      model(path).ifPresent(model -> models.putIfAbsent(ServableModel.nameOf(model), model));
    }
    return models;
  }

  private static Optional<Path> model(Path path) {
    if (!Files.isDirectory(path)) {
      return Optional.of(path).filter(ModelFolder::isGguf);
    }
    if (!Files.isReadable(path)) {
      return Optional.empty(); // such as lost+found
    }
    if (Files.exists(path.resolve("config.json")) && SafetensorsFolder.holdsWeights(path)) {
      return Optional.of(path);
    }
    List<Path> files = entries(path).stream().filter(ModelFolder::isGguf).toList();
    return files.size() == 1 ? Optional.of(files.getFirst()) : Optional.empty();
  }

  private static boolean isGguf(Path file) {
    return Files.isRegularFile(file) && file.getFileName().toString().endsWith(SUFFIX);
  }

  private static List<Path> entries(Path folder) {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(path -> !NO_MODEL.matcher(path.getFileName().toString()).matches())
          .sorted()
          .toList();
    } catch (IOException | UncheckedIOException e) {
      throw new InvalidInputException(
          "--models-dir: %s cannot be read; expected a folder with models".formatted(folder), e);
    }
  }
}
