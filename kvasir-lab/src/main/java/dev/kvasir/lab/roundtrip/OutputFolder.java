package dev.kvasir.lab.roundtrip;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.NpyWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The folder for the arrays of a round trip, created with the first of them. */
public final class OutputFolder {
  static final String KEYS = "keys.npy";
  static final String VALUES = "values.npy";
  static final String OUTPUT = "output.npy";

  private final Path folder;

  private OutputFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * @param inputs files that must not be overwritten; arrays of a dump often have the same names
   */
  public static OutputFolder of(Path folder, List<Path> inputs) {
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw new InvalidInputException(folder + ": is a file; a folder was expected");
    }
    for (String name : List.of(KEYS, VALUES, OUTPUT)) {
      for (Path input : inputs) {
        if (isSame(folder.resolve(name), input)) {
          throw new InvalidInputException(
              "%s: would overwrite the input %s; expected another folder".formatted(folder, input));
        }
      }
    }
    return new OutputFolder(folder);
  }

  private static boolean isSame(Path output, Path input) {
    try {
      return Files.exists(output) && Files.isSameFile(output, input);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be looked at".formatted(output), e);
    }
  }

  NpyWriter begin(String name, long... shape) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be made a folder".formatted(folder), e);
    }
    return NpyWriter.create(folder.resolve(name), shape);
  }
}
