import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.AttentionResult;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Writes what one layer of the bundled model attends with in the first tokens of the bundled text,
 * little-endian:
 *
 * <pre>
 * tokens.i32    (tokens)
 * keys.f32      (tokens, kvHeads, keyDim)    before rotation, in the order of pairs
 * values.f32    (tokens, kvHeads, valueDim)
 * received.f32  (tokens, kvHeads)            attention from a token's own query and the 127 after it
 * </pre>
 */
final class PageVectors {
  private static final int NEAR = 128;

  private PageVectors() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 3) {
      System.err.println("usage: PageVectors LAYER TOKENS FOLDER");
      System.exit(2);
    }
    int layer = Integer.parseInt(arguments[0]);
    int count = Integer.parseInt(arguments[1]);
    Path folder = Files.createDirectories(Path.of(arguments[2]));
    try (LoadedModel model = LoadedModel.bundled();
        WorkerPool workers = new WorkerPool(Runtime.getRuntime().availableProcessors())) {
      int[] tokens = Arrays.copyOf(model.tokenizer().encode(BundledText.stream()), count);
      TracedDecoder decoder = TracedDecoder.of(model, 1, workers);
      ByteBuffer ids = littleEndian(count);
      ids.asIntBuffer().put(tokens);
      Files.write(folder.resolve("tokens.i32"), ids.array());
      decoder.forward(tokens, writing(decoder, layer, folder));
    }
  }

  private static TextVisitor writing(TracedDecoder decoder, int layer, Path folder) {
    return new TextVisitor() {
      @Override
      public boolean afterAttention(AttentionResult result) {
        if (result.layer() < layer) {
          return true;
        }
        write(folder, "keys.f32", inPairs(decoder, result.layer(), result.vectors().keys()));
        write(folder, "values.f32", result.vectors().values());
        write(folder, "received.f32", result.attentionMass(NEAR));
        return false;
      }
    };
  }

  private static float[] inPairs(TracedDecoder decoder, int layer, float[] rotated) {
    float[] keys = decoder.beforeRotation(layer, rotated);
    int keyDim = decoder.config().keyDim();
    int[] order = decoder.config().rotation().pairOrder(keyDim);
    float[] ordered = new float[keys.length];
    for (int i = 0; i < keys.length; i++) {
      ordered[i] = keys[i - i % keyDim + order[i % keyDim]];
    }
    return ordered;
  }

  private static void write(Path folder, String name, float[] numbers) {
    ByteBuffer bytes = littleEndian(numbers.length);
    bytes.asFloatBuffer().put(numbers);
    try {
      Files.write(folder.resolve(name), bytes.array());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ByteBuffer littleEndian(int numbers) {
    return ByteBuffer.allocate(Float.BYTES * numbers).order(ByteOrder.LITTLE_ENDIAN);
  }
}
