package dev.kvasir.lab.claim;

import java.nio.file.Path;

/** A model on which claims are tested. Its figures have a folder of their own. */
public enum TestBed {
  BUNDLED("bundled model", "", "28M parameters, 8 layers, 8 query and 2 KV heads of 64 channels"),
  TINYLLAMA(
      "TinyLlama 1.1B",
      "tinyllama",
      "22 layers, 32 query and 4 KV heads of 64 channels, mostly IQ2_XXS"),
  QWEN_SMALL(
      "Qwen2.5-Coder 0.5B", "qwen-0.5b", "24 layers, 14 query and 2 KV heads of 64 channels"),
  QWEN(
      "Qwen2.5-Coder 1.5B",
      "qwen-1.5b",
      "28 layers, 12 query and 2 KV heads of 128 channels, Q4_K_M"),
  CARD(
      "8B shape, H200",
      "8b-h200",
      "random weights, 32 layers, 32 query and 8 KV heads of 128; steps include about 0.05 ms per"
          + " sequence in which the benchmark cleared memory, so batches gain more than shown");

  private final String title;
  private final String folder;
  private final String description;

  TestBed(String title, String folder, String description) {
    this.title = title;
    this.folder = folder;
    this.description = description;
  }

  public String title() {
    return title;
  }

  String description() {
    return description;
  }

  /** Returns the folder with its figures. */
  Path folder(Path results) {
    return folder.isEmpty() ? results : results.resolve(folder);
  }
}
