package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.ProtectedMappings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A read-only memory-mapped file, and the arena that unmaps it. */
public record MappedFile(String name, MemorySegment bytes, Arena arena) {
  /** Maps the file in its own arena. */
  public static MappedFile open(Path file) {
    Arena arena = Arena.ofShared();
    try {
      return open(file, arena);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** Maps the file in a given arena. */
  public static MappedFile open(Path file, Arena arena) {
    if (Files.isDirectory(file)) {
      throw new InvalidInputException(file + ": is a folder; a file was expected");
    }
    // Opening a pipe would block, and neither a pipe nor a device can be mapped.
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new InvalidInputException(file + ": is a pipe or a device; a file was expected");
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      ProtectedMappings.add(bytes, arena);
      return new MappedFile(file.toString(), bytes, arena);
    } catch (NoSuchFileException e) {
      throw new InvalidInputException(file + ": no such file", e);
    } catch (AccessDeniedException e) {
      throw new InvalidInputException(file + ": this user may not read it", e);
    } catch (IOException | UnsupportedOperationException e) {
      throw new InvalidInputException(file + ": cannot be mapped: " + e.getMessage(), e);
    }
  }
}
