package dev.kvasir.lab.allocate;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A file with the sensitivities of finished texts, so that a cancelled run can resume.
 *
 * <pre>texts/N  (2, layers, widths)  sensitivities of the N-th text</pre>
 */
public final class SensitivityJournal {
  private static final String PART = "texts";
  private static final String SOURCE = PART + "/source";

  private final Path file;
  private final String source;
  private final int layers;
  private final SortedMap<Integer, Sensitivities> known = new TreeMap<>();
  private Profile saved;

  /**
   * @param model fingerprint of the model
   * @param source description of the measured data; texts of a different source or model are
   *     discarded
   * @param texts number of texts
   */
  public SensitivityJournal(Path file, String model, String source, int layers, int texts) {
    this.file = file;
    this.source = source;
    this.layers = layers;
    Profile found = Files.exists(file) ? Profile.open(file) : Profile.empty(model);
    boolean resumes = found.model().equals(model) && found.note(SOURCE).equals(Optional.of(source));
    this.saved = resumes ? found : Profile.empty(model);
    for (int number = 0; number < texts; number++) {
      if (saved.shape(key(number)).isPresent()) {
        float[] floats = saved.floats(key(number), 2, layers, Sensitivities.WIDTHS.size());
        known.put(number, Sensitivities.of(Sensitivities.WIDTHS, layers, floats));
      }
    }
  }

  private static String key(int number) {
    return PART + "/" + number;
  }

  /** Returns the saved sensitivities by text number. */
  public Map<Integer, Sensitivities> known() {
    return Map.copyOf(known);
  }

  public void add(int number, Sensitivities text) {
    saved =
        saved
            .withNote(SOURCE, source)
            .with(key(number), text.floats(), 2, layers, Sensitivities.WIDTHS.size());
    known.put(number, text);
    saved.write(file);
  }

  /** Deletes the journal after all texts are finished. */
  public void delete() {
    AtomicFile.delete(file);
  }
}
