package dev.kvasir.lab.eval;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A file with the results of an evaluation so far, by row and task. A run that was cancelled
 * resumes after the last finished task.
 */
public final class EvaluationJournal {
  private static final Gson GSON =
      new GsonBuilder().serializeSpecialFloatingPointValues().disableHtmlEscaping().create();

  private static final class Entry {
    private Footprint footprint;
    private final Map<String, JsonElement> scores = new LinkedHashMap<>();
  }

  private static final class Content {
    private final String conditions;
    private final Map<String, Entry> rows = new LinkedHashMap<>();

    Content(String conditions) {
      this.conditions = conditions;
    }
  }

  private final Path file; // null if nothing is saved
  private final String build;
  private final List<Path> parts;
  private final List<Path> mergedParts = new ArrayList<>();
  private Content content;

  private EvaluationJournal(Path file, String build, List<Path> parts) {
    this.file = file;
    this.build = build;
    this.parts = List.copyOf(parts);
    this.content = new Content("");
  }

  /** Returns a journal that saves nothing. */
  public static EvaluationJournal none() {
    return new EvaluationJournal(null, "", List.of());
  }

  /**
   * Opens or creates a journal. Rejects a file that is not writable or not a journal.
   *
   * @param build version whose results may be reused
   */
  public static EvaluationJournal at(Path file, String build) {
    return at(file, build, List.of());
  }

  /**
   * Opens a journal and merges the journals of other processes, each with some of the rows.
   *
   * @param parts the other journals; those with equal conditions are deleted with this one
   */
  public static EvaluationJournal at(Path file, String build, List<Path> parts) {
    AtomicFile.checkWritable(file);
    EvaluationJournal journal = new EvaluationJournal(file, build, parts);
    if (Files.exists(file)) {
      journal.content = read(file);
    }
    return journal;
  }

  private static Content read(Path file) {
    try {
      Content found = GSON.fromJson(Files.readString(file), Content.class);
      if (found != null && found.conditions != null && found.rows != null) {
        return found;
      }
    } catch (IOException | JsonParseException e) {
      throw noJournal(file, e);
    }
    throw noJournal(file, null);
  }

  private static InvalidInputException noJournal(Path file, Exception cause) {
    return new InvalidInputException(
        "%s: is no journal of an evaluation; move it away, or write to another file"
            .formatted(file),
        cause);
  }

  /** Returns whether results under these conditions, and no others, are held. */
  boolean holds(String conditions) {
    return !content.rows.isEmpty() && content.conditions.equals(all(conditions));
  }

  private String all(String conditions) {
    return build + "; " + conditions;
  }

  /** Declares the conditions of the run and discards results found under different ones. */
  void begin(String conditions) {
    String all = all(conditions);
    if (!content.conditions.equals(all)) {
      content = new Content(all);
    }
    mergedParts.clear();
    for (Path part : parts) {
      Content found = read(part);
      if (found.conditions.equals(all)) {
        merge(found);
        mergedParts.add(part);
      }
    }
  }

  /** Keeps existing results; rows that several processes have measured have equal values. */
  private void merge(Content part) {
    part.rows.forEach(
        (name, found) -> {
          Entry own = entry(name);
          found.scores.forEach(own.scores::putIfAbsent);
          if (own.footprint == null) {
            own.footprint = found.footprint;
          }
        });
  }

  Map<Task, Score> scores(String row) {
    Map<Task, Score> scores = new EnumMap<>(Task.class);
    Entry entry = content.rows.get(row);
    if (entry != null) {
      for (Task task : Task.values()) {
        if (entry.scores.containsKey(task.label())) {
          scores.put(task, GSON.fromJson(entry.scores.get(task.label()), task.scoreType()));
        }
      }
    }
    return scores;
  }

  Optional<Footprint> footprint(String row) {
    return Optional.ofNullable(content.rows.get(row)).map(entry -> entry.footprint);
  }

  void add(String row, Task task, Score score) {
    entry(row).scores.put(task.label(), GSON.toJsonTree(score));
    write();
  }

  void add(String row, Footprint footprint) {
    entry(row).footprint = footprint;
    write();
  }

  private Entry entry(String row) {
    return content.rows.computeIfAbsent(row, name -> new Entry());
  }

  private void write() {
    if (file != null) {
      AtomicFile.write(file, GSON.toJson(content) + "\n");
    }
  }

  /** Deletes the journal after the results have been written elsewhere. */
  public void delete() {
    if (file != null) {
      AtomicFile.delete(file);
      mergedParts.forEach(AtomicFile::delete);
    }
  }
}
