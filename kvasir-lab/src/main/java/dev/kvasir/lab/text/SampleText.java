package dev.kvasir.lab.text;

import dev.kvasir.SamplingOptions;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Generates the bundled prose: {@code SampleText FOLDER} continues story openings with the bundled
 * model and writes the files that {@link BundledText} reads. The texts are the model's own, so no
 * third-party prose is needed. The seed is fixed, but a processor with a different vector width may
 * diverge from the shipped files in a near-tie, so the files are checked in.
 */
public final class SampleText {
  /** The largest batch that the kernels compute directly on quantized weights. */
  private static final int BATCH = 8;

  private static final int STORY_TOKENS = 2048;

  /** Stories that end sooner are discarded. */
  private static final int MIN_TOKENS = 512;

  /** A temperature slightly below 1, so that an odd word does not derail a story. */
  private static final SamplingOptions SAMPLING =
      SamplingOptions.greedy().toBuilder().temperature(0.95).topP(0.98).build();

  /** Half of the training data was tasks; text that contains these is not prose. */
  private static final List<String> MARKS_OF_TASKS =
      List.of(
          "Question:",
          "Answer:",
          "Records:",
          "Problem:",
          "Solution:",
          "modulo",
          "secret number",
          "Repeat:",
          "Again:",
          "\uFFFD");

  private final LoadedModel model;

  private SampleText(LoadedModel model) {
    this.model = model;
  }

  public static void main(String[] arguments) {
    if (arguments.length != 1) {
      System.err.println("usage: SampleText FOLDER");
      System.exit(2);
    }
    Path folder = Path.of(arguments[0]);
    try (LoadedModel model = LoadedModel.bundled()) {
      SampleText sample = new SampleText(model);
      AtomicFile.write(folder.resolve(BundledText.STREAM_FILE), sample.stories(20_000, 1));
      AtomicFile.write(folder.resolve(BundledText.FILLER_FILE), sample.stories(32_000, 1_000_001));
    }
  }

  /** Returns stories of at least {@code tokens} tokens in total, separated by empty lines. */
  private String stories(int tokens, long firstSeed) {
    List<String> accepted = new ArrayList<>();
    int made = 0;
    for (long seed = firstSeed; made < tokens; seed += BATCH) {
      for (int[] story : stories(seed)) {
        String text = untilLastSentence(model.tokenizer().decode(story, true));
        if (made < tokens && story.length >= MIN_TOKENS && isProse(text)) {
          accepted.add(text);
          made += story.length;
        }
      }
      System.err.printf("%,d of %,d tokens%n", made, tokens);
    }
    return String.join("\n\n", accepted) + "\n";
  }

  private List<int[]> stories(long firstSeed) {
    List<GeneratedText> stories =
        LongStream.range(firstSeed, firstSeed + BATCH).mapToObj(this::story).toList();
    GeneratedText.generate(model, stories, step -> {});
    return stories.stream().map(GeneratedText::tokens).toList();
  }

  private GeneratedText story(long seed) {
    SamplingOptions sampling = SAMPLING.toBuilder().seed(seed).build();
    return new GeneratedText(
        model, STORY_TOKENS, sampling, StoryOpenings.at(seed), Optional::empty);
  }

  private static boolean isProse(String text) {
    return MARKS_OF_TASKS.stream().noneMatch(text::contains);
  }

  private static String untilLastSentence(String text) {
    return text.substring(0, text.lastIndexOf('.') + 1).strip();
  }
}
