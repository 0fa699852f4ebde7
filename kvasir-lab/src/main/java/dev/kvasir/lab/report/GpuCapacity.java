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
 * As many sequences as fill a number of bytes on a card, and what a step of all of them takes, by
 * kind of cache: what {@code bench gpu --fill} leaves.
 *
 * @param tokens of each sequence
 * @param kinds fewest sequences first
 */
public record GpuCapacity(long bytes, int tokens, List<Kind> kinds) {
  /** The name of a number of a file: bytes that are filled. */
  public static final String BYTES = "fill bytes";

  private static final Pattern STEP =
      Pattern.compile("(\\d{1,6})x(\\d{1,7}):\\S+ (\\S+) step micros");

  /**
   * @param name as caches are typed
   */
  record Kind(String name, int sequences, double micros) {
    /** Of all sequences, each of which has one token more after a step. */
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
