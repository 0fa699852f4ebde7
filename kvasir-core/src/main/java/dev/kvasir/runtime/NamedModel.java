package dev.kvasir.runtime;

import dev.kvasir.LoadOptions;
import dev.kvasir.hub.HubListener;
import dev.kvasir.hub.ModelHub;
import java.nio.file.Path;

/** Finds the files of a model that an application names. */
public final class NamedModel {
  private static final System.Logger LOG = System.getLogger(NamedModel.class.getName());

  private NamedModel() {}

  /**
   * Returns the file or folder to load, after downloading a model that is named.
   *
   * @param model a path, or {@code hf:owner/repo[:selector][@revision]}
   */
  public static Path path(String model, LoadOptions.Progress progress) {
    return ModelHub.resolve(
        model,
        new HubListener() {
          @Override
          public void downloaded(long done, long total) {
            progress.downloaded(done, total);
          }

          @Override
          public void note(String sentence) {
            LOG.log(System.Logger.Level.INFO, sentence);
          }
        });
  }
}
