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
 * The file layout of a store folder: {@code blocks/ab/ab12….kvblock} and {@code
 * records/ab/ab12….kvrecord}. 256 subfolders of each kind keep listings short. Files with other
 * names are neither counted nor touched.
 */
record BlobFiles(Path folder) {
  /** The leading digits that name a blob's subfolder. */
  private static final int PREFIX_DIGITS = 2;

  /** A blob file as it was when listed. */
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

  /** Returns the folder of incomplete files, on the same disk, so that a rename completes them. */
  Path unfinished() {
    return folder.resolve("unfinished");
  }

  /** Returns the lock of the process that evicts, so that two do not evict twice as much. */
  FolderLock evictionLock() {
    return new FolderLock(folder.resolve("eviction.lock"));
  }

  /** Returns the lock held while a process reads a record, appends and writes it. */
  FolderLock appendLock() {
    return new FolderLock(folder.resolve("append.lock"));
  }

  /** Lists all blob files. Files created or deleted meanwhile may or may not appear. */
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
      // Another process deleted it after the listing.
    }
  }

  /** Returns the attributes without following links, which could leave the folder. */
  static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  /** Returns the size of a regular file; -1 if there is none. */
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

  /** Returns the entries of a folder; empty if it does not exist. */
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
