package dev.kvasir.cli.lab;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.lab.eval.AnswerSampling;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Reading;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.task.WordProblem;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** What an evaluation measures, and on which texts. */
final class EvalArguments {
  private static final Set<Task> DEFAULT_TASKS =
      EnumSet.of(Task.PPL, Task.KLD, Task.NEEDLE, Task.CHAIN);
  private static final List<Integer> DEFAULT_CONTEXTS = List.of(1000, 4000, 8000);
  private static final List<Integer> QUICK_CONTEXTS = List.of(1500);
  private static final int DEFAULT_SAMPLES = 20;
  private static final int QUICK_SAMPLES = 6;
  private static final int MAX_SAMPLES = 1_000_000;
  private static final int MAX_STEPS = 10_000;
  private static final double MAX_TEMPERATURE = 100;
  private static final int MAX_ANSWERS = 1024;
  private static final int MAX_BUDGET_CONTEXT = 1 << 24;

  @Option(
      names = "--kv",
      paramLabel = "SPECS",
      defaultValue = "fp16;kivi:4;kivi:2",
      description =
          "Caches, separated by semicolons. fp16 is added if it is missing. Default:"
              + " ${DEFAULT-VALUE}.")
  private String specs;

  @Option(
      names = "--tasks",
      paramLabel = "LIST",
      description =
          "Tasks, separated by commas: ppl, kld, prose, drift, needle, records, chain,"
              + " jsonl (also called gsm8k). Default: ppl,kld,needle,chain, and jsonl with"
              + " --jsonl.")
  private String tasks;

  @Option(
      names = "--context",
      split = ",",
      paramLabel = "N",
      description =
          "Lengths of documents and tables, in tokens; the text is read up to the"
              + " longest. Default: 1000,4000,8000, up to the model's context.")
  private List<Integer> contexts;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description =
          "Number of questions per length, of programs, and of lines of --jsonl. Default:" + " 20.")
  private Integer samples;

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "40",
      description = "Steps of a program in the task chain. Default: ${DEFAULT-VALUE}.")
  private int steps;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Random seed. The same seed gives the same tasks. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "Text for ppl and kld. Default: a bundled text.")
  private Path text;

  @Option(
      names = "--jsonl",
      paramLabel = "FILE",
      description =
          "Questions for the task jsonl: one object with 'question' and 'answer' per"
              + " line. The last number of an answer counts.")
  private Path jsonl;

  @Option(
      names = "--prefill",
      paramLabel = "WHEN",
      description =
          "When a prompt is quantized: chunked, while it is read; or exact, at its end,"
              + " as in most papers. Default: what each cache asks for with prefill= or as=paper,"
              + " else chunked.")
  private String prefill;

  @Option(
      names = "--prompt",
      paramLabel = "N",
      description =
          "Tokens at the start of the text that are read as a prompt and not scored."
              + " Default: half of the text if any cache quantizes it at its end, else none.")
  private Integer prompt;

  @Option(
      names = "--temperature",
      paramLabel = "T",
      defaultValue = "0",
      description =
          "Sample answers at this temperature. Default: ${DEFAULT-VALUE}, always the most likely"
              + " token.")
  private double temperature;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      defaultValue = "1",
      description =
          "With --temperature, sample from the most likely tokens up to this probability. Default:"
              + " ${DEFAULT-VALUE}.")
  private double topP;

  @Option(
      names = "--answers",
      paramLabel = "K",
      defaultValue = "1",
      description =
          "With --temperature, sampled answers to each question; the table shows their mean"
              + " (avg@K), their majority (maj@K) and the standard deviation of one (pass@1 sd)."
              + " Default: ${DEFAULT-VALUE}.")
  private int answers;

  @Option(
      names = "--budget-context",
      paramLabel = "N",
      description =
          "Give caches with a budget, such as pmkvq, the bytes of a sequence of N tokens, where"
              + " the evaluated one is shorter. Default: the budget of the evaluated sequence.")
  private Integer budgetContext;

  @Option(
      names = "--quick",
      description = "Take a first look: 1500 tokens of context and 6 samples.")
  private boolean quick;

  EvaluationSettings settings() {
    List<CacheSpec> kinds =
        Arrays.stream(specs.split(";"))
            .map(String::strip)
            .map(CacheSpec::parse)
            .map(this::withTypedPrefill)
            .toList();
    List<Integer> lengths = quick ? QUICK_CONTEXTS : DEFAULT_CONTEXTS;
    int count = quick ? QUICK_SAMPLES : DEFAULT_SAMPLES;
    EvaluationSettings settings =
        new EvaluationSettings(
            kinds,
            chosenTasks(),
            contexts == null ? lengths : contexts,
            samples == null ? count : inRange("--samples", samples, MAX_SAMPLES),
            inRange("--steps", steps, MAX_STEPS),
            seed);
    return settings
        .withReading(reading(settings))
        .withSampling(sampling())
        .withBudgetContext(
            budgetContext == null
                ? 0
                : inRange("--budget-context", budgetContext, MAX_BUDGET_CONTEXT));
  }

  private AnswerSampling sampling() {
    if (!(temperature >= 0 && temperature <= MAX_TEMPERATURE)) {
      throw new InvalidInputException(
          "--temperature is %s; expected 0 to %.0f".formatted(temperature, MAX_TEMPERATURE));
    }
    if (!(topP > 0 && topP <= 1)) {
      throw new InvalidInputException(
          "--top-p is %s; expected more than 0 and at most 1".formatted(topP));
    }
    int count = inRange("--answers", answers, MAX_ANSWERS);
    if (temperature == 0 && (count > 1 || topP < 1)) {
      String typed = count > 1 ? "--answers is " + count : "--top-p is " + topP;
      throw new InvalidInputException(
          typed + " at --temperature 0; expected a temperature to sample with, such as 0.6");
    }
    return new AnswerSampling(temperature, topP, count, seed);
  }

  long seed() {
    return seed;
  }

  /** Returns the prefill as typed; chunked if none was. */
  private Prefill prefill() {
    return prefill == null
        ? Prefill.CHUNKED
        : OptionValue.oneOf("--prefill", prefill, Prefill.class);
  }

  /** A typed prefill holds for all caches; those that ask for another one are named by it. */
  private CacheSpec withTypedPrefill(CacheSpec spec) {
    return prefill != null && spec.prefill().isPresent() ? spec.withPrefill(prefill()) : spec;
  }

  private Reading reading(EvaluationSettings settings) {
    boolean isExact =
        prefill() == Prefill.EXACT || settings.specs().stream().anyMatch(CacheSpec::defersPrompts);
    int half = isExact ? settings.longestContext() / 2 : 0;
    return new Reading(
        prefill(), prompt == null ? half : OptionValue.atLeast("--prompt", prompt, 0));
  }

  /** Drops default contexts that exceed the model's. */
  EvaluationSettings fitted(EvaluationSettings settings, int contextLength) {
    if (contexts != null || settings.longestContext() <= contextLength) {
      return settings;
    }
    List<Integer> lengths =
        settings.contexts().stream().filter(length -> length <= contextLength).toList();
    EvaluationSettings shorter =
        settings.withContexts(lengths.isEmpty() ? List.of(contextLength) : lengths);
    return shorter.withReading(reading(shorter));
  }

  private Set<Task> chosenTasks() {
    Set<Task> chosen = tasks == null ? EnumSet.copyOf(DEFAULT_TASKS) : Task.parse(tasks);
    if (jsonl != null) {
      chosen.add(Task.JSONL);
    } else if (chosen.contains(Task.JSONL)) {
      throw new InvalidInputException(
          "the task jsonl needs questions; expected a file of them with --jsonl FILE");
    }
    return chosen;
  }

  private static int inRange(String option, int value, int most) {
    if (value < 1 || value > most) {
      throw new InvalidInputException("%s is %d; expected 1 to %d".formatted(option, value, most));
    }
    return value;
  }

  Sources sources(boolean bundledModel) {
    Sources sources = Sources.bundled(bundledModel);
    if (text != null) {
      sources = sources.withText(text.toString(), nonEmpty(TextArgument.readFile(text)));
    }
    return jsonl == null ? sources : sources.withProblems(WordProblem.read(jsonl));
  }

  private String nonEmpty(String content) {
    if (content.isBlank()) {
      throw new InvalidInputException(text + ": is empty; expected some text");
    }
    return content;
  }
}
