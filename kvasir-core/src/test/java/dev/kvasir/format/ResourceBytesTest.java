package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResourceBytesTest {
  private static final byte[] TEXT = "what the resource holds".getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;

  @Test
  void aFileIsMapped() throws IOException {
    Path file = Files.write(folder.resolve("a file with spaces"), TEXT);
    check(file.toUri().toURL(), true);
  }

  @Test
  void anUncompressedEntryIsMapped() throws IOException {
    Path jar = jar("a comment at the end", ZipEntry.STORED);
    check(inside(jar, "in/stored"), true);
    check(inside(jar, "last"), true);
  }

  @Test
  void aCompressedEntryIsRead() throws IOException {
    check(inside(jar("", ZipEntry.DEFLATED), "last"), false);
  }

  /** For any bytes, reads stay inside the file and return only its content. */
  @Test
  void aDamagedFileHasNoEntryOrOnlyItsOwnBytes() throws IOException {
    byte[] good = Files.readAllBytes(jar("", ZipEntry.STORED));
    Random random = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      byte[] bad = good.clone();
      for (int j = 0; j < 3; j++) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt();
      }
      new ZipStoredEntries(MemorySegment.ofArray(bad))
          .find("last".getBytes(StandardCharsets.UTF_8))
          .ifPresent(found -> assertThat(found.byteSize()).isLessThanOrEqualTo(bad.length));
    }
    assertThat(new ZipStoredEntries(MemorySegment.ofArray(new byte[3])).find(TEXT)).isEmpty();
  }

  private static void check(URL resource, boolean mapped) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = ResourceBytes.of(resource, arena);
      assertThat(bytes.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(TEXT);
      assertThat(bytes.isMapped()).isEqualTo(mapped);
    }
  }

  private static URL inside(Path jar, String entry) throws IOException {
    return URI.create("jar:%s!/%s".formatted(jar.toUri(), entry)).toURL();
  }

  private Path jar(String comment, int method) throws IOException {
    Path jar = folder.resolve("some.jar");
    try (OutputStream out = Files.newOutputStream(jar);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setComment(comment);
      for (String name : new String[] {"in/stored", "in/stored again", "last"}) {
        ZipEntry entry = new ZipEntry(name);
        entry.setMethod(method);
        if (method == ZipEntry.STORED) {
          CRC32 sum = new CRC32();
          sum.update(TEXT);
          entry.setSize(TEXT.length);
          entry.setCrc(sum.getValue());
        }
        zip.putNextEntry(entry);
        zip.write(TEXT);
        zip.closeEntry();
      }
    }
    return jar;
  }
}
