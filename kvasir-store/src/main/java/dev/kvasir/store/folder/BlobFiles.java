package dev.kvasir.store.folder;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobName.Kind;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;

/**
 * Which blob lies in which file, {@code blocks/ab/ab12….kvblock} or {@code
 * records/ab/ab12….kvrecord}: 256 folders of each kind keep listings short. Files with other names
 * are not ours: they are neither counted nor touched.
 */
record BlobFiles(Path folder) {
  /** Digits that name a blob's folder. */
  private static final int PREFIX_DIGITS = 2;

  /** A file of ours, as it was when it was listed. */
  record Entry(Path file, long bytes, FileTime lastUsed) {}

  Path file(BlobName name) {
    return folder
        .resolve(kindFolder(name.kind()))
        .resolve(name.hex().substring(0, PREFIX_DIGITS))
        .resolve(name.hex() + extension(name.kind()));
  }

  private static String kindFolder(Kind kind) {
    return kind.word() + "s";
  }

  private static String extension(Kind kind) {
    return ".kv" + kind.word();
  }

  /** Where files are written before they get their names: the same disk, so a rename suffices. */
  Path unfinished() {
    return folder.resolve("unfinished");
  }

  /** Locked by the process that removes old files, so that two do not remove twice as many. */
  FolderLock evictionLock() {
    return new FolderLock(folder.resolve("eviction.lock"));
  }

  /** Locked by the process that adds to a record, from when it reads it until it is written. */
  FolderLock appendLock() {
    return new FolderLock(folder.resolve("append.lock"));
  }

  /** All that lies there of ours. Files that come or go meanwhile may be in it or not. */
  List<Entry> list() throws IOException {
    List<Entry> entries = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      for (Path subfolder : children(folder.resolve(kindFolder(kind)))) {
        for (Path file : children(subfolder)) {
          if (isOurs(kind, subfolder, file)) {
            add(file, entries);
          }
        }
      }
    }
    return entries;
  }

  private static void add(Path file, List<Entry> entries) throws IOException {
    try {
      BasicFileAttributes found = attributes(file);
      if (found.isRegularFile()) {
        entries.add(new Entry(file, found.size(), found.lastModifiedTime()));
      }
    } catch (NoSuchFileException e) {
      // Another process has removed it since it was listed.
    }
  }

  /** Of what lies there itself: a link leads to what is not ours. */
  static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  /** Bytes of a plain file; -1 where there is none. */
  static long length(Path file) throws IOException {
    try {
      BasicFileAttributes found = attributes(file);
      return found.isRegularFile() ? found.size() : -1;
    } catch (NoSuchFileException e) {
      return -1;
    }
  }

  private static boolean isOurs(Kind kind, Path subfolder, Path file) {
    String name = file.getFileName().toString();
    if (!name.endsWith(extension(kind))) {
      return false;
    }
    String hex = name.substring(0, name.length() - extension(kind).length());
    return BlobName.isHex(hex)
        && subfolder.getFileName().toString().equals(hex.substring(0, PREFIX_DIGITS));
  }

  /** What is in a folder; nothing if there is none. */
  static List<Path> children(Path folder) throws IOException {
    List<Path> children = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
      stream.forEach(children::add);
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return children;
  }
}
