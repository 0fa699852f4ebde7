package dev.kvasir.cli.lab;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.kernel.FloatActivationKernels;
import dev.kvasir.model.KeyOutliers;
import dev.kvasir.runtime.EngineOptions;
import picocli.CommandLine.Option;

/** How the model of an evaluation differs from normal use, so that it shows what caches do. */
final class TestBedArguments {
  @Option(
      names = "--activations",
      paramLabel = "KIND",
      defaultValue = "bytes",
      description =
          "Activations that quantized weights multiply: bytes, as in normal use; or float, which"
              + " is slower and removes their rounding from the comparison. Default:"
              + " ${DEFAULT-VALUE}.")
  private String activations;

  @Option(
      names = "--outliers",
      paramLabel = "PAIRS:FACTOR",
      description =
          "Multiply this many RoPE channel pairs of each key head by a factor and divide those of"
              + " the queries, such as 4:16. The model computes the same, but its keys are harder"
              + " to quantize. --seed selects the pairs. Default: none.")
  private String outliers;

  private enum Activations {
    BYTES,
    FLOAT
  }

  /** Changes the options of a model; rejects what a cluster would not do. */
  EngineOptions apply(EngineOptions options, long seed, boolean remote) {
    boolean floats =
        OptionValue.oneOf("--activations", activations, Activations.class) == Activations.FLOAT;
    if (remote && (floats || outliers != null)) {
      throw new InvalidInputException(
          "%s changes the model of this process; expected no --on with it"
              .formatted(floats ? "--activations float" : "--outliers"));
    }
    EngineOptions changed =
        floats ? options.withKernels(new FloatActivationKernels(options.kernels())) : options;
    return outliers == null ? changed : changed.withOutliers(KeyOutliers.parse(outliers, seed));
  }
}
