package dev.kvasir.hub;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A GGUF model of a repository: one file, or all parts of a split one.
 *
 * @param name path without the number of the part and the extension
 * @param parts ordered by number
 * @param complete whether every part is listed
 */
record GgufModel(String name, List<HubFile> parts, boolean complete) {
  private static final Pattern PART = Pattern.compile("(.+)-(\\d{5})-of-(\\d{5})\\.gguf");
  private static final String EXTENSION = ".gguf";

  /** Returns the models in a listing, without projectors of images and importance matrices. */
  static List<GgufModel> in(List<HubFile> files) {
    Map<String, List<HubFile>> byName = new LinkedHashMap<>();
    files.stream()
        .filter(file -> file.path().endsWith(EXTENSION) && isLanguageModel(file.name()))
        .sorted(Comparator.comparing(HubFile::path))
        .forEach(file -> byName.computeIfAbsent(key(file), any -> new ArrayList<>()).add(file));
    return byName.values().stream().map(GgufModel::of).toList();
  }

  private static boolean isLanguageModel(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return !lower.contains("mmproj") && !lower.contains("imatrix");
  }

  /** Parts of splits into different counts are different models. */
  private static String key(HubFile file) {
    Matcher part = PART.matcher(file.path());
    return part.matches() ? part.group(1) + "-of-" + part.group(3) : file.path();
  }

  private static GgufModel of(List<HubFile> parts) {
    String path = parts.getFirst().path();
    Matcher part = PART.matcher(path);
    if (!part.matches()) {
      return new GgufModel(path.substring(0, path.length() - EXTENSION.length()), parts, true);
    }
    boolean complete = parts.size() == Integer.parseInt(part.group(3));
    return new GgufModel(part.group(1), List.copyOf(parts), complete);
  }

  Optional<String> tag() {
    return QuantizationTag.of(name);
  }

  /** Returns whether a path or a file name is that of a part. */
  boolean isNamed(String typed) {
    return parts.stream().anyMatch(part -> part.path().equals(typed) || part.name().equals(typed));
  }
}
