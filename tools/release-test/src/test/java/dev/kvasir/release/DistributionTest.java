package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An unpacked distribution, run without any other Java. Making it takes half a minute. */
@Tag("thorough")
class DistributionTest {
  private static final Pattern ADDRESS = Pattern.compile("at (http://127\\.0\\.0\\.1:(\\d+)/)");
  private static final long PATIENCE_SECONDS = 120;

  @TempDir static Path scratch;
  private static Path root;

  @BeforeAll
  static void makeAndUnpack() throws Exception {
    Script.assumeItCanRun();
    root = Script.unpacked(scratch);
  }

  @AfterAll
  static void unlink() throws IOException {
    Script.deleteLinks(scratch);
  }

  private static ProcessBuilder command(Path program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    return Script.withoutJava(scratch.resolve("tools"), command);
  }

  private static ProcessBuilder kvasir(String... arguments) throws IOException {
    return command(root.resolve("bin/kvasir"), arguments);
  }

  @Test
  void itTellsItsVersionAlsoThroughALink() throws Exception {
    Path link = Files.createSymbolicLink(scratch.resolve("link"), root.resolve("bin/kvasir"));
    Script.Outcome told = Script.outcome(command(link, "--version"), scratch);
    String version = root.getFileName().toString().replaceAll("^kvasir-|-linux-.*$", "");
    assertThat(told.err()).isEmpty();
    assertThat(told.out()).startsWith("kvasir " + version + " (Java ");
    assertThat(told.exitCode()).isZero();
  }

  @Test
  void itContinuesATextWithAnArchiveOfClassesThatFitsInItsNewPlace() throws Exception {
    ProcessBuilder generate = kvasir("generate", "--max-tokens", "8", "Once upon a time");
    // Makes an archive that does not match an error.
    generate.environment().put("KVASIR_JAVA_OPTS", "-Xshare:on");
    Script.Outcome continued = Script.outcome(generate, scratch);
    assertThat(continued.exitCode()).as(continued.err()).isZero();
    assertThat(continued.out()).isNotBlank();
    assertThat(continued.err()).startsWith("prompt ").hasLineCount(1);
  }

  @Test
  void optionsMeantForAnotherJavaDoNotReachIt() throws Exception {
    ProcessBuilder version = kvasir("--version");
    version.environment().put("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption");
    assertThat(Script.outcome(version, scratch).exitCode()).isZero();
  }

  @Test
  void benchmarksAndLibrariesOfOtherPlatformsAreLeftOut() throws Exception {
    Script.Outcome bench = Script.outcome(kvasir("bench", "model"), scratch);
    assertThat(bench.exitCode()).isEqualTo(2);
    String platform = root.getFileName().toString().replaceAll("^.*-linux-", "linux-");
    try (JarFile tokenizers = new JarFile(library("tokenizers-").toFile())) {
      assertThat(tokenizers.stream().map(Object::toString))
          .filteredOn(name -> name.matches(".*\\.(so|dylib|dll)"))
          .containsExactly("native/lib/%s/cpu/libtokenizers.so".formatted(platform));
    }
  }

  private static Path library(String beginning) throws IOException {
    return libraries().stream()
        .filter(jar -> jar.getFileName().toString().startsWith(beginning))
        .findFirst()
        .orElseThrow();
  }

  private static List<Path> libraries() throws IOException {
    try (Stream<Path> jars = Files.list(root.resolve("app/lib"))) {
      return jars.toList();
    }
  }

  @Test
  void everyLibraryOfOthersIsInTheNotices() throws Exception {
    String notices = Files.readString(root.resolve("THIRD-PARTY.md"));
    assertThat(libraries())
        .map(jar -> jar.getFileName().toString().replace(".jar", ""))
        .filteredOn(name -> !name.startsWith("kvasir-"))
        .allSatisfy(name -> assertThat(notices).contains("`" + name + "`"));
  }

  @Test
  void aServerAnswersAndTheSignalTermEndsItWellInTheMidstOfAStream() throws Exception {
    Process server = kvasir("serve", "--port", "0").start();
    try (HttpClient client = HttpClient.newHttpClient();
        BufferedReader log = server.errorReader()) {
      Matcher address = ADDRESS.matcher(log.readLine());
      assertThat(address.find()).isTrue();
      URI uri = URI.create(address.group(1));

      String health =
          client
              .send(HttpRequest.newBuilder(uri.resolve("health")).build(), BodyHandlers.ofString())
              .body();
      assertThat(health).contains("\"ok\"");
      ProcessBuilder check = command(root.resolve("share/healthcheck"), address.group(2));
      assertThat(Script.outcome(check, scratch).exitCode()).isZero();

      String answer =
          client
              .send(
                  post(uri.resolve("v1/completions"), "{'prompt': 'Once upon', 'max_tokens': 4}"),
                  BodyHandlers.ofString())
              .body();
      assertThat(answer).contains("\"text_completion\"");

      // Uses the handle, because Process.destroy would also close the stream with its last output.
      assertThat(endOfAStreamDuringWhich(server.toHandle()::destroy, client, uri))
          .contains("shutting_down");
      assertThat(server.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exitValue()).isZero();
      assertThat(log.lines()).last().isEqualTo("ending all answers");
    } finally {
      server.destroyForcibly();
    }
    Script.Outcome gone = Script.outcome(command(root.resolve("share/healthcheck"), "1"), scratch);
    assertThat(gone.exitCode()).isEqualTo(1);
  }

  /** Returns the last event of a long answer that is ended by another event. */
  private static String endOfAStreamDuringWhich(Runnable event, HttpClient client, URI uri)
      throws Exception {
    String token = token(client, uri);
    String endless =
        "{'prompt': 'Once', 'max_tokens': 16000, 'stream': true, 'temperature': 0,"
            + " 'logit_bias': {'%s': 100}}".formatted(token);
    Stream<String> lines =
        client.send(post(uri.resolve("v1/completions"), endless), BodyHandlers.ofLines()).body();
    String last = "";
    boolean happened = false;
    for (Iterator<String> each = lines.iterator(); each.hasNext(); ) {
      String line = each.next();
      if (!line.startsWith("data: ")) {
        continue;
      }
      last = line;
      if (!happened) {
        happened = true;
        event.run();
      }
    }
    return last;
  }

  /** Returns a token that an answer can repeat without end. */
  private static String token(HttpClient client, URI uri) throws Exception {
    try (InputStream body =
        client
            .send(post(uri.resolve("tokenize"), "{'content': 'the'}"), BodyHandlers.ofInputStream())
            .body()) {
      String json = new String(body.readAllBytes());
      return JsonParser.parseString(json)
          .getAsJsonObject()
          .getAsJsonArray("tokens")
          .get(0)
          .getAsString();
    }
  }

  private static HttpRequest post(URI uri, String json) {
    return HttpRequest.newBuilder(uri)
        .POST(BodyPublishers.ofString(json.replace('\'', '"')))
        .build();
  }
}
