package dev.kvasir.family;

import dev.kvasir.format.NpyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * The results of llama.cpp for a model; see {@code golden/README.md}.
 *
 * @param crc of the file given to llama.cpp
 * @param logits of each token
 * @param greedy continuation after the first {@link #GREEDY_AFTER} tokens
 */
record FamilyGolden(String crc, float[][] logits, int[] greedy) {
  static final int GREEDY_AFTER = 16;

  /** The sequence limit given to llama.cpp, which matters for LongRoPE. */
  static final int CONTEXT_LIMIT = 256;

  private static final Path FOLDER = Path.of("golden");

  static int[] tokens() {
    return ids(read("tokens.txt").strip().split(" "), 0);
  }

  static FamilyGolden of(Family family) {
    String[] words =
        read("greedy.txt")
            .lines()
            .map(line -> line.split(" "))
            .filter(line -> line[0].equals(family.fileName()))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("greedy.txt does not name " + family));
    return new FamilyGolden(words[1], logits(family), ids(words, 2));
  }

  private static float[][] logits(Family family) {
    try (NpyFile file = NpyFile.open(FOLDER.resolve(family + ".npy"))) {
      int rows = (int) file.tensor().shape()[0];
      int columns = (int) file.tensor().shape()[1];
      float[] all = file.tensor().toFloats();
      return Stream.iterate(0, row -> row + 1)
          .limit(rows)
          .map(row -> Arrays.copyOfRange(all, row * columns, (row + 1) * columns))
          .toArray(float[][]::new);
    }
  }

  private static int[] ids(String[] words, int from) {
    return Arrays.stream(words).skip(from).mapToInt(Integer::parseInt).toArray();
  }

  private static String read(String file) {
    try {
      return Files.readString(FOLDER.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
