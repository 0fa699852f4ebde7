package dev.kvasir.lab.tune;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.search.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Trials that were finished, beside the profile they are made for: a search that is broken off goes
 * on from there, and one that is asked for more trials begins with those it has.
 */
public final class TuneJournal {
  private static final Gson GSON = new GsonBuilder().setPrettyPrinting().create();

  /**
   * @param search what the trials belong to; another one begins anew
   */
  private record Content(String search, List<Trial> trials) {}

  private final Path file;
  private final String search;

  /**
   * @param model its fingerprint
   * @param text what is read
   */
  public TuneJournal(Path file, TuneSettings settings, String model, String text) {
    this.file = file;
    this.search =
        "%s, %s by %s at %d tokens, %d samples, seed %d, text %08x"
            .formatted(
                model,
                settings.spec(),
                settings.task().label(),
                settings.context(),
                settings.samples(),
                settings.seed(),
                text.hashCode());
  }

  public Path file() {
    return file;
  }

  /** Those of the same search. */
  List<Trial> trials() {
    return read()
        .filter(content -> search.equals(content.search()))
        .map(Content::trials)
        .orElse(List.of());
  }

  private Optional<Content> read() {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(GSON.fromJson(Files.readString(file), Content.class));
    } catch (IOException | JsonParseException e) {
      throw new InvalidInputException(
          "%s: is no list of trials; move it away to begin anew".formatted(file), e);
    }
  }

  void write(List<Trial> trials) {
    AtomicFile.write(file, GSON.toJson(new Content(search, trials)) + "\n");
  }
}
