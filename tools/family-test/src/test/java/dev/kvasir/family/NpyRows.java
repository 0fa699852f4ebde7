package dev.kvasir.family;

import dev.kvasir.format.NpyFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;

/** Reads a matrix of NumPy. */
final class NpyRows {
  private NpyRows() {}

  static float[][] read(Path path) {
    try (NpyFile file = NpyFile.open(path)) {
      int rows = (int) file.tensor().shape()[0];
      int columns = (int) file.tensor().shape()[1];
      float[] all = file.tensor().toFloats();
      return IntStream.range(0, rows)
          .mapToObj(row -> Arrays.copyOfRange(all, row * columns, (row + 1) * columns))
          .toArray(float[][]::new);
    }
  }
}
