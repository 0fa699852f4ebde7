/**
 * Tunes the thresholds of MixKVQ for a model. {@link dev.kvasir.lab.tune.ThresholdTuning} searches
 * thresholds over a {@link dev.kvasir.lab.tune.SalienceSurvey} and returns a {@link
 * dev.kvasir.lab.tune.TuningResult}. {@link dev.kvasir.lab.tune.TuneJournal} makes the search
 * resumable. The package uses the lab packages eval, search, text and work, and the cache, codec
 * and kernel packages of kvasir-core.
 */
package dev.kvasir.lab.tune;
