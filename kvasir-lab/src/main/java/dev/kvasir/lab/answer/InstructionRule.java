package dev.kvasir.lab.answer;

import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Stream;

/** A verifiable instruction of IFEval: whether an answer follows it (Zhou et al., 2023). */
public final class InstructionRule {
  private static final Map<String, BiPredicate<String, RuleArguments>> KNOWN = known();

  private final RuleArguments arguments;
  private final BiPredicate<String, RuleArguments> check;

  private InstructionRule(RuleArguments arguments, BiPredicate<String, RuleArguments> check) {
    this.arguments = arguments;
    this.check = check;
  }

  private static Map<String, BiPredicate<String, RuleArguments>> known() {
    Map<String, BiPredicate<String, RuleArguments>> all = new LinkedHashMap<>();
    all.putAll(KeywordRules.ALL);
    all.putAll(LengthRules.ALL);
    all.putAll(FormatRules.ALL);
    return all;
  }

  /** Returns the names of all instructions that can be judged. */
  public static Set<String> names() {
    return KNOWN.keySet();
  }

  /**
   * @param name published name, such as {@code punctuation:no_comma}
   * @param arguments its arguments by their published names
   */
  public static InstructionRule of(String name, JsonObject arguments) {
    BiPredicate<String, RuleArguments> check = KNOWN.get(name);
    if (check == null) {
      throw new InvalidInputException(
          "the instruction '%s' is unknown; known are %s"
              .formatted(name, String.join(", ", KNOWN.keySet())));
    }
    return new InstructionRule(new RuleArguments(name, arguments), check);
  }

  /** Returns whether an answer follows the instruction word for word. */
  public boolean isFollowedBy(String answer) {
    return !answer.isBlank() && check.test(answer, arguments);
  }

  /**
   * Returns whether an answer follows the instruction without its first or last line, which often
   * greet or conclude, or without marks of emphasis.
   */
  public boolean isLooselyFollowedBy(String answer) {
    return looseForms(answer).anyMatch(this::isFollowedBy);
  }

  private static Stream<String> looseForms(String answer) {
    List<String> lines = List.of(answer.split("\n", -1));
    int last = lines.size();
    return Stream.of(
            answer,
            join(lines, 1, last),
            join(lines, 0, last - 1),
            join(lines, 1, Math.max(1, last - 1)))
        .flatMap(form -> Stream.of(form, form.replace("*", "")));
  }

  private static String join(List<String> lines, int from, int to) {
    return from >= to ? "" : String.join("\n", lines.subList(from, to)).strip();
  }
}
