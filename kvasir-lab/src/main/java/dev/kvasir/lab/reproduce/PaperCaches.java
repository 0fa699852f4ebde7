package dev.kvasir.lab.reproduce;

import dev.kvasir.runtime.LoadedModel;
import java.util.List;

/**
 * The caches of the papers' rows, with the settings of the papers. KIVI has groups of 128 numbers
 * in PatternKV's and PM-KVQ's tables, and of 32 in the others.
 */
final class PaperCaches {
  static final String FULL = "fp16";

  static final String KIVI_2 = "kivi:2,as=paper,group=128";
  static final String KIVI_4 = "kivi:4,as=paper,group=128";
  static final String KIVI_1_SMALL = "kivi:1,as=paper";
  static final String KIVI_2_SMALL = "kivi:2,as=paper";
  static final String KIVI_4_SMALL = "kivi:4,as=paper";

  static final String PATTERNKV_2 = "patternkv:2,as=paper";
  static final String PATTERNKV_4 = "patternkv:4,as=paper";

  static final String MIXKVQ = "mixkvq,as=paper";

  static final String PMKVQ_2 = "pmkvq:2,as=paper,widths=same";
  static final String PMKVQ_4 = "pmkvq:4,as=paper,widths=same";
  static final String PMKVQ_2_MIXED = "pmkvq:2,as=paper,widths=profile";
  static final String PMKVQ_4_MIXED = "pmkvq:4,as=paper,widths=profile";

  static final String COMMVQ_1 = "commvq:1,as=paper";
  static final String COMMVQ_2 = "commvq:2,as=paper";

  /** Thresholds of the paper for R1-Llama-8B, for models without their own. */
  private static final String MIXKVQ_THRESHOLDS = ",high=1.44,mid=0.79";

  private PaperCaches() {}

  /** Returns the rows with the thresholds that the model's profile lacks. */
  static List<TableRow> suited(List<TableRow> rows, LoadedModel model) {
    return rows.stream().map(row -> new TableRow(row.label(), suited(row.spec(), model))).toList();
  }

  static String suited(String spec, LoadedModel model) {
    boolean tuned =
        model.profile().filter(profile -> profile.parts().contains("mixkvq")).isPresent();
    return spec.startsWith("mixkvq") && !tuned ? spec + MIXKVQ_THRESHOLDS : spec;
  }

  static String patternkvWithout(String part) {
    return PATTERNKV_2 + ",%s=off".formatted(part);
  }

  static String patternkvWith(int patterns) {
    return PATTERNKV_2 + ",patterns=%d".formatted(patterns);
  }

  static String pmkvqShift(String shift) {
    return PMKVQ_4 + ",shift=%s".formatted(shift);
  }
}
