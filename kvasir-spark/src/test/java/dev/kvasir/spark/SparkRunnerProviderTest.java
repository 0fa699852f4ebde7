package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SparkRunnerProviderTest {
  @Test
  void executorsGetKvasirWithOtherJars() {
    Path own = Path.of("/somewhere/kvasir-spark.jar");
    assertThat(SparkRunnerProvider.withOwn(own, ""))
        .isEqualTo("file:///somewhere/kvasir-spark.jar");
    assertThat(SparkRunnerProvider.withOwn(own, "a.jar,b.jar"))
        .isEqualTo("a.jar,b.jar,file:///somewhere/kvasir-spark.jar");
    String submitted = "file:/staged/kvasir-spark.jar,a.jar";
    assertThat(SparkRunnerProvider.withOwn(own, submitted)).isEqualTo(submitted);
  }

  @Test
  void masterCannotBeSetTwice() {
    assertThatThrownBy(() -> SparkRunnerProvider.conf("local[2]", Map.of("spark.master", "yarn")))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("--conf sets spark.master to 'yarn'; expected --on to name it");
  }

  @Test
  void resultLimitIsRaisedByDefault() {
    String key = "spark.driver.maxResultSize";
    assertThat(SparkRunnerProvider.conf("local", Map.of()).get(key)).isEqualTo("4g");
    assertThat(SparkRunnerProvider.conf("local", Map.of(key, "2g")).get(key)).isEqualTo("2g");
  }
}
