/** Finds the thresholds of a method on a model and a text, for its profile. */
package dev.kvasir.lab.tune;
