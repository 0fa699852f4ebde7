package dev.kvasir.lab.text;

import dev.kvasir.Model;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.sampling.SamplingOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Makes up the bundled prose: {@code SampleText FOLDER} lets the bundled model continue openings of
 * our own and writes the files that {@link BundledText} reads. The texts are the model's own, so
 * the repository holds nobody's prose. The seed is fixed; a processor with vectors of another width
 * may part from the shipped files in a near-tie, which is why they are kept as files.
 */
public final class SampleText {
  /** A step computes up to eight rows on the packed weights, which is its cheapest width. */
  private static final int BATCH = 8;

  private static final int STORY_TOKENS = 2048;

  /** Shorter ones ended by themselves before they were of use. */
  private static final int MIN_TOKENS = 512;

  /** A little below 1, so that one odd word in a hundred does not derail a story. */
  private static final SamplingOptions SAMPLING =
      SamplingOptions.greedy().withTemperature(0.95).withTopP(0.98);

  /** Half of the model's training was tasks; what slips into one of them is no prose. */
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

  private final Model model;

  private SampleText(Model model) {
    this.model = model;
  }

  public static void main(String[] arguments) {
    if (arguments.length != 1) {
      System.err.println("usage: SampleText FOLDER");
      System.exit(2);
    }
    Path folder = Path.of(arguments[0]);
    try (Model model = Model.bundled()) {
      SampleText sample = new SampleText(model);
      AtomicFile.write(folder.resolve(BundledText.STREAM_FILE), sample.stories(20_000, 1));
      AtomicFile.write(folder.resolve(BundledText.FILLER_FILE), sample.stories(32_000, 1_000_001));
    }
  }

  /** Stories of {@code tokens} tokens or a little more, with an empty line between two. */
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
    SamplingOptions sampling = SAMPLING.withSeed(seed);
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
