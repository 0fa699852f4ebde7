package dev.kvasir.lab.report;

import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.spi.QuantizationMethod;

/**
 * How plots show the methods of a family, with a color of contrast 3.8 or more on white and near
 * black.
 */
record FamilyStyle(String title, String colour) {
  static FamilyStyle of(MethodFamily family) {
    return switch (family) {
      case TOKEN_TABLES -> new FamilyStyle("tables of tokens", "#e0395f");
      case GROUP_SCALES -> new FamilyStyle("scales by group", "#3f86cf");
      case ROTATIONS -> new FamilyStyle("rotation, smoothing", "#9a7d0a");
      case MIXED_WIDTHS -> new FamilyStyle("mixed precision", "#1f9379");
      case CODEBOOKS -> new FamilyStyle("codebooks", "#a868c9");
      case OTHER -> new FamilyStyle("others", SvgPicture.GREY);
    };
  }

  /** Returns the family of a method; one that is not on the class path is like others. */
  static MethodFamily family(String method) {
    return MethodRegistry.named(method).map(QuantizationMethod::family).orElse(MethodFamily.OTHER);
  }

  /** Returns the color of a method. */
  static String colour(String method) {
    return of(family(method)).colour();
  }
}
