package dev.kvasir.lab.roundtrip;

import dev.kvasir.format.NpyFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The open files of a dump. */
public final class DumpFiles implements AutoCloseable {
  private final List<NpyFile> open = new ArrayList<>();
  private Dump dump;

  private DumpFiles() {}

  /** Maps the files and checks that their shapes match. */
  public static DumpFiles open(Path keys, Path values, Optional<Path> queries) {
    DumpFiles files = new DumpFiles();
    try {
      files.dump =
          new Dump(files.vectors(keys), files.vectors(values), queries.map(files::vectors));
      return files;
    } catch (RuntimeException | Error e) {
      files.close();
      throw e;
    }
  }

  private HeadVectors vectors(Path file) {
    NpyFile opened = NpyFile.open(file);
    open.add(opened);
    return new HeadVectors(opened.tensor());
  }

  /** Returns the dump, which is readable until this object is closed. */
  public Dump dump() {
    return dump;
  }

  @Override
  public void close() {
    open.forEach(NpyFile::close);
  }
}
