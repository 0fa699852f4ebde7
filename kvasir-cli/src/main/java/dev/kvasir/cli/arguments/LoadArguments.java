package dev.kvasir.cli.arguments;

import dev.kvasir.error.OptionValue;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.EngineOptions;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options for loading a model, common to all commands. */
public final class LoadArguments {
  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Number of threads. Default: one per processor.")
  private Integer threads;

  @Option(
      names = "--kernels",
      paramLabel = "KIND",
      description =
          "Kernels to compute with: native or java. Both produce the same text. Default:"
              + " the fastest that can run; 'kvasir inspect --kernels' shows which.")
  private String kernels;

  @Option(
      names = "--profile",
      paramLabel = "FILE",
      description =
          "Calibration profile of the model, for caches that need one. Default: MODEL.profile"
              + " beside MODEL.gguf, kvasir.profile in the model's folder, or what 'kvasir"
              + " calibrate' saved for the model; the bundled model has its own.")
  private Path profile;

  @Option(
      names = "--model-context",
      paramLabel = "N",
      description =
          "Use the model with a context of N tokens. This changes RoPE in models with"
              + " LongRoPE, such as Phi 3. Default: the model's context.")
  private Integer context;

  /** Returns the profile file, if given. */
  public Optional<Path> profile() {
    return Optional.ofNullable(profile);
  }

  /** Returns the context length in tokens; 0 if not given. */
  public int context() {
    return context == null ? 0 : context;
  }

  /** Returns a configuration for the given context; the model's own if none was given. */
  ModelConfig fitted(ModelConfig config) {
    return context == null
        ? config
        : config.withContextLength(OptionValue.atLeastOne("--model-context", context));
  }

  public EngineOptions options() {
    if (kernels != null) {
      KernelChoice.request(kernels, "--kernels %s".formatted(kernels));
    }
    EngineOptions options = EngineOptions.defaults();
    if (threads != null) {
      options = options.withThreads(OptionValue.atLeastOne("--threads", threads));
    }
    if (context != null) {
      options = options.withContext(OptionValue.atLeastOne("--model-context", context));
    }
    return profile == null ? options : options.withProfile(Profile.open(profile));
  }
}
