package dev.kvasir.cli.lab;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.reproduce.CommandRunner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Runs other commands in this process and reads the figures that they write. */
final class SubcommandRunner implements CommandRunner {
  private final CommandSpec command;
  private final Streams streams;

  SubcommandRunner(CommandSpec command, Streams streams) {
    this.command = command;
    this.streams = streams;
  }

  @Override
  public Optional<Map<String, Double>> run(List<String> arguments) {
    CommandLine root = command.root().commandLine();
    if (!root.getSubcommands().containsKey(arguments.getFirst())) {
      throw new InvalidInputException(
          "the command '%s' is not in this installation; expected the module kvasir-bench"
              .formatted(arguments.getFirst()));
    }
    streams.note("kvasir " + String.join(" ", arguments));
    try {
      Path folder = Files.createTempDirectory("kvasir-reproduce");
      Path file = folder.resolve("figures.json");
      try {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of("--json", file.toString()));
        int exit = root.execute(all.toArray(String[]::new));
        return exit == 0
            ? MeasurementsFile.read(file).map(SubcommandRunner::numbers)
            : Optional.empty();
      } finally {
        Files.deleteIfExists(file);
        Files.deleteIfExists(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Double> numbers(JsonObject all) {
    Map<String, Double> numbers = new LinkedHashMap<>();
    for (Map.Entry<String, JsonElement> entry : all.entrySet()) {
      JsonElement value = entry.getValue();
      if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()) {
        numbers.put(entry.getKey(), value.getAsDouble());
      }
    }
    return numbers;
  }
}
