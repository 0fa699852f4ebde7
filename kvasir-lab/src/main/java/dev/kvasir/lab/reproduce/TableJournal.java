package dev.kvasir.lab.reproduce;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A file with the finished parts of a table. Parts found under other conditions are discarded. */
public final class TableJournal {
  private static final String CONDITIONS = "conditions";
  private static final String PARTS = "parts";
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  private final Path file; // null if nothing is kept
  private JsonObject parts = new JsonObject();
  private String conditions = "";

  private TableJournal(Path file) {
    this.file = file;
  }

  /** Returns a journal that keeps nothing beyond the run. */
  public static TableJournal none() {
    return new TableJournal(null);
  }

  /** Opens the journal next to a result file. */
  public static TableJournal nextTo(Path result) {
    Path file = result.resolveSibling(result.getFileName() + ".journal");
    AtomicFile.checkWritable(file);
    TableJournal journal = new TableJournal(file);
    if (Files.exists(file)) {
      journal.read();
    }
    return journal;
  }

  private void read() {
    try {
      JsonObject all = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
      conditions = all.get(CONDITIONS).getAsString();
      parts = all.getAsJsonObject(PARTS);
    } catch (IOException | JsonParseException | IllegalStateException | NullPointerException e) {
      throw new InvalidInputException(
          "%s: is no journal of a table; move it away, or write to another file".formatted(file),
          e);
    }
  }

  /** Declares everything that parts depend on. */
  public void begin(String current) {
    if (!current.equals(conditions)) {
      conditions = current;
      parts = new JsonObject();
    }
  }

  Optional<JsonElement> part(String name) {
    return Optional.ofNullable(parts.get(name));
  }

  void put(String name, JsonElement value) {
    parts.add(name, value);
    if (file != null) {
      JsonObject all = new JsonObject();
      all.addProperty(CONDITIONS, conditions);
      all.add(PARTS, parts);
      AtomicFile.write(file, GSON.toJson(all) + "\n");
    }
  }

  /** Deletes the file after the results have been written elsewhere. */
  public void delete() {
    if (file != null) {
      AtomicFile.delete(file);
    }
  }
}
