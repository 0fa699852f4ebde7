package dev.kvasir.cli;

import dev.kvasir.LoadOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import picocli.CommandLine.Option;

/** How a model is run: threads, context and the cache of keys and values. */
final class RunArguments {
  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "fp16",
      description = {
        "How keys and values are kept: fp16, bf16, fp32, or kivi:BITS[,KEY=VALUE...] with bits",
        "  1, 2, 3, 4, 8 and keys k, v (bits), group (32, 64, 128), window, sinks (tokens).",
        "  Default: ${DEFAULT-VALUE}."
      })
  private String cache;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Tokens that the context may hold. Default: as many as the model can.")
  private Integer context;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that work together. Default: one for each processor.")
  private Integer threads;

  LoadOptions loadOptions() {
    LoadOptions options = LoadOptions.defaults();
    return threads == null
        ? options
        : options.withThreads(OptionValue.atLeastOne("--threads", threads));
  }

  SessionOptions sessionOptions() {
    SessionOptions options = SessionOptions.defaults().withCache(CacheSpec.parse(cache));
    return context == null
        ? options
        : options.withContextLimit(OptionValue.atLeastOne("--context", context));
  }
}
