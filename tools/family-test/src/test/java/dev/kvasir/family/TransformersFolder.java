package dev.kvasir.family;

import dev.kvasir.format.SafetensorsWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A tiny random model that transformers has saved and run; see {@code
 * tools/transformers-judge/README.md}.
 */
record TransformersFolder(Path golden) {
  /** Tokens of the greedy text. */
  static final int GREEDY = 32;

  private static final int PROMPT = 100;

  private static final Path FOLDER = Path.of("../transformers-judge/golden");

  /** Returns all models. */
  static List<TransformersFolder> all() {
    try (var folders = Files.list(FOLDER)) {
      return folders.filter(Files::isDirectory).sorted().map(TransformersFolder::new).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the token ids that every model reads. */
  static int[] tokens() {
    return ids(FOLDER.resolve("tokens.txt"));
  }

  /** Returns the tokens that the greedy text continues. */
  static int[] prompt(int[] tokens) {
    return Arrays.copyOf(tokens, PROMPT);
  }

  static int[] ids(Path file) {
    return Arrays.stream(read(file).strip().split(" ")).mapToInt(Integer::parseInt).toArray();
  }

  /** Returns the logits of every {@link #group}-th token. */
  float[][] logits() {
    return NpyRows.read(golden.resolve("logits.npy"));
  }

  /** Returns how many tokens there are for each that has logits, which is the last of them. */
  int group() {
    return tokens().length / logits().length;
  }

  int[] greedy() {
    return ids(golden.resolve("greedy.txt"));
  }

  /** Writes the model as transformers has saved it, with the same weights. */
  Path writeTo(Path path) {
    return writeTo(path, "config.json");
  }

  /** Writes the model without settings that are defaults of transformers. */
  Path writeBareTo(Path path) {
    return writeTo(path, "bare.json");
  }

  private Path writeTo(Path path, String config) {
    SafetensorsWriter writer = new SafetensorsWriter();
    read(golden.resolve("tensors.txt")).lines().forEach(line -> add(line.split(" "), writer));
    try {
      Files.createDirectories(path);
      Files.copy(golden.resolve(config), path.resolve("config.json"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    writer.writeTo(path.resolve("model.safetensors"));
    return path;
  }

  /**
   * @param words name, sizes, mean, standard deviation
   */
  private void add(String[] words, SafetensorsWriter writer) {
    int[] shape = Arrays.stream(words[1].split("x")).mapToInt(Integer::parseInt).toArray();
    FolderTensor tensor =
        FolderTensor.f32(
            TensorValues.random(
                this + "/" + words[0],
                Double.parseDouble(words[2]),
                Double.parseDouble(words[3]),
                shape));
    writer.tensor(words[0], tensor.dtype(), tensor.bytes(), tensor.shape());
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return golden.getFileName().toString();
  }
}
