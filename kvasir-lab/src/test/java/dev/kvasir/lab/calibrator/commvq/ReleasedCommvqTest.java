package dev.kvasir.lab.calibrator.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.pytorch.TorchWriter;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleasedCommvqTest {
  private static final int LAYERS = 2;
  private static final int HEADS = 2;
  private static final int DIM = 8;
  private static final int WIDTH = HEADS * DIM;
  private static final int HIDDEN = 2 * WIDTH;
  private static final CacheShape SHAPE = new CacheShape(LAYERS, HEADS, DIM);

  @TempDir private Path folder;
  private final Random random = new Random(4);

  @Test
  void readsKeysAndEncoders() throws IOException {
    writeKeys(folder.resolve("codebook"), 3);
    writeEncoders(folder.resolve("model"), WIDTH);
    EncoderProfile read = ReleasedCommvq.read(folder, SHAPE, 1);
    assertThat(read.keys()).hasSize(LAYERS).allSatisfy(heads -> assertThat(heads).hasSize(HEADS));
    assertThat(read.encoders()).hasSize(LAYERS);
    assertThat(read.encoders().get(1).bits()).isEqualTo(WIDTH);
    assertThat(read.encoders().get(1).hidden()).isEqualTo(HIDDEN);
    Profile stored = read.addTo(Profile.empty("any"));
    assertThat(EncoderProfile.of(stored, 1, SHAPE).encoders().get(1).gain())
        .containsExactly(read.encoders().get(1).gain());
  }

  /** The centre of rows a and b is X[a] - Y[b], Y[a] + X[b] for each pair. */
  @Test
  void centresAreThoseOfTheRelease() throws IOException {
    float[] theta = writeKeys(folder, 1);
    writeEncoders(folder, WIDTH);
    EncoderProfile read = ReleasedCommvq.read(folder, SHAPE, 1);
    int pairs = DIM / 2;
    int a = 5;
    int b = 60;
    float[] centre = new float[DIM];
    read.keys()
        .getLast()
        .getLast()
        .stages()
        .decode(new short[] {(short) (a | b << 6)}, 0, centre, 0);
    float[] expected = new float[DIM];
    for (int pair = 0; pair < pairs; pair++) {
      expected[pair] = theta[2 * a * pairs + pair] - theta[(2 * b + 1) * pairs + pair];
      expected[pairs + pair] = theta[(2 * a + 1) * pairs + pair] + theta[2 * b * pairs + pair];
    }
    assertThat(centre).containsExactly(expected);
  }

  @Test
  void refusesWhatDoesNotFitTheModel() throws IOException {
    refused(folder, 1, "neither it nor a folder in it has 000_0.pt");
    writeKeys(folder, 2);
    refused(folder, 1, "model.safetensors");
    writeEncoders(folder, WIDTH);
    refused(folder, 2, "'model.layers.0.self_attn.value_vq_model.out.weight' has shape [32, 32]");
    Files.delete(folder.resolve("001_1.pt"));
    refused(folder, 1, "001_1.pt");
    refused(folder.resolve("nowhere"), 1, "no such folder");
  }

  private static void refused(Path folder, int bits, String why) {
    assertThatThrownBy(() -> ReleasedCommvq.read(folder, SHAPE, bits))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(why);
  }

  /** Writes codebooks of keys and returns theta of the last one. */
  private float[] writeKeys(Path to, int steps) throws IOException {
    Files.createDirectories(to);
    float[] theta = {};
    for (int file = 0; file < LAYERS * HEADS; file++) {
      TorchWriter writer = new TorchWriter();
      writer.bytes('}').remember().bytes('(').text("final_error").decimal(0.5);
      writer.text("steps").bytes(']').remember().bytes('(');
      for (int step = 0; step < steps; step++) {
        theta = numbers(128 * DIM / 2);
        writer.bytes('}').remember().bytes('(').text("mse_loss").matrix(numbers(1), 1, 1);
        writer.text("theta").matrix(theta, 128, DIM / 2);
        writer.text("clustering_centers").matrix(numbers(2 * DIM), 2, DIM).bytes('u');
      }
      writer.bytes('e', 'u');
      writer.write(to.resolve("%03d_%d.pt".formatted(file / HEADS, file % HEADS)));
    }
    return theta;
  }

  private void writeEncoders(Path to, int bits) throws IOException {
    Files.createDirectories(to);
    Profile weights = Profile.empty("released");
    for (int layer = 0; layer < LAYERS; layer++) {
      String prefix = "model.layers.%d.self_attn.value_vq_model.".formatted(layer);
      weights =
          weights
              .with(prefix + "learnable_scale", numbers(WIDTH), WIDTH)
              .with(prefix + "norm1.weight", numbers(WIDTH), WIDTH)
              .with(prefix + "norm1.bias", numbers(WIDTH), WIDTH)
              .withHalves(prefix + "enc1.weight", numbers(HIDDEN * WIDTH), HIDDEN, WIDTH)
              .with(prefix + "enc1.bias", numbers(HIDDEN), HIDDEN)
              .withHalves(prefix + "out.weight", numbers(2 * bits * HIDDEN), 2L * bits, HIDDEN)
              .with(prefix + "out.bias", numbers(2 * bits), 2L * bits)
              .withHalves(prefix + "embedding", numbers(bits * WIDTH), bits, WIDTH);
    }
    weights.write(to.resolve("model.safetensors"));
  }

  private float[] numbers(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }
}
