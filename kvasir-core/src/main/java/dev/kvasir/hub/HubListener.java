package dev.kvasir.hub;

import java.util.List;

/** Notified while a model is fetched. Calls come from one thread. */
public interface HubListener {
  /** Ignores everything. */
  HubListener NONE = new HubListener() {};

  /**
   * What will be downloaded.
   *
   * @param name the model, with the quantization that was chosen
   * @param files all files of the model
   * @param missingBytes bytes to download
   * @param weightBytes bytes of the weights, which is about the memory that they take
   */
  record Plan(String name, List<String> files, long missingBytes, long weightBytes) {}

  /** Called before a download starts, once its size is known and the disk has room for it. */
  default void planned(Plan plan) {}

  /**
   * Called while bytes arrive.
   *
   * @param done bytes of all files of the plan that are on the disk, resumed ones included
   * @param total bytes of all files that had to be downloaded
   */
  default void downloaded(long done, long total) {}

  /** Called with a sentence for the user, such as why the cache is used. */
  default void note(String sentence) {}
}
