package dev.kvasir.lab.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What was added up of the texts whose loss was followed back, kept in a file after each of them,
 * so that a run which was ended goes on.
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
   * @param source in words, what is read; a file of another source or model is forgotten
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

  /** Texts that are in it. */
  int texts() {
    return texts;
  }

  /**
   * Sums are as the file has them, so that a run which goes on finds the same.
   *
   * @param text numbers of the next text's {@link MetricSums}
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

  /** Whether any text was one in which nothing was asked. */
  boolean hasProse() {
    return questionTexts < texts;
  }

  /** Null where nothing was asked. */
  MetricSums margins() {
    return questionTexts == 0 ? null : margins;
  }

  /** The profile is written. */
  public void delete() {
    AtomicFile.delete(file);
  }
}
