package dev.kvasir.lab.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.OrderedDelivery;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The calibration texts: prose, and texts with lookups.
 *
 * @param prose prose texts in order
 * @param tasks texts with lookups
 * @param settings how many of each are retained, held out or backpropagated
 */
public record MeadTexts(List<int[]> prose, List<MarkedText> tasks, MeadSettings settings) {
  /**
   * With tables, one text in seven is held out, and one retained. The sixteen prose openings repeat
   * periodically; without a common factor, each of them is included.
   */
  private static final int PERIOD = 7;

  /** Number of prose texts that provide names and random tokens for lookups. */
  private static final int FILLERS = 8;

  /** Enough sequences to share each read of the weights. */
  private static final int MAX_BATCH = 32;

  /** Returns how many texts the model generates if none are given, for prose and lookups. */
  public static int generatedTexts(MeadSettings settings) {
    return Math.max(settings.proseTexts(), settings.taskTexts() > 0 ? FILLERS : 0);
  }

  /**
   * Returns the maximum off-heap bytes for generating them.
   *
   * @param generationTasks number of tasks that run in parallel
   */
  public static long generationBytes(CacheShape shape, MeadSettings settings, int generationTasks) {
    int count = (int) Math.min(generatedTexts(settings), (long) generationTasks * MAX_BATCH);
    return SelfGeneratedText.bytes(shape, count, settings.length());
  }

  /**
   * Generates prose with the model.
   *
   * @return empty if the listener cancelled the generation
   */
  public static Optional<MeadTexts> selfGenerated(
      LoadedModel model, MeadSettings settings, Runner runner, ProgressListener listener) {
    int wanted = generatedTexts(settings);
    List<int[]> made = selfGenerated(wanted, settings, runner, listener);
    return made.size() < wanted
        ? Optional.empty()
        : Optional.of(of(model, made, settings.proseTexts(), settings));
  }

  /** Returns fewer texts if the listener cancelled the generation. */
  private static List<int[]> selfGenerated(
      int count, MeadSettings settings, Runner runner, ProgressListener listener) {
    int most = Math.clamp(Math.ceilDiv(count, runner.parallelism()), 1, MAX_BATCH);
    List<TextGenerationTask> generationTasks = new ArrayList<>();
    for (int first = 0; first < count; first += most) {
      int some = Math.min(most, count - first);
      generationTasks.add(
          new TextGenerationTask(first, some, settings.length(), 7_000_000 + settings.seed()));
    }
    List<int[]> texts = new ArrayList<>();
    runner.<int[][]>run(
        generationTasks,
        listener,
        new OrderedDelivery<>((made, task) -> texts.addAll(List.of(made))));
    return texts;
  }

  /**
   * @param ids a long text; only the required part is used
   */
  public static MeadTexts cut(LoadedModel model, int[] ids, MeadSettings settings) {
    List<int[]> prose = new ArrayList<>();
    int length = settings.length();
    int whole = ids.length / length;
    int count = Math.min(whole, settings.proseTexts());
    for (int i = 0; i < count; i++) {
      int from = (int) ((long) i * whole / count) * length;
      prose.add(Arrays.copyOfRange(ids, from, from + length));
    }
    return of(model, prose, count, settings);
  }

  /**
   * @param prose texts that also provide names for lookups
   * @param read how many of them are read unchanged
   */
  private static MeadTexts of(
      LoadedModel model, List<int[]> prose, int read, MeadSettings settings) {
    List<MarkedText> tasks = new ArrayList<>();
    if (settings.taskTexts() > 0) {
      LookupTexts maker =
          new LookupTexts(
              model.tokenizer(),
              prose.subList(0, Math.min(prose.size(), FILLERS)),
              settings.length(),
              settings.seed());
      IntStream.range(0, settings.taskTexts()).forEach(i -> tasks.add(maker.text(i)));
    }
    return new MeadTexts(prose.subList(0, read), tasks, settings);
  }

  /** Returns all texts, prose first. */
  List<int[]> allTexts() {
    List<int[]> all = new ArrayList<>(prose);
    tasks.forEach(text -> all.add(text.tokens()));
    return all;
  }

  /** Returns whether a text is excluded from fitting the tables, to test them on it. */
  boolean isHeldOut(int index) {
    return settings.holdsOut()
        && indexOfKind(index) % PERIOD == 1
        && indexOfKind(index) / PERIOD < retained(index);
  }

  /** Returns whether the activations of a text are retained although it is not held out. */
  boolean isRetained(int index) {
    int ofKind = indexOfKind(index);
    if (settings.holdsOut()) {
      return ofKind % PERIOD == 4 && ofKind / PERIOD < retained(index);
    }
    long count = textsOfKind(index);
    return (ofKind + 1L) * retained(index) / count > (long) ofKind * retained(index) / count;
  }

  private int indexOfKind(int index) {
    return index < prose.size() ? index : index - prose.size();
  }

  private int retained(int index) {
    return settings.retainedOf(textsOfKind(index));
  }

  private int textsOfKind(int index) {
    return index < prose.size() ? prose.size() : tasks.size();
  }

  /** Returns prose that tables were not fitted to; empty if there is no prose. */
  public int[] heldOutProse() {
    return prose.isEmpty() ? new int[0] : prose.get(Math.min(1, prose.size() - 1));
  }

  /** Returns the texts for the metric, alternating prose and tasks. */
  List<MarkedText> metricTexts() {
    List<MarkedText> texts = new ArrayList<>();
    for (int i = 0; i < settings.metricTexts(); i++) {
      if (!prose.isEmpty()) {
        texts.add(MarkedText.prose(spread(prose, i)));
      }
      if (!tasks.isEmpty()) {
        texts.add(spread(tasks, i));
      }
    }
    return texts;
  }

  private <T> T spread(List<T> texts, int index) {
    return texts.get((int) ((long) index * texts.size() / settings.metricTexts()));
  }

  /**
   * Generates some texts in one batch; they are independent of each other.
   *
   * @param first number of the first text
   * @param length tokens of a text
   */
  private record TextGenerationTask(int first, int count, int length, long seed)
      implements LabTask<int[][]> {
    @Override
    public String name() {
      return "texts %d to %d".formatted(first + 1, first + count);
    }

    @Override
    public double cost() {
      return (double) count * length;
    }

    @Override
    public long peakBytes(LoadedModel model) {
      return SelfGeneratedText.bytes(model.config().cacheShape(), count, length);
    }

    @Override
    public int[][] run(WorkerContext context, ProgressListener listener) {
      return new SelfGeneratedText(context.model(), length, seed).texts(first, count, listener);
    }
  }
}
