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
 * A file with finished trials next to the profile. A cancelled search resumes from it, and a search
 * with more trials starts with those it has.
 */
public final class TuneJournal {
  private static final Gson GSON = new GsonBuilder().setPrettyPrinting().create();

  /**
   * @param search description of the search; trials of a different search are discarded
   */
  private record Content(String search, List<Trial> trials) {}

  private final Path file;
  private final String search;

  /**
   * @param model fingerprint of the model
   * @param text the text that trials read
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
