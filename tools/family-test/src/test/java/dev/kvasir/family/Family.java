package dev.kvasir.family;

import java.util.function.Function;

/** All models that are compared with a golden. */
enum Family {
  LLAMA("llama", DenseFamilies::llama),
  MISTRAL("mistral", DenseFamilies::mistral, DenseFamilies::mistralAsGranite),
  QWEN2("qwen2", DenseFamilies::qwen2),
  QWEN3("qwen3", DenseFamilies::qwen3),
  GEMMA2("gemma2", GemmaFamilies::gemma2),
  GEMMA3("gemma3", GemmaFamilies::gemma3),
  GEMMA3_WIDE("gemma3-wide", GemmaFamilies::gemma3Wide),
  GEMMA4("gemma4", GemmaFamilies::gemma4),
  GEMMA4_MOE("gemma4-moe", GemmaFamilies::gemma4Moe),
  PHI3("phi3", DenseFamilies::phi3),
  GRANITE("granite", DenseFamilies::granite),
  OLMO2("olmo2", DenseFamilies::olmo2),
  OLMO3("olmo3", RopeFamilies::olmo3),
  SMOLLM3("smollm3", DenseFamilies::smollm3),
  QWEN3_MOE("qwen3moe", ExpertFamilies::qwen3moe),
  QWEN2_MOE("qwen2moe", ExpertFamilies::qwen2moe),
  MIXTRAL("mixtral", ExpertFamilies::mixtral),
  GPT_OSS("gpt-oss", GptOss::model),
  DEEPSEEK2_LITE("deepseek2-lite", LatentFamilies::lite),
  DEEPSEEK2_LITE_YARN("deepseek2-lite-yarn", LatentFamilies::liteWithYarn),
  DEEPSEEK2("deepseek2", LatentFamilies::withQueryLatent),
  DEEPSEEK2_2024("deepseek2-2024", LatentFamilies::withKeysAndValuesInOne),
  DEEPSEEK3("deepseek3", LatentFamilies::withGroups),
  LLAMA_YARN("llama-yarn", RopeFamilies::llamaWithYarn),
  QWEN2_YARN("qwen2-yarn", RopeFamilies::qwen2WithYarn),
  LLAMA3("llama3", RopeFamilies::llama3),
  PHI3_SHORT("phi3-short", RopeFamilies::phi3Short),
  PHI3_LONG("phi3-long", RopeFamilies::phi3Long),
  LFM2("lfm2", HybridFamilies::lfm2),
  QWEN35("qwen35", DeltaNetFamilies::qwen35),
  QWEN35_MOE("qwen35moe", DeltaNetFamilies::qwen35moe),
  QWEN3_NEXT("qwen3next", DeltaNetFamilies::qwen3next),
  LFM2_MOE("lfm2moe", HybridFamilies::lfm2moe),
  GRANITE_HYBRID("granitehybrid", HybridFamilies::graniteHybrid),
  GRANITE_HYBRID_MOE("granitehybrid-moe", HybridFamilies::graniteHybridMoe),
  NEMOTRON_H("nemotron_h", HybridFamilies::nemotronH),
  NEMOTRON_H_MOE("nemotron_h_moe", HybridFamilies::nemotronHMoe),
  NEMOTRON_H_LATENT("nemotron_h_moe-latent", HybridFamilies::nemotronHLatent),
  ERNIE4_5("ernie4_5", DenseFamilies::ernie),
  GLM4_MOE("glm4moe", ExpertFamilies::glm4moe),
  MISTRAL3("mistral3", RopeFamilies::mistral3);

  private final String fileName;
  private final Function<String, FamilyModel> recipe;
  private final Function<String, FamilyModel> forLlamaCpp;

  Family(String fileName, Function<String, FamilyModel> recipe) {
    this(fileName, recipe, recipe);
  }

  Family(
      String fileName,
      Function<String, FamilyModel> recipe,
      Function<String, FamilyModel> forLlamaCpp) {
    this.fileName = fileName;
    this.recipe = recipe;
    this.forLlamaCpp = forLlamaCpp;
  }

  /** Returns the base name of its files. */
  String fileName() {
    return fileName;
  }

  FamilyModel model() {
    return recipe.apply(fileName);
  }

  /** Returns the same model in the form given to llama.cpp. */
  FamilyModel modelForLlamaCpp() {
    return forLlamaCpp.apply(fileName);
  }

  @Override
  public String toString() {
    return fileName;
  }
}
