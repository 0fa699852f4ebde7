package dev.kvasir.hub;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The quantization that the name of a GGUF file ends with, such as {@code Q4_K_M}. */
final class QuantizationTag {
  private static final Pattern TAG =
      Pattern.compile(
          "(?:^|[-._/])((?:UD-)?(?:I?Q[1-8](?:_[A-Z0-9]{1,4})*|TQ[12]_0|MXFP4(?:_MOE)?|NVFP4|BF16"
              + "|FP?16|FP?32))(?=$|[-._/])");

  /**
   * From the usual trade-off of size and quality to what is further from it: other types of four
   * bits, then five, six, three, eight, two, and floats last.
   */
  private static final List<String> NEAREST =
      List.of(
          "Q4_K_M",
          "UD-Q4_K_XL",
          "Q4_K_XL",
          "Q4_K_L",
          "Q4_K_S",
          "Q4_K",
          "IQ4_NL",
          "Q4_1",
          "IQ4_XS",
          "Q4_0",
          "MXFP4_MOE",
          "MXFP4",
          "Q5_K_M",
          "UD-Q5_K_XL",
          "Q5_K_L",
          "Q5_K_S",
          "Q5_K",
          "Q5_1",
          "Q5_0",
          "UD-Q6_K_XL",
          "Q6_K_L",
          "Q6_K",
          "UD-Q3_K_XL",
          "Q3_K_XL",
          "Q3_K_L",
          "Q3_K_M",
          "IQ3_M",
          "Q8_0",
          "UD-Q8_K_XL",
          "Q3_K_S",
          "Q3_K",
          "IQ3_S",
          "IQ3_XS",
          "IQ3_XXS",
          "UD-Q2_K_XL",
          "Q2_K_L",
          "Q2_K",
          "IQ2_M",
          "IQ2_S",
          "IQ2_XS",
          "IQ2_XXS",
          "BF16",
          "F16",
          "F32",
          "IQ1_M",
          "IQ1_S");

  private QuantizationTag() {}

  /** Returns the last tag in a path, in upper case. */
  static Optional<String> of(String path) {
    Matcher tags = TAG.matcher(path.toUpperCase(Locale.ROOT).replaceAll("\\.GGUF$", ""));
    Optional<String> last = Optional.empty();
    int from = 0;
    // Two tags may share a separator, so the search resumes before it.
    while (tags.find(from)) {
      last = Optional.of(tags.group(1).replaceFirst("^FP", "F"));
      from = tags.end();
    }
    return last;
  }

  /** Returns how far a tag is from the best choice; unknown ones are last. */
  static int distance(Optional<String> tag) {
    int index = tag.map(NEAREST::indexOf).orElse(-1);
    return index < 0 ? NEAREST.size() : index;
  }

  /** Returns whether a tag is what a user typed; the prefix of dynamic types may be left out. */
  static boolean matches(Optional<String> tag, String typed) {
    String wanted = typed.toUpperCase(Locale.ROOT).replaceFirst("^FP", "F");
    return tag.filter(found -> found.equals(wanted) || found.equals("UD-" + wanted)).isPresent();
  }
}
