/** Trains the codebooks of CommVQ on the keys and values that a model makes of a text. */
package dev.kvasir.lab.codebook;
