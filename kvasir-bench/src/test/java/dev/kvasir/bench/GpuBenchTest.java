package dev.kvasir.bench;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cuda.driver.Device;
import org.junit.jupiter.api.Test;

class GpuBenchTest {
  @Test
  void shapesThatMakeNoSenseAreRefused() {
    Refusal.of(GpuBench::new, "--shapes", "8x32768")
        .says("'8x32768'", "expected BATCHxTOKENS:QUERY_HEADS/KV_HEADSxCHANNELS");
    Refusal.of(GpuBench::new, "--shapes", "1x100:8/2x64")
        .says("1 sequences of 100 tokens", "a multiple of 64");
    Refusal.of(GpuBench::new, "--shapes", "1x128:9/2x64").says("9 query heads on 2 KV heads");
    Refusal.of(GpuBench::new, "--steps", "32x8192:70b")
        .says("'32x8192:70b'", "expected BATCHxTOKENS:8b");
    Refusal.of(GpuBench::new, "--steps", "1x512:8b-q4_j")
        .says("'1x512:8b-q4_j'", "expected a type of weights such as Q4_K, found Q4_J");
    Refusal.of(GpuBench::new, "--draw", "card.svg").says("--draw needs figures", "--json FILE");
    Refusal.of(GpuBench::new, "--rounds", "0").says("--rounds is 0; expected at least 1");
  }

  @Test
  void withoutADeviceOneSentenceSaysSo() {
    assumeTrue(Device.unavailableReason().isPresent(), "there is a device");
    Refusal.of(GpuBench::new).says(Device.unavailableReason().orElseThrow());
  }
}
