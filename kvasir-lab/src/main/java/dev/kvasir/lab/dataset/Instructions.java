package dev.kvasir.lab.dataset;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.lab.answer.InstructionRule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;

/** IFEval: prompts with instructions that rules can verify (Zhou et al., 2023). */
public final class Instructions {
  private static final int MAX_TOKENS = 4096;

  public static final Dataset IFEVAL =
      new Dataset(
          "IFEval",
          "ifeval.jsonl",
          "get IFEval's input_data.jsonl (github.com/google-research/google-research,"
              + " instruction_following_eval/data; fields key, prompt, instruction_id_list, kwargs)"
              + " and give its folder, with the file named ifeval.jsonl, with --data FOLDER",
          List.of("Prompt Strict", "Prompt Loose", "Instruct Strict", "Instruct Loose"),
          "ifeval",
          (line, folder) -> item(line));

  private Instructions() {}

  private static Item item(JsonLine line) {
    JsonArray names = line.array("instruction_id_list");
    JsonArray arguments = line.array("kwargs");
    List<InstructionRule> rules = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      JsonElement given = arguments.get(i);
      JsonObject values = given.isJsonObject() ? given.getAsJsonObject() : new JsonObject();
      rules.add(InstructionRule.of(names.get(i).getAsString(), values));
    }
    return new Item(
        line.optional("key").orElse(line.place()),
        line.text("prompt"),
        true,
        MAX_TOKENS,
        List.of(
            whole(rules, InstructionRule::isFollowedBy),
            whole(rules, InstructionRule::isLooselyFollowedBy),
            each(rules, InstructionRule::isFollowedBy),
            each(rules, InstructionRule::isLooselyFollowedBy)),
        answer -> false);
  }

  private static Judge whole(
      List<InstructionRule> rules, BiPredicate<InstructionRule, String> follows) {
    return answer ->
        Judge.Mark.of(rules.stream().allMatch(rule -> follows.test(rule, answer)) ? 1 : 0);
  }

  private static Judge each(
      List<InstructionRule> rules, BiPredicate<InstructionRule, String> follows) {
    return answer ->
        new Judge.Mark(
            rules.stream().filter(rule -> follows.test(rule, answer)).count(), rules.size());
  }
}
