package dev.kvasir.cli.origin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class OriginTest {
  @Test
  void aCommandCanBeTypedAgain() {
    assertThat(Origin.commandLine(List.of("eval", "--kv", "kivi:4,group=32;kivi:2", "a b", "it's")))
        .isEqualTo("kvasir eval --kv 'kivi:4,group=32;kivi:2' 'a b' 'it'\\''s'");
  }

  @Test
  void secretsOfSettingsAreRedacted() {
    assertThat(
            Origin.commandLine(
                List.of(
                    "eval",
                    "--on",
                    "yarn",
                    "--conf",
                    "spark.executor.cores=4",
                    "--conf",
                    "spark.hadoop.fs.s3a.secret.key=a=b",
                    "--conf=spark.hadoop.fs.s3a.Access-Key=it's mine",
                    "--conf",
                    "spark.driver.extraJavaOptions=-DtrustStorePassword=open",
                    "--text",
                    "password=story.txt")))
        .isEqualTo(
            "kvasir eval --on yarn --conf spark.executor.cores=4"
                + " --conf spark.hadoop.fs.s3a.secret.key=..."
                + " --conf=spark.hadoop.fs.s3a.Access-Key=..."
                + " --conf spark.driver.extraJavaOptions=... --text password=story.txt");
  }
}
