package dev.kvasir.lab.report;

import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The number of sequences that fit a given GPU memory and the time of a decoding step, by cache;
 * the output of {@code bench gpu --fill}.
 *
 * @param tokens tokens of each sequence
 * @param kinds caches, fewest sequences first
 */
public record GpuCapacity(long bytes, int tokens, List<Kind> kinds) {
  /** Name of the number of bytes to fill. */
  public static final String BYTES = "fill bytes";

  private static final Pattern STEP =
      Pattern.compile("(\\d{1,6})x(\\d{1,7}):\\S+ (\\S+) step micros");

  /**
   * @param name cache spec as typed
   */
  record Kind(String name, int sequences, double micros) {
    /** Returns the throughput of all sequences, which each gain one token in a step. */
    double tokensPerSecond() {
      return 1e6 * sequences / micros;
    }
  }

  public static GpuCapacity of(Path file) {
    JsonObject numbers =
        MeasurementsFile.read(file)
            .filter(all -> all.has(BYTES))
            .orElseThrow(() -> new InvalidInputException(message(file)));
    List<Kind> kinds = new ArrayList<>();
    int tokens = 0;
    for (String name : numbers.keySet()) {
      Matcher step = STEP.matcher(name);
      if (step.matches()) {
        int sequences = Integer.parseInt(step.group(1));
        kinds.add(new Kind(step.group(3), sequences, numbers.get(name).getAsDouble()));
        tokens = Integer.parseInt(step.group(2));
      }
    }
    if (kinds.isEmpty()) {
      throw new InvalidInputException(message(file));
    }
    kinds.sort(Comparator.comparingInt(Kind::sequences));
    return new GpuCapacity(numbers.get(BYTES).getAsLong(), tokens, List.copyOf(kinds));
  }

  private static String message(Path file) {
    return "%s: holds no steps of a full card; expected what 'bench gpu --fill --json' leaves"
        .formatted(file);
  }

  public void write(Path file) {
    AtomicFile.write(file, new GpuCapacityPlot(this).svg());
  }
}
