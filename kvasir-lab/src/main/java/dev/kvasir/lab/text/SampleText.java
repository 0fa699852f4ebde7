package dev.kvasir.lab.text;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.format.WholeFile;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Makes up the bundled prose: {@code SampleText FOLDER} lets the bundled model continue openings of
 * our own and writes the files that {@link BundledText} reads. The texts are the model's own, so
 * the repository holds nobody's prose. The seed is fixed; a processor with vectors of another width
 * may part from the shipped files in a near-tie, which is why they are kept as files.
 */
public final class SampleText {
  /** A step computes up to eight rows on the packed weights, which is its cheapest width. */
  private static final int SIDE_BY_SIDE = 8;

  private static final int STORY_TOKENS = 2048;

  /** Shorter ones ended by themselves before they were of use. */
  private static final int FEWEST_TOKENS = 512;

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
      WholeFile.write(folder.resolve(BundledText.STREAM_FILE), sample.stories(20_000, 1));
      WholeFile.write(folder.resolve(BundledText.FILLER_FILE), sample.stories(32_000, 1_000_001));
    }
  }

  /** Stories of {@code tokens} tokens or a little more, with an empty line between two. */
  private String stories(int tokens, long firstSeed) {
    List<String> kept = new ArrayList<>();
    int made = 0;
    for (long seed = firstSeed; made < tokens; seed += SIDE_BY_SIDE) {
      for (int[] story : stories(seed)) {
        String text = untilLastSentence(model.tokenizer().decode(story, true));
        if (made < tokens && story.length >= FEWEST_TOKENS && isProse(text)) {
          kept.add(text);
          made += story.length;
        }
      }
      System.err.printf("%,d of %,d tokens%n", made, tokens);
    }
    return String.join("\n\n", kept) + "\n";
  }

  private List<int[]> stories(long firstSeed) {
    List<Story> stories =
        IntStream.range(0, SIDE_BY_SIDE).mapToObj(i -> new Story(firstSeed + i)).toList();
    Batch batch = new Batch();
    while (stories.stream().anyMatch(story -> !story.ended)) {
      batch.clear();
      List<Story> rows = stories.stream().filter(story -> !story.ended).toList();
      rows.forEach(story -> story.addTo(batch));
      model.forward(batch);
      for (int i = 0; i < rows.size(); i++) {
        rows.get(i).take(batch, i);
      }
    }
    return stories.stream().map(Story::tokens).toList();
  }

  /** One text as it grows. */
  private final class Story {
    private final int[] tokens = new int[STORY_TOKENS];
    private final Sampler sampler;
    private final KvCache cache = CacheSpec.DEFAULT.newCache(model.config().cacheShape());
    private int length;
    private boolean ended;

    Story(long seed) {
      String opening = StoryOpenings.ALL.get((int) (seed % StoryOpenings.ALL.size()));
      for (int id : model.tokenizer().encode(opening)) {
        tokens[length++] = id;
      }
      sampler = new Sampler(SAMPLING.withSeed(seed));
    }

    void addTo(Batch batch) {
      for (int i = cache.length(); i < length; i++) {
        batch.add(cache, tokens[i], i == length - 1);
      }
    }

    void take(Batch batch, int index) {
      int token = sampler.pick(batch.logits(), batch.logitsAt(index), batch.vocabulary());
      if (!model.tokenizer().endOfText().contains(token)) {
        tokens[length++] = token;
        ended = length == STORY_TOKENS;
      } else {
        ended = true;
      }
      if (ended) {
        cache.close();
      }
    }

    int[] tokens() {
      return Arrays.copyOf(tokens, length);
    }
  }

  private static boolean isProse(String text) {
    return MARKS_OF_TASKS.stream().noneMatch(text::contains);
  }

  private static String untilLastSentence(String text) {
    return text.substring(0, text.lastIndexOf('.') + 1).strip();
  }
}
