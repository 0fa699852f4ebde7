package dev.kvasir.lab.claim;

/** Judges a claim by the measurements of its experiment. */
@FunctionalInterface
interface Check {
  Finding judge(Measurements measurements);
}
