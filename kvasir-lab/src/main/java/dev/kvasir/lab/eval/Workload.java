package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.Chain;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.lab.task.WordProblem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * All that every row is to read and to answer, as token ids. Whatever can be wrong is said while it
 * is made, before any work begins.
 *
 * @param context the longest that was asked for
 * @param stream ids of the text, whole blocks and one more: every row is weighed after reading it
 */
record Workload(
    int context,
    int[] stream,
    List<Passage> needles,
    List<Passage> records,
    List<Program> programs,
    List<Exercise> exercises) {

  /** Shorter contexts hold no document worth asking about. */
  static final int SHORTEST_CONTEXT = 256;

  private static final int EXERCISE_TOKENS = 400;

  /**
   * @param chat whether the answer alone decides, because other words than the task's are expected
   */
  record Program(Chain chain, int[] prompt, int mostTokens, boolean chat) {
    double work() {
      return Pace.reading(0, prompt.length) + Pace.writing(prompt.length, mostTokens);
    }

    int tokens() {
      return prompt.length + mostTokens;
    }
  }

  record Exercise(WordProblem problem, int[] prompt, int mostTokens) {
    double work() {
      return Pace.reading(0, prompt.length) + Pace.writing(prompt.length, mostTokens);
    }

    int tokens() {
      return prompt.length + mostTokens;
    }
  }

  static Workload of(Model model, Settings settings, Sources sources) {
    checkContexts(model, settings);
    Prompts prompts = new Prompts(model, sources.bundledModel());
    Passages passages = new Passages(prompts, settings);
    return new Workload(
        settings.longestContext(),
        stream(model, settings, sources),
        has(settings, Task.NEEDLE) ? passages.needles(sources.filler()) : List.of(),
        has(settings, Task.RECORDS) ? passages.records() : List.of(),
        has(settings, Task.CHAIN) ? programs(model, settings, prompts) : List.of(),
        has(settings, Task.JSONL) ? exercises(model, settings, prompts, sources) : List.of());
  }

  private static boolean has(Settings settings, Task task) {
    return settings.tasks().contains(task);
  }

  private static void checkContexts(Model model, Settings settings) {
    int most = model.config().contextLength();
    for (int context : settings.contexts()) {
      if (context < SHORTEST_CONTEXT || context > most) {
        throw new InvalidInputException(
            "--context is %d; expected %d to %d, the model's own"
                .formatted(context, SHORTEST_CONTEXT, most));
      }
    }
  }

  private static int[] stream(Model model, Settings settings, Sources sources) {
    int[] ids = model.tokenizer().encode(sources.text());
    int tokens = Math.min(ids.length, settings.longestContext());
    int blocks = (tokens - 1) / Score.BLOCK_TOKENS;
    if (blocks < 1) {
      throw new InvalidInputException(
          "%s: has %d tokens; expected at least %d"
              .formatted(sources.textName(), ids.length, Score.BLOCK_TOKENS + 1));
    }
    return Arrays.copyOf(ids, blocks * Score.BLOCK_TOKENS + 1);
  }

  private static List<Program> programs(Model model, Settings settings, Prompts prompts) {
    List<Program> programs = new ArrayList<>();
    for (int i = 0; i < settings.samples(); i++) {
      Chain chain =
          Chain.draw(Seeds.of(settings.seed(), "chain", settings.steps(), i), settings.steps());
      int[] prompt = prompts.ids(chain.problem(), chain.instruction());
      int room = prompts.roomFor(prompts.tokensOf(String.join("\n", chain.solution())));
      checkRoom(model, "a program of %d steps".formatted(settings.steps()), prompt, room);
      programs.add(new Program(chain, prompt, room, prompts.areChats()));
    }
    return programs;
  }

  private static List<Exercise> exercises(
      Model model, Settings settings, Prompts prompts, Sources sources) {
    List<Exercise> exercises = new ArrayList<>();
    for (WordProblem problem : sources.problems()) {
      if (exercises.size() < settings.samples()) {
        int[] prompt = prompts.ids(problem.prompt(), problem.instruction());
        checkRoom(model, "question %d".formatted(exercises.size() + 1), prompt, EXERCISE_TOKENS);
        exercises.add(new Exercise(problem, prompt, EXERCISE_TOKENS));
      }
    }
    return exercises;
  }

  private static void checkRoom(Model model, String what, int[] prompt, int room) {
    int most = model.config().contextLength();
    if (prompt.length + room > most) {
      throw new InvalidInputException(
          "%s takes %d tokens with its answer; the model's context holds %d"
              .formatted(what, prompt.length + room, most));
    }
  }

  /**
   * Tokens that a cache may have to hold: the longest context, which documents and the text keep
   * to, or what a program takes beyond it.
   */
  int longestSequence() {
    int program = programs.stream().mapToInt(Program::tokens).max().orElse(0);
    int exercise = exercises.stream().mapToInt(Exercise::tokens).max().orElse(0);
    return Math.max(context, Math.max(program, exercise));
  }

  /** The work of one row. */
  double work() {
    double work = Pace.reading(0, stream.length - 1);
    work += needles.stream().mapToDouble(Passage::work).sum();
    work += records.stream().mapToDouble(Passage::work).sum();
    work += programs.stream().mapToDouble(Program::work).sum();
    return work + exercises.stream().mapToDouble(Exercise::work).sum();
  }
}
