package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextVectorsTest {
  private static final ProgressListener QUIET = (done, total) -> {};
  @TempDir private static Path models;
  private static LoadedModel model;

  @TempDir private Path folder;

  @BeforeAll
  static void load() {
    model = LoadedModel.load(ShallowModel.write(models.resolve("shallow.gguf")));
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static Optional<TextVectors> read(String text, int tokens, ProgressListener listener) {
    TextVectors.Settings settings = new TextVectors.Settings(tokens, 128, 1);
    return TextVectors.read(model, "text", text, settings, listener);
  }

  private static Optional<TextVectors> read(
      String text, int tokens, SampleStorage storage, ProgressListener listener) {
    TextVectors.Settings settings = new TextVectors.Settings(tokens, 128, 1);
    Runner runner = new LocalRunner(WorkerContext.of(model));
    return TextVectors.read(model, "text", text, settings, runner, storage, listener);
  }

  /** Records the total to read and cancels after some of it. */
  private static final class Reader implements ProgressListener {
    private final double most;
    private double done;
    private double total;

    Reader(double most) {
      this.most = most;
    }

    @Override
    public void progress(double doneByNow, double all) {
      done = doneByNow;
      total = all;
    }

    @Override
    public boolean isCancelled() {
      return done >= most;
    }
  }

  private Reader readIntoFolder(TextVectors expected, String text, String conditions, double most) {
    Reader reader = new Reader(most);
    try (SampleFolder samples = new SampleFolder(folder.resolve("vectors"), conditions)) {
      Optional<TextVectors> found = read(text, 300, samples, reader);
      if (found.isPresent()) {
        assertSame(found.get().training(), expected.training());
        assertSame(found.get().heldOut(), expected.heldOut());
      }
    }
    return reader;
  }

  private static void assertSame(VectorSample found, VectorSample expected) {
    assertThat(found.count()).isEqualTo(expected.count());
    for (int layer = 0; layer < expected.shape().layers(); layer++) {
      for (Side side : Side.values()) {
        assertThat(found.vectors(side, layer, 1)).isEqualTo(expected.vectors(side, layer, 1));
      }
    }
  }

  @Test
  void interruptedReadingResumesAndDamagedSegmentsAreReadAgain() throws IOException {
    String text = BundledText.filler().substring(0, 2000);
    TextVectors expected = read(text, 300, QUIET).orElseThrow();
    Reader whole = readIntoFolder(expected, text, "a", Double.MAX_VALUE);
    assertThat(readIntoFolder(expected, text, "a", Double.MAX_VALUE).total).isZero();

    assertThat(readIntoFolder(expected, text, "b", 100).total).isEqualTo(whole.total);
    Reader rest = readIntoFolder(expected, text, "b", Double.MAX_VALUE);
    assertThat(rest.total).isEqualTo(whole.total - 128);

    Path heldOut = folder.resolve("vectors").resolve("held-out");
    byte[] bytes = Files.readAllBytes(heldOut);
    bytes[bytes.length - 100] ^= 1;
    Files.write(heldOut, bytes);
    assertThat(readIntoFolder(expected, text, "b", Double.MAX_VALUE).total).isEqualTo(128);

    Files.write(heldOut, Arrays.copyOf(bytes, bytes.length - 1));
    assertThat(readIntoFolder(expected, text, "b", Double.MAX_VALUE).total).isEqualTo(128);
  }

  @Test
  void sampleTooLargeForTheDiskIsRejectedWithoutLeftovers() {
    SampleFolder samples = new SampleFolder(folder.resolve("vectors"), "");
    assertThatThrownBy(() -> samples.allocate("training", 1L << 60))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(
            "its vectors take %d bytes; the disk has".formatted((1L << 60) + 4096));
    samples.delete();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void deleteRemovesSamplesOfEarlierRuns() throws IOException {
    SampleFolder samples = new SampleFolder(folder.resolve("vectors"), "");
    samples.allocate("training", 100);
    Files.writeString(folder.resolve("vectors").resolve("text 95"), "of a run with more texts");
    samples.delete();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void secondSegmentIsHeldOut() {
    String text = BundledText.filler().substring(0, 2000);
    int tokens = model.tokenizer().encode(text, false).length;
    TextVectors all = read(text, 10_000, QUIET).orElseThrow();
    assertThat(all.heldOut().count()).isEqualTo(128);
    assertThat(all.training().count()).isBetween(tokens - 128, tokens - 127 + tokens / 127);
    assertThat(read(text, 100, QUIET).orElseThrow().training().count()).isEqualTo(100);

    TextVectors again = read(text, 10_000, QUIET).orElseThrow();
    assertThat(again.training().vectors(Side.KEYS, 1, 1))
        .isEqualTo(all.training().vectors(Side.KEYS, 1, 1));
  }

  @Test
  void tooShortTextIsRejected() {
    assertThatThrownBy(() -> read("Too short.", 100, QUIET))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("text: is shorter than two segments of 128 tokens, of which one is held out");
  }

  @Test
  void cancellingLeavesNoResult() {
    ProgressListener stopped =
        new ProgressListener() {
          @Override
          public void progress(double done, double total) {}

          @Override
          public boolean isCancelled() {
            return true;
          }
        };
    assertThat(read(BundledText.filler().substring(0, 2000), 100, stopped)).isEmpty();
  }
}
