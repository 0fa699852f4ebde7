package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The files of a repository that make a folder to load: settings, tokenizer and weights. */
final class SafetensorsFiles {
  private static final String CONFIG = "config.json";
  private static final String SINGLE = "model.safetensors";

  /** Calibration of a cache for the model, which loaders find beside its weights. */
  static final String PROFILE = "kvasir.profile";

  private static final String INDEX = "model.safetensors.index.json";

  /** Most tools count with five digits, some with six. */
  private static final Pattern SHARD =
      Pattern.compile("model[^/]*-(\\d{5,6})-of-(\\d{5,6})\\.safetensors");

  private static final Set<String> SETTINGS =
      Set.of(
          CONFIG,
          INDEX,
          "generation_config.json",
          "tokenizer.json",
          "tokenizer_config.json",
          "special_tokens_map.json",
          "added_tokens.json",
          "chat_template.jinja",
          "chat_template.json",
          "vocab.json",
          "vocab.txt",
          "merges.txt",
          "modules.json",
          "sentence_bert_config.json",
          "config_sentence_transformers.json",
          "1_Pooling/config.json",
          PROFILE);

  private SafetensorsFiles() {}

  static boolean isIn(HubListing listing) {
    return has(listing, CONFIG) && (has(listing, SINGLE) || has(listing, INDEX));
  }

  /**
   * @throws InvalidInputException if the repository has no such folder
   */
  static List<HubFile> of(HubReference reference, HubListing listing) {
    if (!isIn(listing)) {
      throw new InvalidInputException(
          "%s: has neither GGUF files nor a %s with %s; it has %s"
              .formatted(
                  reference,
                  CONFIG,
                  SINGLE,
                  ModelChoice.listed(listing.files().stream().map(HubFile::path))));
    }
    List<HubFile> found = new ArrayList<>();
    boolean isSingle = has(listing, SINGLE);
    for (HubFile file : listing.files()) {
      boolean isWeights =
          isSingle ? file.path().equals(SINGLE) : SHARD.matcher(file.path()).matches();
      if (isWeights || SETTINGS.contains(file.path())) {
        found.add(file);
      }
    }
    requireAllShards(reference, found);
    return List.copyOf(found);
  }

  private static void requireAllShards(HubReference reference, List<HubFile> files) {
    List<Matcher> shards =
        files.stream().map(file -> SHARD.matcher(file.path())).filter(Matcher::matches).toList();
    Optional<Integer> expected =
        shards.stream().findFirst().map(shard -> Integer.parseInt(shard.group(2)));
    if (expected.isPresent() && expected.get() != shards.size()) {
      throw new InvalidInputException(
          "%s: has %d of %d shards of the weights"
              .formatted(reference, shards.size(), expected.get()));
    }
  }

  static boolean isWeights(HubFile file) {
    return file.path().endsWith(".safetensors") || file.path().endsWith(".gguf");
  }

  private static boolean has(HubListing listing, String path) {
    return listing.files().stream().anyMatch(file -> file.path().equals(path));
  }
}
