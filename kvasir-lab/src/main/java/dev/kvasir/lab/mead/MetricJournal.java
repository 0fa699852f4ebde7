package dev.kvasir.lab.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file with the metric sums of processed texts, written after each text so that a cancelled run
 * can resume.
 */
public final class MetricJournal {
  private static final String PART = "metric";
  private static final String SOURCE = PART + "/source";

  private final Path file;
  private final String model;
  private final String source;
  private final CacheShape shape;
  private MetricSums prose;
  private MetricSums margins;
  private int texts;
  private int questionTexts;

  /**
   * @param model fingerprint of the model
   * @param source description of the texts; a file of a different source or model is discarded
   */
  public MetricJournal(Path file, String model, String source, CacheShape shape) {
    this.file = file;
    this.model = model;
    this.source = source;
    this.shape = shape;
    this.prose = sums();
    this.margins = sums();
    if (Files.exists(file)) {
      resume(Profile.open(file));
    }
  }

  private MetricSums sums() {
    return new MetricSums(shape.layers(), shape.kvHeads(), shape.keyDim(), shape.valueDim());
  }

  private void resume(Profile saved) {
    if (!saved.model().equals(model) || !saved.note(SOURCE).equals(Optional.of(source))) {
      return;
    }
    long[] length = saved.shape(PART + "/prose").orElseThrow();
    prose.add(saved.floats(PART + "/prose", length));
    margins.add(saved.floats(PART + "/margins", length));
    float[] counts = saved.floats(PART + "/done", 2);
    texts = (int) counts[0];
    questionTexts = (int) counts[1];
  }

  int texts() {
    return texts;
  }

  /**
   * Adds a text. Sums are rounded as in the file, so that a resumed run gets the same result.
   *
   * @param text {@link MetricSums} of the next text, as floats
   */
  void add(float[] text, boolean hasAnswers) {
    MetricSums sum = sums();
    sum.add((hasAnswers ? margins : prose).floats());
    sum.add(text);
    if (hasAnswers) {
      margins = sum;
    } else {
      prose = sum;
    }
    texts++;
    questionTexts += hasAnswers ? 1 : 0;
    float[] ofProse = prose.floats();
    Profile.empty(model)
        .withNote(SOURCE, source)
        .with(PART + "/prose", ofProse, ofProse.length)
        .with(PART + "/margins", margins.floats(), ofProse.length)
        .with(PART + "/done", new float[] {texts, questionTexts}, 2)
        .write(file);
  }

  MetricSums prose() {
    return prose;
  }

  /** Returns whether any text was prose. */
  boolean hasProse() {
    return questionTexts < texts;
  }

  /** Returns null if there are no lookups, or if the model answers none of them correctly. */
  MetricSums margins() {
    return margins.isEmpty() ? null : margins;
  }

  /** Deletes the journal after the profile is written. */
  public void delete() {
    AtomicFile.delete(file);
  }
}
