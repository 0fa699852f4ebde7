package dev.kvasir.lab.claim;

/** Judges a claim by the figures that its trial left. */
@FunctionalInterface
interface Check {
  Finding judge(Measurements measurements);
}
