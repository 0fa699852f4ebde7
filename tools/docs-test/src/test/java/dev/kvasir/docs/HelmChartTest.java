package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.ParsedCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Helm chart starts `kvasir serve` with options that exist, from values that exist. */
class HelmChartTest {
  private static final Path CHART = Pages.ROOT.resolve("tools/packaging/helm/kvasir");
  private static final String KUBERNETES = "1.33.0"; // a helm that was built from source has none
  private static final Pattern VALUE = Pattern.compile("\\.Values\\.([A-Za-z.]+)");
  private static final Pattern KEY = Pattern.compile("^( *)([A-Za-z]+):(?: +(.*))?$");
  private static final Pattern EXPRESSION = Pattern.compile("\\{\\{-? *([^}]*?) *-?}}");
  private static final Pattern ARGUMENT = Pattern.compile("^ *- (serve|--.*)$");

  /** Returns the values by their path, those of lists and maps as empty text. */
  private static Map<String, String> values() throws IOException {
    Map<String, String> values = new TreeMap<>();
    List<String> path = new ArrayList<>();
    for (String line : Files.readAllLines(CHART.resolve("values.yaml"))) {
      KEY.matcher(line)
          .results()
          .forEach(
              match -> {
                int depth = match.group(1).length() / 2;
                path.subList(Math.min(depth, path.size()), path.size()).clear();
                path.add(match.group(2));
                String value = match.group(3) == null ? "" : match.group(3);
                values.put(String.join(".", path), value.replaceAll("^\"|\"$", ""));
              });
    }
    return values;
  }

  private static String templates() throws IOException {
    try (Stream<Path> files = Files.list(CHART.resolve("templates"))) {
      StringBuilder all = new StringBuilder();
      for (Path file : files.sorted().toList()) {
        all.append(Files.readString(file));
      }
      return all.toString();
    }
  }

  private static Set<String> usedValues() throws IOException {
    return VALUE
        .matcher(templates())
        .results()
        .map(match -> match.group(1).replaceAll("\\.$", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void templatesUseOnlyValuesThatExist() throws IOException {
    assertThat(values().keySet()).containsAll(usedValues());
  }

  @Test
  void everyValueIsUsed() throws IOException {
    Set<String> used = usedValues();
    assertThat(values().keySet())
        .allSatisfy(
            path ->
                assertThat(used)
                    .as(path)
                    .anyMatch(
                        other ->
                            path.equals(other)
                                || path.startsWith(other + ".")
                                || other.startsWith(path + ".")));
  }

  /** All options together, with the default of each value or a placeholder. */
  @Test
  void theCommandOfTheTemplateParses() throws IOException {
    Map<String, String> values = values();
    List<String> words =
        Files.readString(CHART.resolve("templates/_arguments.tpl"))
            .lines()
            .flatMap(line -> ARGUMENT.matcher(line).results())
            .map(match -> EXPRESSION.matcher(match.group(1)).replaceAll(one -> value(one, values)))
            .toList();
    assertThat(words).contains("serve", "--kv=SPEC", "--kv-memory=2GiB", "--device=cuda");
    assertThat(new ParsedCommand(words).errors()).isEmpty();
  }

  private static String value(MatchResult expression, Map<String, String> values) {
    String path = expression.group(1).replaceFirst("^\\.Values\\.", "");
    return values.getOrDefault(path, "SPEC");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "insecure=true",
        "apiKeys.secret=keys,replicas=3,store.redis=redis://redis:6379,serviceMonitor.enabled=true",
        "apiKeys.values={a-long-key},store.volume.enabled=true,autoscaling.enabled=true",
        "insecure=true,gpu.enabled=true,server.context=8192,server.options={--speculate=off}",
        "insecure=true,model.name=hf:o/r,model.tokenSecret=hub,store.redisSecret=redis,image.tag=1"
      })
  void helmRendersACommandThatParses(String set) throws Exception {
    String rendered = helm(0, "template", "kv", "--kube-version", KUBERNETES, "--set", set);
    assertThat(rendered).contains("path: /livez", "path: /readyz", "runAsNonRoot: true");
    List<String> words =
        rendered
            .lines()
            .flatMap(line -> ARGUMENT.matcher(line.replace("\"", "")).results())
            .map(match -> match.group(1))
            .toList();
    assertThat(words).startsWith("serve", "--host=0.0.0.0");
    assertThat(new ParsedCommand(words).errors()).isEmpty();
    assertThat(helm(0, "lint", "--strict", "--kube-version", KUBERNETES, "--set", set))
        .contains("0 chart(s) failed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "replicas=1",
        "insecure=true,gpu.enabled=true,store.redis=redis://redis",
        "insecure=true,cache.memory=2G",
        "insecure=true,store.redis=http://redis"
      })
  void helmRefusesValuesThatCannotWork(String set) throws Exception {
    helm(1, "template", "kv", "--kube-version", KUBERNETES, "--set", set);
  }

  private static String helm(int status, String... arguments) throws Exception {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "helm"))),
        "helm is not on the PATH");
    List<String> command = new ArrayList<>(List.of("helm"));
    command.addAll(List.of(arguments));
    command.add(CHART.toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(output).isEqualTo(status);
    return output;
  }
}
