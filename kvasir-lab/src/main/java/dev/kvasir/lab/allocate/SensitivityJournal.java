package dev.kvasir.lab.allocate;

import dev.kvasir.format.WholeFile;
import dev.kvasir.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What was measured of the first texts, kept in a file until all of them are done, so that a run
 * which was ended goes on after the last finished text.
 *
 * <pre>texts/N  (2, layers, widths)  sensitivities of the N-th text</pre>
 */
public final class SensitivityJournal {
  private static final String PART = "texts";
  private static final String SOURCE = PART + "/source";

  private final Path file;
  private final String source;
  private final int layers;
  private final List<Sensitivities> known = new ArrayList<>();
  private Profile kept;

  /**
   * @param model fingerprint of the model
   * @param source in words, what is measured on; texts of another source or model are forgotten
   */
  public SensitivityJournal(Path file, String model, String source, int layers) {
    this.file = file;
    this.source = source;
    this.layers = layers;
    Profile found = Files.exists(file) ? Profile.open(file) : Profile.empty(model);
    boolean goesOn = found.model().equals(model) && found.note(SOURCE).equals(Optional.of(source));
    this.kept = goesOn ? found : Profile.empty(model);
    while (kept.shape(key()).isPresent()) {
      float[] floats = kept.floats(key(), 2, layers, Sensitivities.WIDTHS.size());
      known.add(Sensitivities.of(Sensitivities.WIDTHS, layers, floats));
    }
  }

  private String key() {
    return PART + "/" + known.size();
  }

  /** Of the first texts. */
  public List<Sensitivities> known() {
    return List.copyOf(known);
  }

  /** Keeps those of the next text. */
  public void add(Sensitivities text) {
    kept =
        kept.withNote(SOURCE, source)
            .with(key(), text.floats(), 2, layers, Sensitivities.WIDTHS.size());
    known.add(text);
    kept.write(file);
  }

  /** All texts are done. */
  public void delete() {
    WholeFile.delete(file);
  }
}
