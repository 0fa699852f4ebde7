package dev.kvasir.cuda.engine;

/** A sequence with pages on one card or on several. */
interface DeviceSequence {
  /** Returns the cache of the layers on a card. */
  DeviceCache part(int card);
}
