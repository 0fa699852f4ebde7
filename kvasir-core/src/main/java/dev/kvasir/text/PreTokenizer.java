package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * How a byte-level BPE splits text into words before merging, by GGUF's {@code tokenizer.ggml.pre}.
 * Each pattern splits the pieces of the previous one, both matches and gaps. The patterns come from
 * the models' own tokenizer files.
 */
enum PreTokenizer {
  DEFAULT(
      List.of("default"),
      List.of("[\\p{P}\\$\\+<=>\\^~\\|]+", SplitPatterns.GPT_2, "\\p{N}+", "[0-9][0-9][0-9]")),
  GPT_2(
      named("gpt-2 phi-2 mpt olmo jais gigachat a.x-4.0 mellum exaone4 trillion granite-docling"),
      List.of(SplitPatterns.GPT_2)),
  LLAMA_3(
      named("llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2"),
      List.of(SplitPatterns.UP_TO_3_DIGITS),
      Trait.IGNORE_MERGES,
      Trait.ADD_BOS),
  GPT_4(List.of("dbrx", "smaug-bpe", "glm4", "chatglm-bpe"), List.of(SplitPatterns.UP_TO_3_DIGITS)),
  QWEN_2(
      named("qwen2 deepseek-r1-qwen stablelm2 kormo f2llmv2 megrez hunyuan solar-open grok-2"),
      List.of(SplitPatterns.ONE_DIGIT)),
  QWEN_35(List.of("qwen35"), List.of(SplitPatterns.WITH_MARKS)),
  STARCODER(
      named("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"),
      List.of("\\p{N}", SplitPatterns.GPT_2)),
  FALCON(
      List.of("falcon"),
      List.of("[\\p{P}\\$\\+<=>\\^~\\|`]+", SplitPatterns.GPT_2, "[0-9][0-9][0-9]")),
  DEEPSEEK_LLM(
      List.of("deepseek-llm"),
      List.of(
          "[\\r\\n]",
          "\\s?" + SplitPatterns.CASED_LETTERS + "+",
          "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+",
          "\\s+$",
          SplitPatterns.CJK,
          "\\p{N}+")),
  DEEPSEEK_CODER(
      List.of("deepseek-coder"),
      List.of("[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", SplitPatterns.CJK, "\\p{N}")),
  DEEPSEEK_3(
      List.of("deepseek-v3", "hunyuan-dense", "joyai-llm"),
      List.of(
          "\\p{N}{1,3}", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+", SplitPatterns.DEEPSEEK_3)),
  TEKKEN(
      List.of("tekken"),
      List.of(SplitPatterns.byCase("", "\\p{N}")),
      Trait.IGNORE_MERGES,
      Trait.ADD_BOS),
  GPT_4O(
      named("gpt-4o llama4 kanana2 talkie minimax-m2"),
      List.of(SplitPatterns.byCase(SplitPatterns.CONTRACTION + "?", "\\p{N}{1,3}"))),
  TINY_AYA(
      List.of("tiny_aya", "cohere2moe"),
      List.of(
          "\\d{1,3}(?=(?:\\d{3})*\\b)",
          SplitPatterns.byCase(SplitPatterns.CONTRACTION + "?", "\\p{N}{1,3}"))),
  BLOOM(List.of("bloom", "poro-chat", "gpt3-finnish"), List.of(SplitPatterns.BLOOM)),
  VIKING(List.of("viking"), List.of(SplitPatterns.BLOOM, "\\p{N}")),
  CHAMELEON(
      List.of("chameleon"),
      List.of(
          "<sentinel:[0-9]+>",
          "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
          "([\\t\\n]|    |  )",
          "\\p{N}",
          "[\\p{P}!-/:-@\\[-`{-~]",
          SplitPatterns.GPT_2),
      Trait.ADD_BOS),
  BAILING(
      List.of("bailingmoe", "bailingmoe2", "llada-moe"),
      List.of(
          "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}"
              + "| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+")),
  SEED_CODER(
      List.of("seed-coder"),
      List.of(
          SplitPatterns.CONTRACTION
              + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
              + "| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")),
  MINICPM_5(
      List.of("minicpm5"),
      List.of("\\p{N}{1,3}", SplitPatterns.byLetters("\\p{N}+")),
      Trait.IGNORE_MERGES),
  LAGUNA(List.of("laguna"), List.of("[^\\n]+|[\\n]+", SplitPatterns.ONE_DIGIT)),
  JAIS_2(List.of("jais-2"), List.of(SplitPatterns.HALVED_SPACES)),
  YOUTU(
      List.of("youtu"),
      List.of(
          "[\uAC00-\uD7A3\u3131-\u318E]+"
              + "|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+"
              + "|[\u3105-\u312F]+|[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
          SplitPatterns.byCase(SplitPatterns.CONTRACTION + "?", "\\p{N}")),
      Trait.IGNORE_MERGES),
  SUPERBPE(List.of("superbpe"), List.of("\\p{N}+", "(?=(\\d{3})+(?!\\d))")),
  KIMI_K2(List.of("kimi-k2"), List.of(SplitPatterns.KIMI_K2)),
  EXAONE_MOE(
      List.of("exaone-moe"),
      List.of(
          SplitPatterns.CONTRACTION
              + "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
              + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"));

  private enum Trait {
    /** A word that is in the vocabulary is one token, regardless of merges. */
    IGNORE_MERGES,
    /** Encoding starts with BOS unless the file says otherwise. */
    ADD_BOS
  }

  private static final Map<String, PreTokenizer> BY_NAME = byName();

  private final List<String> names;
  private final List<String> patterns;
  private final List<Trait> traits;

  private static List<String> named(String names) {
    return List.of(names.split(" "));
  }

  PreTokenizer(List<String> names, List<String> patterns, Trait... traits) {
    this.names = names;
    this.patterns = patterns;
    this.traits = List.of(traits);
  }

  static PreTokenizer named(String fileName, String name) {
    PreTokenizer found = BY_NAME.get(name);
    if (found == null) {
      throw new InvalidInputException(
          "%s: 'tokenizer.ggml.pre' is \"%s\"; expected one of %s"
              .formatted(fileName, name, String.join(", ", new TreeSet<>(BY_NAME.keySet()))));
    }
    return found;
  }

  /** Returns the names in GGUF files. */
  List<String> names() {
    return names;
  }

  /** Returns Oniguruma patterns, applied in order. */
  List<String> patterns() {
    return patterns;
  }

  boolean ignoresMerges() {
    return traits.contains(Trait.IGNORE_MERGES);
  }

  boolean addsBos() {
    return traits.contains(Trait.ADD_BOS);
  }

  private static Map<String, PreTokenizer> byName() {
    Map<String, PreTokenizer> byName = new HashMap<>();
    for (PreTokenizer value : values()) {
      value.names.forEach(name -> byName.put(name, value));
    }
    return byName;
  }
}
