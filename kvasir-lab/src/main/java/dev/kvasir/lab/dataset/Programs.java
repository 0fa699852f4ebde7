package dev.kvasir.lab.dataset;

import dev.kvasir.lab.answer.PythonTrial;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Data sets of programs in the format of HumanEval (Chen et al., 2021), judged by their tests. */
public final class Programs {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int MAX_TOKENS = 32_768;
  private static final Pattern FENCED =
      Pattern.compile("```(?:python|py)?\\s*\\n(.*?)```", Pattern.DOTALL);

  public static final Dataset LIVE_CODE = of("LiveCodeBench", "livecodebench");
  public static final Dataset HUMAN_EVAL = of("HumanEval", "humaneval");

  private Programs() {}

  private static Dataset of(String name, String file) {
    return Dataset.of(
        name,
        file + ".jsonl",
        ("write the problems of %s as %s.jsonl in the format of HumanEval (fields task_id, prompt,"
                + " entry_point, test), give its folder with --data FOLDER, and allow running the"
                + " generated programs with --run-code")
            .formatted(name, file),
        "humaneval",
        (line, folder) -> item(line));
  }

  private static Item item(JsonLine line) {
    String start = line.text("prompt");
    String tests = line.text("test") + "\ncheck(" + line.text("entry_point") + ")\n";
    String prompt = "Complete this Python function. Answer with the whole function.\n\n" + start;
    Supplier<PythonTrial> python = () -> PythonTrial.onThisMachine(LIMIT);
    Judge judge =
        answer -> Judge.Mark.of(python.get().passes(program(start, answer) + "\n" + tests) ? 1 : 0);
    return new Item(
        line.optional("task_id").orElse(line.place()),
        prompt,
        true,
        MAX_TOKENS,
        List.of(judge),
        answer -> FENCED.matcher(answer).find());
  }

  /** Returns the program of an answer: its last fenced block, or a continuation of the prompt. */
  static String program(String start, String answer) {
    Matcher fenced = FENCED.matcher(answer);
    String last = null;
    while (fenced.find()) {
      last = fenced.group(1);
    }
    String code = last == null ? answer : last;
    return code.contains("def ") ? header(start) + code : start + code;
  }

  /** Imports of the prompt precede its function; an answer often leaves them out. */
  private static String header(String start) {
    int at = start.indexOf("def ");
    return at <= 0 ? "" : start.substring(0, at);
  }
}
