package dev.kvasir.lab.dataset;

import com.google.gson.JsonArray;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.answer.BoxedAnswer;
import dev.kvasir.lab.answer.ChoiceAnswer;
import dev.kvasir.lab.answer.MathText;
import dev.kvasir.lab.task.AnswerNumbers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Data sets whose answers are derived step by step: results in a box, numbers and choices. */
public final class Reasoning {
  private static final int LONG = 32_768;
  private static final int SHORT = 1024;

  public static final Dataset AIME_24 = boxed("AIME 2024", "aime24");
  public static final Dataset AIME_25 = boxed("AIME 2025", "aime25");
  public static final Dataset AIME_24_25 = boxed("AIME 2024-2025", "aime24-25");
  public static final Dataset AIME_24_I = boxed("AIME 2024-I", "aime24-i");
  public static final Dataset AMC_23 = boxed("AMC 2023", "amc23");
  public static final Dataset AMC_24 = boxed("AMC 2024", "amc24");
  public static final Dataset CMIMC_24 = boxed("CMIMC 2024", "cmimc24");
  public static final Dataset MATH_500 = boxed("MATH 500", "math500");

  public static final Dataset GSM8K =
      Dataset.of(
          "GSM8K",
          "gsm8k.jsonl",
          "get GSM8K's test.jsonl (github.com/openai/grade-school-math, fields question, answer)"
              + " and give its folder, with the file named gsm8k.jsonl, with --data FOLDER",
          "gsm8k",
          (line, folder) -> wordProblem(line));

  public static final Dataset GPQA =
      Dataset.of(
          "GPQA-Diamond",
          "gpqa.jsonl",
          "get GPQA-Diamond (huggingface.co/datasets/Idavidrein/gpqa) and write gpqa.jsonl with"
              + " the fields Question, Correct Answer, Incorrect Answer 1, 2 and 3, or question,"
              + " choices and answer; give its folder with --data FOLDER",
          "gpqa",
          (line, folder) -> choice(line));

  private Reasoning() {}

  private static Dataset boxed(String name, String file) {
    return Dataset.of(
        name,
        file + ".jsonl",
        ("write the problems of %s as %s.jsonl (fields problem, answer) and give its folder with"
                + " --data FOLDER")
            .formatted(name, file),
        "boxed",
        (line, folder) -> problem(line));
  }

  private static Item problem(JsonLine line) {
    String answer = line.text("answer");
    String prompt =
        line.text("problem", "question").strip()
            + "\n\nReason step by step and put the final answer in \\boxed{}.";
    return new Item(
        line.optional("id").orElse(line.place()),
        prompt,
        true,
        LONG,
        List.of(new BoxedJudge(answer)),
        BoxedAnswer::isIn);
  }

  /** Without a box the last number counts, as in common evaluation code. */
  private record BoxedJudge(String expected) implements Judge {
    @Override
    public Mark mark(String answer) {
      return Mark.of(MathText.same(result(answer), expected) ? 1 : 0);
    }

    @Override
    public String vote(String answer) {
      return MathText.canonical(result(answer));
    }

    private static String result(String answer) {
      return BoxedAnswer.last(answer)
          .or(() -> AnswerNumbers.last(answer).map(number -> number.toPlainString()))
          .orElse("");
    }
  }

  private static Item wordProblem(JsonLine line) {
    String expected =
        AnswerNumbers.last(line.text("answer"))
            .orElseThrow(() -> new InvalidInputException(line.place() + ": 'answer' has no number"))
            .toPlainString();
    String prompt =
        line.text("question").strip()
            + "\n\nReason step by step and put the final answer in \\boxed{}.";
    return new Item(
        line.place(), prompt, true, SHORT, List.of(new BoxedJudge(expected)), BoxedAnswer::isIn);
  }

  private static Item choice(JsonLine line) {
    List<String> choices = new ArrayList<>();
    String right;
    if (line.object().has("choices")) {
      JsonArray all = line.array("choices");
      all.forEach(one -> choices.add(one.getAsString()));
      String given = line.text("answer");
      right = given.length() == 1 ? choices.get(given.charAt(0) - 'A') : given;
    } else {
      right = line.text("Correct Answer").strip();
      choices.add(right);
      for (int i = 1; i <= 3; i++) {
        choices.add(line.text("Incorrect Answer " + i).strip());
      }
      // The same order in every run and row; the right answer must not always be A.
      Collections.shuffle(choices, new Random(line.text("Question").hashCode()));
    }
    char letter = (char) ('A' + choices.indexOf(right));
    StringBuilder prompt =
        new StringBuilder(line.text("question", "Question").strip()).append('\n');
    for (int i = 0; i < choices.size(); i++) {
      prompt.append("\n%c) %s".formatted((char) ('A' + i), choices.get(i)));
    }
    prompt.append("\n\nReason step by step and put the letter of the right choice in \\boxed{}.");
    return new Item(
        line.place(),
        prompt.toString(),
        true,
        LONG,
        List.of(new ChoiceJudge(letter, choices.size())),
        BoxedAnswer::isIn);
  }

  private record ChoiceJudge(char letter, int choices) implements Judge {
    @Override
    public Mark mark(String answer) {
      return Mark.of(vote(answer).equals(String.valueOf(letter)) ? 1 : 0);
    }

    @Override
    public String vote(String answer) {
      return ChoiceAnswer.of(answer, choices).map(String::valueOf).orElse("");
    }
  }
}
