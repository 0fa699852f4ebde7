package dev.kvasir.cli.serve;

import dev.kvasir.cli.arguments.AdapterArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.cli.terminal.MachineMemory;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.server.ServableModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The model of a server, or several. */
final class ServedModelArguments {
  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description =
          ModelArguments.DESCRIPTION
              + " Repeat the option to serve several models, each loaded when a request needs it;"
              + " the first is the default. Default: the small bundled model.")
  private List<ModelLocation> locations = new ArrayList<>();

  @Option(
      names = "--models-dir",
      paramLabel = "DIR",
      description =
          "Serve the models in this folder: GGUF files, and folders with a model. Each is loaded"
              + " when a request needs it; the least recently used is unloaded when --memory is"
              + " short.")
  private Path folder;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description =
          "With several models: what their weights and --kv-memory for each may take together."
              + " Default: three quarters of the machine's memory.")
  private String memory;

  @Mixin private AdapterArguments lora;

  boolean hasAdapters() {
    return !lora.isEmpty();
  }

  boolean isSeveral() {
    return folder != null || locations.size() > 1;
  }

  /** Returns the only model. */
  ModelArguments single() {
    return ModelArguments.of(locations.isEmpty() ? null : locations.getFirst(), lora);
  }

  /** Rejects options that need several models. */
  void checkSingle() {
    if (memory != null) {
      throw new InvalidInputException(
          "--memory is %s; expected several models, or --kv-memory for the KV caches of one"
              .formatted(memory));
    }
  }

  long memoryBytes() {
    if (memory != null) {
      return ByteCount.parse("--memory", memory);
    }
    return MachineMemory.total().stream()
        .map(total -> total / 4 * 3)
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the memory of this machine is unknown; expected --memory SIZE"));
  }

  /** Returns the name of the model that requests without a name get. */
  Optional<String> defaultName() {
    return locations.stream().findFirst().map(first -> ServableModel.nameOf(first.path()));
  }

  /** Returns the models by name: those given first, then those of the folder. */
  Map<String, ModelArguments> byName(Streams streams) {
    Map<String, ModelArguments> models = new LinkedHashMap<>();
    for (ModelLocation location : locations) {
      String name = ServableModel.nameOf(location.path());
      if (models.put(name, ModelArguments.of(location)) != null) {
        throw new InvalidInputException(
            "--model names two models '%s'; expected names that differ".formatted(name));
      }
    }
    if (folder != null) {
      new ModelFolder(folder)
          .models()
          .forEach(
              (name, path) ->
                  models.putIfAbsent(
                      name, ModelArguments.of(new ModelLocation(path.toString(), streams))));
    }
    return models;
  }
}
