package dev.kvasir.lab.dataset;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.answer.ChoiceAnswer;
import dev.kvasir.lab.answer.RougeL;
import dev.kvasir.lab.answer.TokenF1;
import dev.kvasir.lab.answer.Words;
import dev.kvasir.lab.task.AnswerNumbers;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleBiFunction;

/** Data sets of InfiniteBench (Zhang et al., 2024) that users bring. */
public final class InfiniteBench {
  private static final String SOURCE =
      "get InfiniteBench (huggingface.co/datasets/xinrongzhang2022/InfiniteBench) and give the"
          + " folder of its JSONL files (fields context, input, answer, options) with --data"
          + " FOLDER";

  public static final Dataset SUMMARY =
      text(
          "En.Sum",
          "longbook_sum_eng",
          "Summarize the book.",
          1200,
          (answer, right) -> RougeL.of(Words.ENGLISH, answer, right));
  public static final Dataset QUESTIONS =
      text(
          "En.QA",
          "longbook_qa_eng",
          "Answer the question about the book in a few words.",
          40,
          (answer, right) -> TokenF1.of(Words.ENGLISH, answer, right));
  public static final Dataset DIALOGUES =
      text(
          "En.Dia",
          "longdialogue_qa_eng",
          "Name the character that $$MASK$$ stands for.",
          40,
          (answer, right) ->
              answer.toLowerCase(Locale.ROOT).contains(right.toLowerCase(Locale.ROOT)) ? 1 : 0);
  public static final Dataset NUMBERS =
      text(
          "Math.F",
          "math_find",
          "Answer with the number.",
          10,
          (answer, right) -> AnswerNumbers.last(answer).equals(AnswerNumbers.last(right)) ? 1 : 0);
  public static final Dataset CHOICES = choices("En.MC", "longbook_choice_eng");
  public static final Dataset CODE = choices("Code.D", "code_debug");

  private InfiniteBench() {}

  private static Dataset text(
      String name,
      String file,
      String request,
      int maxTokens,
      ToDoubleBiFunction<String, String> score) {
    return Dataset.of(
        name,
        file + ".jsonl",
        SOURCE,
        "infinitebench-text",
        (line, folder) -> {
          List<String> right = answers(line);
          return Item.of(
              line.optional("id").orElse(line.place()),
              prompt(request, line),
              true,
              maxTokens,
              answer ->
                  Judge.Mark.of(
                      right.stream()
                          .mapToDouble(one -> score.applyAsDouble(answer, one))
                          .max()
                          .orElse(0)));
        });
  }

  private static Dataset choices(String name, String file) {
    return Dataset.of(
        name,
        file + ".jsonl",
        SOURCE,
        "infinitebench-choice",
        (line, folder) -> {
          List<String> options = line.texts("options");
          int right = options.indexOf(answers(line).getFirst());
          if (right < 0) {
            throw new InvalidInputException(
                "%s: 'answer' is none of the 'options'".formatted(line.place()));
          }
          StringBuilder request = new StringBuilder("Answer with the letter of the right choice.");
          for (int i = 0; i < options.size(); i++) {
            request.append("\n%c) %s".formatted((char) ('A' + i), options.get(i)));
          }
          return Item.of(
              line.optional("id").orElse(line.place()),
              prompt(request.toString(), line),
              true,
              40,
              answer ->
                  Judge.Mark.of(
                      ChoiceAnswer.of(answer, options.size())
                              .filter(letter -> letter == 'A' + right)
                              .isPresent()
                          ? 1
                          : 0));
        });
  }

  private static List<String> answers(JsonLine line) {
    List<String> answers = line.texts("answer");
    if (answers.isEmpty()) {
      throw new InvalidInputException("%s: has no 'answer'".formatted(line.place()));
    }
    return answers;
  }

  private static String prompt(String request, JsonLine line) {
    return line.text("context") + "\n\n" + line.optional("input").orElse("") + "\n" + request;
  }
}
