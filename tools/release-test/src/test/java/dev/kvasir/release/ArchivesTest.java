package dev.kvasir.release;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archives without a Java of their own, and the files of package managers that name them. */
@Tag("thorough")
class ArchivesTest {
  private static final Pattern URL_AND_SUM =
      Pattern.compile("url \"[^\"]*/([^\"/]+)\"\\s+sha256 \"([0-9a-f]{64})\"");

  @TempDir static Path scratch;
  private static Path made;
  private static String version;

  @BeforeAll
  static void makeThem() throws Exception {
    Script.assumeItCanRun();
    made = scratch.resolve("made");
    Script.Outcome outcome = Script.run(scratch, "--no-build", "--all", "--out", made.toString());
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    version = Pom.of("").text("/project/version");
  }

  @AfterAll
  static void unlink() throws IOException {
    Script.deleteLinks(scratch);
  }

  private static Map<String, String> sums() throws IOException {
    Map<String, String> sums = new TreeMap<>();
    for (String line : Files.readAllLines(made.resolve("SHA256SUMS"))) {
      sums.put(line.substring(66), line.substring(0, 64));
    }
    return sums;
  }

  private static JsonObject json(String name) throws IOException {
    return JsonParser.parseString(Files.readString(made.resolve(name))).getAsJsonObject();
  }

  @Test
  void everyArchiveIsInTheSumsWithItsHash() throws Exception {
    assertThat(sums()).hasSize(3);
    for (Map.Entry<String, String> sum : sums().entrySet()) {
      assertThat(Script.sha256(made.resolve(sum.getKey())))
          .as(sum.getKey())
          .isEqualTo(sum.getValue());
    }
  }

  @Test
  void theFormulaOfHomebrewHasTheHashesOfItsArchives() throws Exception {
    if (!System.getProperty("os.arch").equals("amd64")) {
      assertThat(made.resolve("kvasir.rb")).doesNotExist();
      return;
    }
    Matcher archives = URL_AND_SUM.matcher(Files.readString(made.resolve("kvasir.rb")));
    Map<String, String> named = new TreeMap<>();
    while (archives.find()) {
      named.put(archives.group(1), archives.group(2));
    }
    assertThat(named).hasSize(2);
    assertThat(sums()).containsAllEntriesOf(named);
  }

  @Test
  void theManifestOfScoopHasTheHashOfItsArchive() throws Exception {
    JsonObject manifest = json("kvasir.json");
    JsonObject archive = manifest.getAsJsonObject("architecture").getAsJsonObject("64bit");
    String url = archive.get("url").getAsString();
    String file = url.substring(url.lastIndexOf('/') + 1);
    assertThat(sums()).containsEntry(file, archive.get("hash").getAsString());
    try (ZipFile zip = new ZipFile(made.resolve(file).toFile())) {
      String program =
          archive.get("extract_dir").getAsString() + "/" + manifest.get("bin").getAsString();
      assertThat(zip.getEntry(program.replace('\\', '/'))).isNotNull();
    }
  }

  @Test
  void theCatalogueOfJBangNamesThePublishedCommand() throws Exception {
    JsonObject alias =
        json("jbang-catalog.json").getAsJsonObject("aliases").getAsJsonObject("kvasir");
    assertThat(alias.get("script-ref").getAsString()).isEqualTo("dev.kvasir:kvasir-cli:" + version);
    assertThat(Class.forName(alias.get("main").getAsString()).getMethod("main", String[].class))
        .isNotNull();
  }

  @Test
  void theArchiveForWindowsHasItsLauncherAndLibrary() throws Exception {
    String name = "kvasir-%s-windows-x86_64".formatted(version);
    try (ZipFile zip = new ZipFile(made.resolve(name + ".zip").toFile())) {
      assertThat(zip.stream().map(Object::toString))
          .allMatch(entry -> entry.startsWith(name + "/"))
          .noneMatch(entry -> entry.contains("/runtime/"))
          .contains(name + "/app/kvasir.jar", name + "/LICENSE", name + "/THIRD-PARTY.md");
      String launcher =
          new String(
              zip.getInputStream(zip.getEntry(name + "/bin/kvasir.cmd")).readAllBytes(), UTF_8);
      // The command interpreter finds labels reliably in lines that end in both characters only.
      assertThat(launcher).startsWith("@echo off\r\n").doesNotContainPattern("[^\r]\n");
      Path jar = scratch.resolve("tokenizers.jar");
      String entry =
          zip.stream()
              .map(Object::toString)
              .filter(each -> each.contains("/lib/tokenizers-"))
              .findFirst()
              .orElseThrow();
      Files.copy(zip.getInputStream(zip.getEntry(entry)), jar);
      assertThat(librariesIn(jar)).isNotEmpty().allMatch(each -> each.contains("/win-x86_64/"));
    }
  }

  private static List<String> librariesIn(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.stream()
          .map(Object::toString)
          .filter(name -> name.matches(".*\\.(so|dylib|dll)"))
          .toList();
    }
  }

  @Test
  void theArchiveForMacOsRunsWithAJavaThatIsNewEnoughOnly() throws Exception {
    Path root =
        Script.unpack(
            made.resolve("kvasir-%s-macos-aarch64.tar.gz".formatted(version)),
            scratch.resolve("a mac"),
            scratch);
    assertThat(root.resolve("runtime")).doesNotExist();
    try (var jars = Files.list(root.resolve("app/lib"))) {
      Path tokenizers =
          jars.filter(jar -> jar.getFileName().toString().startsWith("tokenizers-"))
              .findFirst()
              .orElseThrow();
      assertThat(librariesIn(tokenizers))
          .containsExactly("native/lib/osx-aarch64/cpu/libtokenizers.dylib");
    }
    Script.Outcome told = Script.outcome(launcher(root, System.getProperty("java.home")), scratch);
    assertThat(told.err()).isEmpty();
    assertThat(told.out()).startsWith("kvasir " + version + " (Java ");

    Path old = Files.createDirectories(scratch.resolve("old/bin"));
    Files.writeString(
        old.resolve("java"), "#!/bin/bash\necho 'openjdk version \"21.0.1\" 2023-10-17' >&2\n");
    assertThat(old.resolve("java").toFile().setExecutable(true)).isTrue();
    Script.Outcome refused = Script.outcome(launcher(root, old.getParent().toString()), scratch);
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).startsWith("kvasir: no Java 25 or later was found").hasLineCount(1);
  }

  private static ProcessBuilder launcher(Path root, String javaHome) throws IOException {
    ProcessBuilder builder =
        Script.withoutJava(
            scratch.resolve("tools"), List.of(root.resolve("bin/kvasir").toString(), "--version"));
    builder.environment().put("JAVA_HOME", javaHome);
    return builder;
  }
}
