package dev.kvasir.cli.models;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.hub.CachedModel;
import dev.kvasir.hub.CachedModels;
import dev.kvasir.hub.HubCache;
import dev.kvasir.hub.HubSettings;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Lists the models in the cache. */
@Command(
    name = "list",
    description = {
      "List downloaded models by the names that --model takes.",
      "Models that Python's tools downloaded are included."
    },
    footer = "  kvasir list")
public final class ListModels implements Callable<Integer> {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");

  private final Streams streams;

  public ListModels(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    HubCache cache = new HubCache(HubSettings.ofThisProcess());
    List<CachedModel> models = new CachedModels(cache).all();
    if (models.isEmpty()) {
      streams.note("no models are in %s; 'kvasir pull' downloads one".formatted(cache.root()));
      return 0;
    }
    int width = models.stream().mapToInt(model -> model.name().length()).max().orElse(0);
    String columns = "%-" + Math.max(width, 4) + "s  %10s  %-16s%n";
    streams.out().printf(columns, "name", "bytes", "when");
    for (CachedModel model : models) {
      String when = TIME.format(model.changedAt().atZone(ZoneId.systemDefault()));
      streams.out().printf(columns, model.name(), Units.bytes(model.bytes()), when);
    }
    streams.out().flush();
    return 0;
  }
}
