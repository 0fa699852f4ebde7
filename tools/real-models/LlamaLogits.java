import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The distributions that {@code llama-perplexity --kl-divergence-base} writes: the text in chunks,
 * of which the second half is scored. Probabilities below e^-16 of the highest are raised to it.
 *
 * <pre>
 * "_logits_"
 * int32   context, vocabulary, chunks
 * int32   tokens (chunks, context)
 * rows (chunks, context - 1 - context / 2):
 *   float32  scale, lowest
 *   uint16   codes (vocabulary, padded to an even number)    log probability = lowest + scale * code
 * </pre>
 */
record LlamaLogits(int context, int vocabulary, int chunks, int[] ids, ByteBuffer rows) {
  static final String PROGRAM = "llama-perplexity";

  /** The logarithm of the smallest probability that is surely exact. */
  static final float CUT_OFF = -16;

  private static final int HEADER_BYTES = 8 + 3 * Integer.BYTES;
  private static final int ROW_HEADER_BYTES = 2 * Float.BYTES;

  static LlamaLogits compute(
      Path llama, Path model, String text, int context, int chunks, int threads)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("compare");
    Path textFile = folder.resolve("text");
    Path logitsFile = folder.resolve("logits");
    Path log = folder.resolve("log");
    try {
      Files.writeString(textFile, text);
      List<String> command = new ArrayList<>();
      command.addAll(List.of(llama.resolve(PROGRAM).toString(), "-m", model.toString()));
      command.addAll(List.of("-f", textFile.toString()));
      command.addAll(List.of("--kl-divergence-base", logitsFile.toString()));
      command.addAll(List.of("-t", Integer.toString(threads), "--chunks", "" + chunks));
      String size = Integer.toString(context);
      command.addAll(List.of("-c", size, "-b", size, "-ub", size));
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      if (process.waitFor() != 0 || !Files.exists(logitsFile)) {
        throw new IOException("%s failed: %s".formatted(PROGRAM, Files.readString(log)));
      }
      return read(logitsFile);
    } finally {
      for (Path file : List.of(textFile, logitsFile, log, folder)) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static LlamaLogits read(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      ByteBuffer all = ByteBuffer.allocateDirect(Math.toIntExact(channel.size()));
      while (all.hasRemaining() && channel.read(all) >= 0) {}
      all.flip().order(ByteOrder.LITTLE_ENDIAN);
      int context = all.getInt(8);
      int vocabulary = all.getInt(12);
      int chunks = all.getInt(16);
      int[] ids = new int[context * chunks];
      all.position(HEADER_BYTES).slice().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(ids);
      ByteBuffer rows = all.position(HEADER_BYTES + ids.length * Integer.BYTES).slice();
      return new LlamaLogits(context, vocabulary, chunks, ids, rows.order(ByteOrder.LITTLE_ENDIAN));
    }
  }

  /**
   * Returns the tokens of a chunk.
   *
   * @param hasFirst whether texts begin with a special token, which llama-perplexity puts in place
   *     of the first token of every chunk
   */
  int[] tokens(int chunk, boolean hasFirst) {
    int[] tokens = Arrays.copyOfRange(ids, chunk * context, (chunk + 1) * context);
    tokens[0] = hasFirst ? ids[0] : tokens[0];
    return tokens;
  }

  /** Returns the first position of a chunk whose prediction is scored. */
  int firstScored() {
    return context / 2;
  }

  /** Returns what is predicted after the token at a position. */
  float[] logProbabilities(int chunk, int position) {
    int rowBytes = ROW_HEADER_BYTES + (vocabulary + 1) / 2 * 2 * Short.BYTES;
    int row = chunk * (context - 1 - firstScored()) + position - firstScored();
    int at = row * rowBytes;
    float scale = rows.getFloat(at);
    float lowest = rows.getFloat(at + Float.BYTES);
    float[] values = new float[vocabulary];
    for (int i = 0; i < vocabulary; i++) {
      int code = Short.toUnsignedInt(rows.getShort(at + ROW_HEADER_BYTES + i * Short.BYTES));
      values[i] = lowest + scale * code;
    }
    return values;
  }
}
