package dev.kvasir.family;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Runs all folders in a folder and writes into each what {@code tools/transformers-judge} compares:
 * the logits of a text as one prompt and token by token, and a greedy text.
 */
final class FolderLogits {
  private static final String FLOATS = "fp32";

  private FolderLogits() {}

  public static void main(String... arguments) throws IOException {
    Path models = Path.of(arguments[0]);
    int[] tokens = TransformersFolder.ids(models.resolve("tokens.txt"));
    List<Path> folders;
    try (var found = Files.list(models)) {
      folders = found.filter(Files::isDirectory).sorted().toList();
    }
    for (Path folder : folders) {
      run(folder, tokens);
    }
  }

  private static void run(Path folder, int[] tokens) throws IOException {
    try (FamilyRunner runner = FamilyRunner.ofFolder(folder)) {
      write(folder.resolve("kvasir-prompt.f32"), runner.inOneStep(FLOATS, tokens));
      write(folder.resolve("kvasir-steps.f32"), runner.tokenByToken(FLOATS, tokens));
      int[] greedy =
          runner.greedy(FLOATS, TransformersFolder.prompt(tokens), TransformersFolder.GREEDY);
      Files.writeString(
          folder.resolve("kvasir-greedy.txt"),
          Arrays.stream(greedy).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
    } catch (RuntimeException e) {
      Files.writeString(folder.resolve("kvasir-error.txt"), e.toString());
    }
  }

  private static void write(Path file, float[][] rows) throws IOException {
    ByteBuffer out =
        ByteBuffer.allocate(Float.BYTES * rows.length * rows[0].length)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (float[] row : rows) {
      for (float value : row) {
        out.putFloat(value);
      }
    }
    Files.write(file, out.array());
  }
}
