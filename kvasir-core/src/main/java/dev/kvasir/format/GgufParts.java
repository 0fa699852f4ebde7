package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A model split into several GGUF files, {@code name-00001-of-00003.gguf} and so on. Each has its
 * own tensors and its position; the first has the metadata of the model.
 *
 * <pre>
 * split.no            index of the part, from 0
 * split.count         number of parts
 * split.tensors.count number of tensors in all parts
 * </pre>
 */
final class GgufParts {
  private static final Pattern NAME = Pattern.compile("(.+)-(\\d{5})-of-(\\d{5})\\.gguf");

  private final Path given;
  private final GgufHeader givenHeader;
  private final Arena arena;
  private final String stem;
  private final int givenIndex;
  private final int count;
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();
  private final Map<String, String> fileOfTensor = new HashMap<>();

  private GgufParts(Path given, GgufHeader givenHeader, Arena arena, Matcher name) {
    this.given = given;
    this.givenHeader = givenHeader;
    this.arena = arena;
    this.stem = name.group(1);
    this.givenIndex = Integer.parseInt(name.group(2)) - 1;
    this.count = Integer.parseInt(name.group(3));
  }

  /** Returns whether a file is one of several; a merged file may have a count of 0. */
  static boolean isSplit(GgufHeader header) {
    return header.metadata().integer("split.count").orElse(1) > 1;
  }

  /**
   * Returns all files of a model by name, given any of them. Files of another model may have the
   * same stem, so the count in the name must match too.
   */
  static List<Path> siblings(Path given) {
    Matcher name = NAME.matcher(given.getFileName().toString());
    if (!name.matches()) {
      return List.of(given);
    }
    Path folder = given.toAbsolutePath().getParent();
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(file -> Files.isRegularFile(file) && isSibling(name, file))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(folder), e);
    }
  }

  private static boolean isSibling(Matcher given, Path file) {
    Matcher other = NAME.matcher(file.getFileName().toString());
    return other.matches()
        && other.group(1).equals(given.group(1))
        && other.group(3).equals(given.group(3));
  }

  /**
   * Returns the header of the whole model.
   *
   * @param given any part
   * @param header the header of that part
   * @param arena arena in which the others are mapped
   */
  static GgufHeader join(Path given, GgufHeader header, Arena arena) {
    int index = header.metadata().requireInteger("split.no");
    int count = header.metadata().requireInteger("split.count");
    if (index >= count) {
      throw new InvalidInputException(
          "%s: 'split.no' is %d; expected 0 to %d".formatted(given, index, count - 1));
    }
    Matcher name = NAME.matcher(given.getFileName().toString());
    if (!name.matches()) {
      throw new InvalidInputException(
          "%s: is part %d of %d; the others are found by its name, which must end with %s"
              .formatted(given, index + 1, count, ending(index, count)));
    }
    return new GgufParts(given, header, arena, name).joined();
  }

  private GgufHeader joined() {
    requirePosition(givenHeader, givenIndex);
    GgufHeader first = part(0);
    int total = first.metadata().requireInteger("split.tensors.count");
    add(first);
    for (int index = 1; index < count; index++) {
      GgufHeader part = part(index);
      requireSameTotal(part, first, total);
      add(part);
    }
    if (tensors.size() != total) {
      throw new InvalidInputException(
          "%s: 'split.tensors.count' is %d; its %d parts hold %d tensors"
              .formatted(first.fileName(), total, count, tensors.size()));
    }
    return new GgufHeader(first.fileName(), first.metadata(), tensors);
  }

  private GgufHeader part(int index) {
    if (index == givenIndex) {
      return givenHeader;
    }
    Path file = given.resolveSibling(stem + ending(index, count));
    if (!Files.exists(file)) {
      throw new InvalidInputException(
          "%s: no such file; %s is one of %d parts".formatted(file, given, count));
    }
    GgufHeader part = GgufHeader.read(file.toString(), MappedFile.open(file, arena).bytes());
    requirePosition(part, index);
    return part;
  }

  private static String ending(int index, int count) {
    return "-%05d-of-%05d.gguf".formatted(index + 1, count);
  }

  private void requirePosition(GgufHeader part, int index) {
    requireAsNamed(part, "split.count", count);
    requireAsNamed(part, "split.no", index);
  }

  private static void requireAsNamed(GgufHeader part, String key, int expected) {
    int found = part.metadata().requireInteger(key);
    if (found != expected) {
      throw new InvalidInputException(
          "%s: '%s' is %d; by its name, %d was expected"
              .formatted(part.fileName(), key, found, expected));
    }
  }

  /** Parts other than the first may omit the total. */
  private static void requireSameTotal(GgufHeader part, GgufHeader first, int total) {
    int found = part.metadata().integer("split.tensors.count").orElse(total);
    if (found != total) {
      throw new InvalidInputException(
          "%s: 'split.tensors.count' is %d; %s says %d"
              .formatted(part.fileName(), found, first.fileName(), total));
    }
  }

  private void add(GgufHeader part) {
    for (Tensor tensor : part.tensors().values()) {
      String other = fileOfTensor.put(tensor.name(), part.fileName());
      if (other != null) {
        throw new InvalidInputException(
            "%s: tensor '%s' appears in %s as well"
                .formatted(part.fileName(), Excerpt.of(tensor.name()), other));
      }
      tensors.put(tensor.name(), tensor);
    }
  }
}
