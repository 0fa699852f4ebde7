package dev.kvasir.lab.eval;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.AnswerNumbers;
import dev.kvasir.lab.task.Chain;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.lab.task.WordProblem;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.text.FirstTokens;
import dev.kvasir.runtime.LoadedModel;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Everything that rows read and answer, as token ids. Creating it validates all inputs before any
 * work starts.
 *
 * @param texts texts that are read block by block; footprints are measured after the first
 */
record Workload(
    List<StreamText> texts,
    List<Opening> openings,
    List<Passage> needles,
    List<Passage> records,
    List<Program> programs,
    List<Exercise> exercises) {

  /** Shorter contexts cannot hold a useful document. */
  static final int SHORTEST_CONTEXT = 256;

  private static final int EXERCISE_TOKENS = 400;

  /**
   * Tokens of an opening: a page and a half, so that the continuation soon meets quantized tokens.
   */
  private static final int OPENING_TOKENS = 192;

  /** Maximum tokens generated after an opening: four pages. */
  private static final int DRIFT_TOKENS = 512;

  /**
   * @param chat whether the answer alone decides, because the model's wording may differ from the
   *     task's
   */
  record Program(Chain chain, int[] prompt, int maxTokens, boolean chat)
      implements GenerationRequest {
    /**
     * Generation stops at the first wrong line, because the rest cannot change the score. A chat
     * model was not trained on the task's wording and may reach the answer in its own way.
     */
    @Override
    public boolean isComplete(String text) {
      if (!chat) {
        return chain.isDecidedBy(text);
      }
      int answer = text.lastIndexOf("Answer: ");
      return answer >= 0 && text.indexOf('\n', answer) > 0;
    }

    boolean isSolvedBy(String attempt) {
      return chat ? answerOf(attempt).equals(answer()) : chain.isSolvedBy(attempt);
    }

    /** Returns the number that an attempt ends with; empty for none. */
    String answerOf(String attempt) {
      return AnswerNumbers.last(attempt).map(BigDecimal::toPlainString).orElse("");
    }

    private String answer() {
      return new BigDecimal(chain.answer()).stripTrailingZeros().toPlainString();
    }
  }

  record Exercise(WordProblem problem, int[] prompt, int maxTokens) implements GenerationRequest {
    private static final String NEXT_QUESTION = "\nQuestion:";

    @Override
    public boolean isComplete(String text) {
      return text.contains(NEXT_QUESTION);
    }

    boolean isSolvedBy(String attempt) {
      return problem.isSolvedBy(answerIn(attempt));
    }

    /** Returns the number that an attempt ends with; empty for none. */
    String answerOf(String attempt) {
      return AnswerNumbers.last(answerIn(attempt)).map(BigDecimal::toPlainString).orElse("");
    }

    private static String answerIn(String attempt) {
      return attempt.split(NEXT_QUESTION, 2)[0];
    }
  }

  static Workload of(LoadedModel model, EvaluationSettings settings, Sources sources) {
    checkContexts(model, settings);
    Prompts prompts = new Prompts(model, sources.bundledModel());
    Passages passages = new Passages(prompts, settings);
    return new Workload(
        texts(model, settings, sources),
        has(settings, Task.DRIFT) ? openings(model, settings, sources) : List.of(),
        has(settings, Task.NEEDLE) ? passages.needles(sources.filler()) : List.of(),
        has(settings, Task.RECORDS) ? passages.records() : List.of(),
        has(settings, Task.CHAIN) ? programs(model, settings, prompts) : List.of(),
        has(settings, Task.JSONL) ? exercises(model, settings, prompts, sources) : List.of());
  }

  private static boolean has(EvaluationSettings settings, Task task) {
    return settings.tasks().contains(task);
  }

  private static void checkContexts(LoadedModel model, EvaluationSettings settings) {
    int most = model.config().contextLength();
    for (int context : settings.contexts()) {
      if (context < SHORTEST_CONTEXT || context > most) {
        throw new InvalidInputException(
            "--context is %d; expected %d to %d, the model's own"
                .formatted(context, SHORTEST_CONTEXT, most));
      }
    }
  }

  private static List<StreamText> texts(
      LoadedModel model, EvaluationSettings settings, Sources sources) {
    List<StreamText> texts = new ArrayList<>();
    int[] own = wholeBlocks(model, settings, sources.textName(), sources.text());
    int prompt = promptTokens(settings, sources.textName(), own);
    Set<Task> tasks = EnumSet.of(Task.PPL, Task.KLD);
    tasks.retainAll(settings.tasks());
    texts.add(new StreamText(own, prompt, tasks, true, settings.timed()));
    if (has(settings, Task.PROSE)) {
      int[] book = wholeBlocks(model, settings, BundledText.BOOK_NAME, BundledText.book());
      int unscored = promptTokens(settings, BundledText.BOOK_NAME, book);
      texts.add(new StreamText(book, unscored, EnumSet.of(Task.PROSE), false, false));
    }
    return texts;
  }

  private static int[] wholeBlocks(
      LoadedModel model, EvaluationSettings settings, String name, String text) {
    int[] ids = FirstTokens.of(model.tokenizer(), text, settings.longestContext());
    int tokens = Math.min(ids.length, settings.longestContext());
    int blocks = (tokens - 1) / Score.BLOCK_TOKENS;
    if (blocks < 1) {
      throw new InvalidInputException(
          "%s: has %d tokens; expected at least %d"
              .formatted(name, ids.length, Score.BLOCK_TOKENS + 1));
    }
    return Arrays.copyOf(ids, blocks * Score.BLOCK_TOKENS + 1);
  }

  private static int promptTokens(EvaluationSettings settings, String name, int[] ids) {
    int prompt = settings.reading().promptTokens() / Score.BLOCK_TOKENS * Score.BLOCK_TOKENS;
    if (prompt > ids.length - 1 - Score.BLOCK_TOKENS) {
      throw new InvalidInputException(
          "--prompt is %d; expected at most %d, so that %d of the %d tokens of %s are scored"
              .formatted(
                  settings.reading().promptTokens(),
                  ids.length - 1 - Score.BLOCK_TOKENS,
                  Score.BLOCK_TOKENS,
                  ids.length - 1,
                  name));
    }
    return prompt;
  }

  /** Returns pieces of the text at equal distances, as many as samples; they may overlap. */
  private static List<Opening> openings(
      LoadedModel model, EvaluationSettings settings, Sources sources) {
    int[] ids = model.tokenizer().encode(sources.text());
    int answerTokens = settings.longestContext() - OPENING_TOKENS;
    if (ids.length < OPENING_TOKENS) {
      throw new InvalidInputException(
          "%s: has %d tokens; the task drift expects at least %d"
              .formatted(sources.textName(), ids.length, OPENING_TOKENS));
    }
    List<Opening> openings = new ArrayList<>();
    for (int i = 0; i < settings.samples(); i++) {
      int from = (int) ((long) (ids.length - OPENING_TOKENS) * i / settings.samples());
      int[] prompt = Arrays.copyOfRange(ids, from, from + OPENING_TOKENS);
      openings.add(new Opening(prompt, Math.min(DRIFT_TOKENS, answerTokens), settings.seed() + i));
    }
    return openings;
  }

  private static List<Program> programs(
      LoadedModel model, EvaluationSettings settings, Prompts prompts) {
    List<Program> programs = new ArrayList<>();
    for (int i = 0; i < settings.samples(); i++) {
      Chain chain =
          Chain.draw(Seeds.of(settings.seed(), "chain", settings.steps(), i), settings.steps());
      int[] prompt = prompts.ids(chain.problem(), chain.instruction());
      int answerTokens =
          prompts.answerBudget(prompts.tokensOf(String.join("\n", chain.solution())));
      checkContext(
          model, "a program of %d steps".formatted(settings.steps()), prompt, answerTokens);
      programs.add(new Program(chain, prompt, answerTokens, prompts.useChatTemplate()));
    }
    return programs;
  }

  private static List<Exercise> exercises(
      LoadedModel model, EvaluationSettings settings, Prompts prompts, Sources sources) {
    List<Exercise> exercises = new ArrayList<>();
    for (WordProblem problem : sources.problems()) {
      if (exercises.size() < settings.samples()) {
        int[] prompt = prompts.ids(problem.prompt(), problem.instruction());
        checkContext(model, "question %d".formatted(exercises.size() + 1), prompt, EXERCISE_TOKENS);
        exercises.add(new Exercise(problem, prompt, EXERCISE_TOKENS));
      }
    }
    return exercises;
  }

  private static void checkContext(LoadedModel model, String what, int[] prompt, int answerTokens) {
    int most = model.config().contextLength();
    if (prompt.length + answerTokens > most) {
      throw new InvalidInputException(
          "%s takes %d tokens with its answer; the model's context holds %d"
              .formatted(what, prompt.length + answerTokens, most));
    }
  }

  /** Returns the distinct sequence lengths that caches have to hold. */
  Set<Integer> sequenceLengths() {
    Set<Integer> lengths = new TreeSet<>();
    texts.forEach(text -> lengths.add(text.tokens()));
    openings.forEach(opening -> lengths.add(opening.maxLength()));
    needles.forEach(passage -> lengths.add(passage.context()));
    records.forEach(passage -> lengths.add(passage.context()));
    programs.forEach(program -> lengths.add(program.maxLength()));
    exercises.forEach(exercise -> lengths.add(exercise.maxLength()));
    return lengths;
  }
}
