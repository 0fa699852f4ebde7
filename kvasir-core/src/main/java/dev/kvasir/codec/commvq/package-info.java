/**
 * CommVQ: vectors as sums of rows from trained codebooks, which for keys are made so that they
 * commute with the rotation of positions.
 */
package dev.kvasir.codec.commvq;
