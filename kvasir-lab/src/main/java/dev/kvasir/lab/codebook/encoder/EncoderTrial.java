package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.HeadGroups;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.LayerEncoder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.encoder.AttendedTokens.RelativeError;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Optional;

/**
 * Compares the learned encoder with residual stages on the same tokens: errors of values and of
 * attention outputs.
 */
public final class EncoderTrial {
  /** Shorter texts have no block with queries after it. */
  public static final int MIN_TOKENS = AttendedReader.MIN_TOKENS;

  /** Beam width of the search for codes. */
  private static final int BEAM = 4;

  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private final AttendedTokens training;
  private final AttendedTokens test;
  private final int kvHeads;
  private final long seed;

  public EncoderTrial(
      LoadedModel model,
      int layer,
      List<int[]> training,
      List<int[]> test,
      WorkerPool workers,
      long seed,
      ProgressListener listener) {
    this.training = AttendedReader.read(model, layer, training, workers, listener);
    this.test = AttendedReader.read(model, layer, test, workers, listener);
    this.kvHeads = model.config().kvHeads();
    this.seed = seed;
  }

  /** Trains an encoder and returns its error; empty if cancelled. */
  public Optional<RelativeError> train(EncoderSettings settings, ProgressListener listener) {
    return new EncoderTrainer(kernels, training, settings)
        .trainWeights(
            seed,
            (step, error) -> {
              listener.progress(step, settings.steps());
              return !listener.isCancelled();
            })
        .map(weights -> EncoderError.of(weights, kvHeads, test));
  }

  /** Returns the error of residual stages. */
  public RelativeError ofStages(LayerCodebooks books) {
    int tokens = test.count();
    HeadGroups groups = books.valueGroups();
    HeadGroups whole = new HeadGroups(kvHeads, 1, groups.headDim());
    float[] heads = new float[test.x().length];
    float[] grouped = new float[heads.length];
    whole.split(test.x(), tokens, heads);
    groups.join(heads, tokens, 0, tokens, grouped);
    int words = books.values().getFirst().stages().stages();
    short[] codes = new short[groups.groups() * tokens * words];
    short[] scales = new short[tokens];
    LayerEncoder encoder = new LayerEncoder(kernels, books.values(), BEAM);
    encoder.encode(grouped, tokens, codes, scales);
    encoder.decode(codes, scales, tokens, grouped);
    groups.split(grouped, tokens, heads);
    float[] back = new float[heads.length];
    whole.join(heads, tokens, 0, tokens, back);
    return test.error(kernels, back);
  }
}
