package dev.kvasir.cli.models;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.hub.CachedModels;
import dev.kvasir.hub.HubCache;
import dev.kvasir.hub.HubReference;
import dev.kvasir.hub.HubSettings;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Removes models from the cache. */
@Command(
    name = "rm",
    description = {
      "Remove downloaded models.",
      "A name without a quantization or revision removes all that was downloaded of the repository."
    },
    footer = {"  kvasir rm hf:Qwen/Qwen3-0.6B-GGUF:Q8_0", "  kvasir rm hf:Qwen/Qwen3-0.6B-GGUF"})
public final class RemoveModel implements Callable<Integer> {
  private final Streams streams;

  @Parameters(
      paramLabel = "MODEL",
      arity = "1..*",
      description = "A name, as 'kvasir list' shows it.")
  private List<String> models;

  public RemoveModel(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    CachedModels cached = new CachedModels(new HubCache(HubSettings.ofThisProcess()));
    List<HubReference> references = models.stream().map(HubReference::parse).toList();
    for (HubReference reference : references) {
      long bytes = cached.remove(reference);
      streams.out().println("removed %s, %s".formatted(reference, Units.bytes(bytes)));
      streams.out().flush();
    }
    return 0;
  }
}
