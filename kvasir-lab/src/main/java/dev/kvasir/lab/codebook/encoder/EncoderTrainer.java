package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.kernel.Kernels;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Trains the encoder of a layer: AdamW with a learning rate that rises in the first steps and then
 * falls with a cosine. The result depends only on tokens, settings and seed, because kernels agree
 * to the last bit on all processors.
 */
public final class EncoderTrainer {
  /** The first steps, in which the learning rate rises. */
  private static final int WARM_UP_STEPS = 100;

  /** Steps after which the listener hears of progress. */
  static final int REPORTED = 10;

  /** Hears how training proceeds. */
  public interface Listener {
    /**
     * @param error of the values of recent batches, with noise
     * @return false to cancel
     */
    boolean shouldContinue(int step, double error);
  }

  private final Kernels kernels;
  private final AttendedTokens tokens;
  private final EncoderSettings settings;

  public EncoderTrainer(Kernels kernels, AttendedTokens tokens, EncoderSettings settings) {
    this.kernels = kernels;
    this.tokens = tokens;
    this.settings = settings;
  }

  /** Returns the trained weights; empty if the listener cancelled. */
  public Optional<EncoderWeights> trainWeights(long seed, Listener listener) {
    return train(seed, listener).map(SerializedEncoder::weights);
  }

  Optional<SerializedEncoder> train(long seed, Listener listener) {
    SplittableRandom random = new SplittableRandom(seed);
    EncoderParameters at =
        new EncoderParameters(tokens.width(), settings.hidden(), settings.bits());
    float[] channelScales = tokens.channelScales();
    float[] numbers = at.initial(random.split(), settings.recipe().codebookSize());
    SplittableRandom noises = random.split();
    BatchLoss loss = new BatchLoss(kernels, tokens, settings.loss(), settings.batch());
    EncoderPass pass = new EncoderPass(kernels, at, channelScales, settings.batch(), true);
    AdamW optimizer = new AdamW(at.count());
    float[] gradient = new float[at.count()];
    float[] noise = new float[settings.batch() * at.logits()];
    float[] decoded = new float[settings.batch() * at.width()];
    float[] toDecoded = new float[decoded.length];
    double recent = 0;
    for (int step = 0; step < settings.steps(); step++) {
      double done = step / (double) settings.steps();
      float temperature = settings.recipe().temperature(done);
      GumbelNoise.fill(noises, noise, settings.recipe().noise(done));
      pass.forward(numbers, loss.draw(random), noise, temperature, decoded);
      loss.gradient(decoded, toDecoded);
      pass.backward(numbers, toDecoded, temperature, gradient);
      double rising = Math.min(1, (step + 1.0) / WARM_UP_STEPS);
      optimizer.step(numbers, gradient, settings.recipe().rate(rising, done));
      recent += loss.lastError() / REPORTED;
      if (step % REPORTED == REPORTED - 1) {
        if (!listener.shouldContinue(step + 1, recent)) {
          return Optional.empty();
        }
        recent = 0;
      }
    }
    return Optional.of(
        new SerializedEncoder(settings.hidden(), settings.bits(), channelScales, numbers));
  }
}
