package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A whole file mapped read-only into the address space, with the arena that unmaps it. */
record MappedFile(String name, MemorySegment bytes, Arena arena) {
  static MappedFile open(Path file) {
    if (Files.isDirectory(file)) {
      throw new InvalidInputException(file + ": is a folder; a file was expected");
    }
    Arena arena = Arena.ofShared();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      return new MappedFile(file.toString(), bytes, arena);
    } catch (NoSuchFileException e) {
      arena.close();
      throw new InvalidInputException(file + ": no such file", e);
    } catch (IOException e) {
      arena.close();
      throw new InvalidInputException(file + ": cannot be read: " + e.getMessage(), e);
    }
  }
}
