package dev.kvasir.lab.dataset;

import dev.kvasir.error.InvalidInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/**
 * A benchmark in a JSON Lines file.
 *
 * @param name name in tables
 * @param file name of the file in the user's folder
 * @param source where to get the file, and the fields that it has
 * @param metrics names of its metrics, in the order of judges
 * @param standIn name of the resource with lines of our own in the same format
 * @param parser turns a line into an item; it gets the folder for files that change prompts
 */
public record Dataset(
    String name,
    String file,
    String source,
    List<String> metrics,
    String standIn,
    BiFunction<JsonLine, Folder, Item> parser) {

  /** The user's folder; a quick run has none. */
  public record Folder(Path path) {
    static final Folder NONE = new Folder(null);

    boolean has(String name) {
      return path != null && Files.exists(path.resolve(name));
    }
  }

  /** Returns a data set with one metric. */
  static Dataset of(
      String name,
      String file,
      String source,
      String standIn,
      BiFunction<JsonLine, Folder, Item> parser) {
    return new Dataset(name, file, source, List.of("score"), standIn, parser);
  }

  /** Returns the sentence about what is missing; empty if the folder has the file. */
  public String missingFrom(Path folder) {
    return Files.exists(folder.resolve(file))
        ? ""
        : "%s has no %s; %s".formatted(folder, file, source);
  }

  /** Reads up to {@code most} items of the user's file, spread evenly over it. */
  public List<Item> read(Path folder, int most) {
    if (!Files.exists(folder.resolve(file))) {
      throw new InvalidInputException(missingFrom(folder));
    }
    Folder place = new Folder(folder);
    List<JsonLine> lines = JsonLine.readAll(folder.resolve(file));
    int count = Math.min(most, lines.size());
    return IntStream.range(0, count)
        .mapToObj(i -> lines.get((int) ((long) i * lines.size() / count)))
        .map(line -> parser.apply(line, place))
        .toList();
  }

  /** Returns the items of our own in this format. */
  public List<Item> standIns() {
    return JsonLine.parseAll(StandIns.lines(standIn), standIn).stream()
        .map(line -> parser.apply(line, Folder.NONE))
        .toList();
  }
}
