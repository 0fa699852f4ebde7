package dev.kvasir.cli.serve;

import dev.kvasir.ToolFormat;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.store.StoreAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** How requests run: caches, memory and lengths. */
public final class ServiceArguments {
  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      description =
          MethodHelp.SPEC_OR_AUTO
              + " Repeat the option to let requests choose; the first cache is the default. Where"
              + " several models are served, NAME=SPEC is for one of them. Default: fp16.")
  private List<String> cacheSpecs = new ArrayList<>();

  @Option(
      names = "--kv-memory",
      paramLabel = "SIZE",
      defaultValue = "2GiB",
      description =
          "What the caches of all conversations with a model may take together. Default:"
              + " ${DEFAULT-VALUE}.")
  private String memory;

  @Option(
      names = "--store",
      paramLabel = "PLACE",
      description =
          "Keep prefixes of conversations beyond this process, in a folder (DIR or"
              + " DIR,50GiB) or in Redis (redis://HOST:PORT). May be repeated; folders are"
              + " searched before servers. Default: no store.")
  private List<String> stores = new ArrayList<>();

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Maximum tokens of a prompt and its answer. Default: the model's context.")
  private Integer context;

  @Option(
      names = "--answer-tokens",
      paramLabel = "N",
      defaultValue = "2048",
      description =
          "Maximum tokens of an answer whose request sets no limit. Memory is reserved"
              + " for them. Default: ${DEFAULT-VALUE}.")
  private int answerTokens;

  @Option(
      names = "--max-sequences",
      paramLabel = "N",
      defaultValue = "64",
      description =
          "Maximum number of answers that are generated at once. Default:" + " ${DEFAULT-VALUE}.")
  private int sequences;

  @Option(
      names = "--tool-format",
      paramLabel = "FORMAT",
      description =
          "How the model writes tool calls, as in hermes, llama3, mistral or harmony;"
              + " docs/server.md lists all. Default: recognised from the chat template.")
  private String toolFormat;

  /** Returns the cache specs as typed. */
  List<String> typedSpecs() {
    return cacheSpecs;
  }

  boolean hasStore() {
    return !stores.isEmpty();
  }

  boolean hasToolFormat() {
    return toolFormat != null;
  }

  long cacheBytes() {
    return ByteCount.parse("--kv-memory", memory);
  }

  /**
   * Parses cache specs; none stand for the default.
   *
   * @param auto the cache that auto stands for
   */
  static List<CacheSpec> parse(List<String> typed, Supplier<CacheSpec> auto) {
    return typed.isEmpty()
        ? List.of(CacheSpec.DEFAULT)
        : typed.stream()
            .distinct()
            .map(spec -> AutoCache.isAuto(spec) ? auto.get() : CacheSpec.parse(spec))
            .distinct()
            .toList();
  }

  /** Returns the options of a service with these caches. */
  public ServerOptions options(List<CacheSpec> specs) {
    cacheBytes();
    ServerOptions defaults = ServerOptions.defaults();
    return defaults
        .withCacheSpecs(specs)
        .withLengths(
            context == null ? Integer.MAX_VALUE : OptionValue.atLeast("--context", context, 2),
            OptionValue.atLeastOne("--answer-tokens", answerTokens))
        .withConcurrency(
            OptionValue.between("--max-sequences", sequences, 1, 4096), defaults.maxQueued())
        .withStores(stores())
        .withToolFormat(Optional.ofNullable(toolFormat).map(ServiceArguments::toolFormat));
  }

  private static ToolFormat toolFormat(String label) {
    try {
      return ToolFormat.parse(label);
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException("--tool-format: " + e.getMessage());
    }
  }

  /** Returns the tokens of the longest conversation. */
  int tokens(ModelOutline outline) {
    return context == null
        ? outline.config().contextLength()
        : outline.requireContext("--context", OptionValue.atLeast("--context", context, 2));
  }

  /** Returns the same for one of several models, whose contexts differ. */
  int tokensAtMost(ModelOutline outline) {
    int limit = outline.config().contextLength();
    return context == null ? limit : Math.min(limit, context);
  }

  /**
   * Rejects memory that does not hold one answer to a request that sets no bound.
   *
   * @param limit tokens of the longest conversation
   * @param bytesOf what a conversation of some tokens takes
   */
  void requireMemory(CacheSpec spec, int limit, IntToLongFunction bytesOf) {
    int tokens = Math.min(limit, answerTokens + 1);
    long least = bytesOf.applyAsLong(tokens);
    if (least > cacheBytes()) {
      throw new InvalidInputException(
          "--kv-memory is %s; expected at least %s, which an answer of %d tokens may take with '%s'"
              .formatted(memory, Units.typedBytes(least), tokens - 1, spec));
    }
  }

  private List<StoreAddress> stores() {
    List<StoreAddress> places = stores.stream().map(StoreAddress::parse).toList();
    places.forEach(StoreAddress::check);
    return places;
  }
}
