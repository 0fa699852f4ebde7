package dev.kvasir.cli.run;

import dev.kvasir.LoadOptions;
import dev.kvasir.Prefill;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodWords;
import dev.kvasir.cli.arguments.OptionValue;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a model is run: threads, context and the cache of keys and values. */
final class RunArguments {
  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "fp16",
      description = {MethodWords.ALL, "  Default: ${DEFAULT-VALUE}."})
  private String cache;

  @Option(
      names = "--prefill",
      paramLabel = "MODE",
      defaultValue = "chunked",
      description = {
        "When a prompt is packed: chunked, while it is read, so that memory stays small; or exact,",
        "  when all of it has been read in full precision. Default: ${DEFAULT-VALUE}."
      })
  private String prefill;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Tokens that the context may hold. Default: as many as the model can.")
  private Integer context;

  @Mixin private LoadArguments load;

  LoadOptions loadOptions() {
    return load.options();
  }

  SessionOptions sessionOptions() {
    SessionOptions options =
        SessionOptions.defaults()
            .withCache(CacheSpec.parse(cache))
            .withPrefill(OptionValue.oneOf("--prefill", prefill, Prefill.class));
    return context == null
        ? options
        : options.withContextLimit(OptionValue.atLeastOne("--context", context));
  }
}
