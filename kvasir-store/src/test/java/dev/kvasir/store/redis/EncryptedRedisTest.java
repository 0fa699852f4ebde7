package dev.kvasir.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

class EncryptedRedisTest {
  private static final SampleBlob BLOCK = SampleBlob.block(7, 3_000_000);
  private static final char[] OPEN = "public".toCharArray();

  @TempDir private Path folder;
  private final List<String> reports = new ArrayList<>();

  /** Creates a certificate for localhost, but not for its IP address. */
  private void makeCertificate() throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/openssl")), "openssl is not installed in /usr/bin");
    Process openssl =
        new ProcessBuilder(
                ("/usr/bin/openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem"
                        + " -out certificate.pem -subj /CN=localhost"
                        + " -addext subjectAltName=DNS:localhost")
                    .split(" "))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    openssl.getInputStream().readAllBytes();
    assertThat(openssl.waitFor()).isZero();
  }

  private SslOptions trustingIt() throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, OPEN);
    try (InputStream in = Files.newInputStream(folder.resolve("certificate.pem"))) {
      trusted.setCertificateEntry(
          "server", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    Path file = folder.resolve("trusted.p12");
    try (OutputStream out = Files.newOutputStream(file)) {
      trusted.store(out, OPEN);
    }
    return SslOptions.builder()
        .sslVerifyMode(SslVerifyMode.FULL)
        .trustStoreType("PKCS12")
        .truststore(file.toFile(), OPEN)
        .build();
  }

  private RedisServer start(int port) throws Exception {
    return RedisServer.start(
        folder,
        "--tls-port",
        "" + port,
        "--tls-cert-file",
        folder.resolve("certificate.pem").toString(),
        "--tls-key-file",
        folder.resolve("key.pem").toString(),
        "--tls-auth-clients",
        "no");
  }

  @Test
  void aServerNeedsATrustedCertificateForItsHost() throws Exception {
    makeCertificate();
    int port = RedisServer.freePort();
    RedisAddress named = RedisAddress.parse("rediss://localhost:" + port);
    RedisAddress numbered = RedisAddress.parse("rediss://127.0.0.1:" + port);
    try (RedisServer server = start(port);
        RedisTier good = new RedisTier(named, trustingIt(), TestTimeouts.PATIENT, reports::add);
        RedisTier elsewhere =
            new RedisTier(numbered, trustingIt(), TestTimeouts.PATIENT, reports::add);
        RedisTier unknown =
            new RedisTier(named, RedisTier.TRUSTED, TestTimeouts.PATIENT, reports::add)) {
      assertThat(server.port()).isNotEqualTo(port);
      assertThat(good.write(BLOCK.name(), BLOCK.bytes())).isTrue();
      assertThat(bytes(good)).isEqualTo(BLOCK.bytes());
      assertThat(reports).isEmpty();
      assertThat(bytes(elsewhere)).isNull();
      assertThat(bytes(unknown)).isNull();
      assertThat(reports)
          .hasSize(2)
          .allMatch(one -> one.endsWith(": its certificate or its TLS is not to be trusted"));
    }
  }

  private static byte[] bytes(RedisTier tier) {
    return tier.read(List.of(BLOCK.name()), Deadline.in(Duration.ofSeconds(30))).get(BLOCK.name());
  }
}
